/** What is known of a person beside their name: manager, groups, what an identity provider calls them. */
import { sql } from 'drizzle-orm'
import type { User } from '../../contract/models/person.ts'
import type { Db } from '../../database/database.ts'
import { demand, type Principal } from '../kernel/identity/principal.ts'
import { findUser, toUser, usersOf } from './users.ts'

/** Groups that are named; of more their number is told. */
const MAX_GROUPS = 50

type NamedGroup = {
  name: string
  /** The app that the group is of; null for one of the company. */
  app: string | null
}

type UserFacts = {
  manager: User | null
  /** The first by name; empty for who may not read groups. */
  groups: NamedGroup[]
  groupCount: number
  /** Null for who was not pushed. */
  pushed: { userName: string; externalId: string | null } | null
}

/** @throws CoreError forbidden, not_found */
export async function factsOfUser(db: Db, principal: Principal, id: string): Promise<UserFacts> {
  if (id !== principal.userId) demand(principal, 'users.read')
  const { id: userId, managerId } = await findUser(db, principal, id)
  const [manager] = managerId === null ? [] : await usersOf(db, [managerId])
  const groups = principal.permissions.has('groups.read') ? await groupsOf(db, userId) : []
  const { rows } = await db.execute<{ user_name: string; external_id: string | null }>(sql`
    select user_name, external_id from scim_users where user_id = ${userId} and deleted_at is null`)
  const [pushed] = rows
  return {
    manager: manager ? toUser(manager) : null,
    groups: groups.map(({ name, app }) => ({ name, app })),
    groupCount: Number(groups[0]?.total ?? 0),
    pushed: pushed ? { userName: pushed.user_name, externalId: pushed.external_id } : null,
  }
}

async function groupsOf(db: Db, userId: string): Promise<(NamedGroup & { total: string })[]> {
  const { rows } = await db.execute<NamedGroup & { total: string }>(sql`
    select g.name, a.name as app, count(*) over () as total
    from group_members m join groups g on g.id = m.group_id left join apps a on a.id = g.app_id
    where m.user_id = ${userId} order by g.name, g.id limit ${MAX_GROUPS}`)
  return rows
}
