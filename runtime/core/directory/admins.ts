/** The admins of a domain. Without one who can sign in, the role could never be assigned again. */
import { and, eq } from 'drizzle-orm'
import { conflict } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { userRoles, users } from '../../database/schema/people.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'

/**
 * Reports whether these users are all admins who can sign in. Locks the roles of admins until the transaction
 * ends, so that two admins cannot remove each other.
 */
export async function areLastAdmins(
  tx: Db,
  domainId: string,
  losing: ReadonlySet<string>,
): Promise<boolean> {
  const isAdmin = and(eq(userRoles.domainId, domainId), eq(userRoles.role, 'Admin'))
  // Lock before reading, so that changes by other transactions up to then are seen.
  await tx.select().from(userRoles).where(isAdmin).for('update')
  const admins = await adminsOf(tx, domainId)
  return admins.length > 0 && admins.every(({ userId }) => losing.has(userId))
}

/** Refuses to remove all admins who can sign in. @throws CoreError `conflict` */
export async function requireRemainingAdmin(
  ...given: Parameters<typeof areLastAdmins>
): Promise<void> {
  if (await areLastAdmins(...given))
    throw conflict('This is the last Admin; give the role to another user first')
}

/** Query for all admins who can sign in, which may be used as a subquery. */
export const adminsOf = (db: Db, domainId: string) =>
  db
    .select({ userId: userRoles.userId })
    .from(userRoles)
    .innerJoin(users, eq(users.id, userRoles.userId))
    .where(
      and(eq(userRoles.domainId, domainId), eq(userRoles.role, 'Admin'), usersWhoMayAct(users)),
    )

/** Returns the ids of all admins who can sign in. */
export const adminIds = async (db: Db, domainId: string): Promise<string[]> =>
  (await adminsOf(db, domainId)).map(({ userId }) => userId)
