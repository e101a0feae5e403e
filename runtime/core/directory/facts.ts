/** What is known of a person beside name and attributes: the manager, and what an identity provider calls them. */
import { sql } from 'drizzle-orm'
import type { User } from '../../contract/models/person.ts'
import type { Db } from '../../database/database.ts'
import { demand, type Principal } from '../kernel/identity/principal.ts'
import { findUser, toUser, usersOf } from './users.ts'

type UserFacts = {
  manager: User | null
  /** Null for who was not pushed. */
  pushed: { userName: string; externalId: string | null } | null
}

/** @throws CoreError forbidden, not_found */
export async function factsOfUser(db: Db, principal: Principal, id: string): Promise<UserFacts> {
  if (id !== principal.userId) demand(principal, 'users.read')
  const { id: userId, managerId } = await findUser(db, principal, id)
  const [manager] = managerId === null ? [] : await usersOf(db, [managerId])
  const { rows } = await db.execute<{ user_name: string; external_id: string | null }>(sql`
    select user_name, external_id from scim_users where user_id = ${userId} and deleted_at is null`)
  const [pushed] = rows
  return {
    manager: manager ? toUser(manager) : null,
    pushed: pushed ? { userName: pushed.user_name, externalId: pushed.external_id } : null,
  }
}
