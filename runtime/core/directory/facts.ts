/**
 * Facts about a person other than name and attributes: the manager, and the person's names at an identity
 * provider.
 */
import { sql } from 'drizzle-orm'
import type { User } from '../../contract/models/person.ts'
import type { Db } from '../../database/database.ts'
import { type Principal, requirePermission } from '../kernel/identity/principal.ts'
import { findUser, toUser, usersOf } from './users.ts'

type UserFacts = {
  manager: User | null
  /** Null for a person who was not pushed by a provider. */
  pushed: { userName: string; externalId: string | null } | null
}

/**
 * Returns the facts about a user.
 *
 * @throws CoreError `forbidden`, `not_found`
 */
export async function factsOfUser(db: Db, principal: Principal, id: string): Promise<UserFacts> {
  if (id !== principal.userId) requirePermission(principal, 'users.read')
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
