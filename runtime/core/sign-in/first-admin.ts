/**
 * The first admin, who owns the operator's token. The first start creates the user and its role, and later
 * starts do not.
 */
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { userRoles, users } from '../../database/schema/people.ts'
import { userTarget } from '../directory/users.ts'
import { recordActivity } from '../kernel/audit/activity.ts'

/** Email address of the user who owns the operator's token. */
export const FIRST_ADMIN = 'admin@localhost'

/**
 * Returns the id of the first admin. Creates the user if there is none. A role that was removed later is not
 * restored. The caller holds the lock, so that this runs once at a time.
 */
export async function ensureFirstAdmin(tx: Db, domainId: string): Promise<string> {
  const [made] = await tx
    .insert(users)
    .values({ domainId, email: FIRST_ADMIN, givenName: 'Admin' })
    .onConflictDoNothing()
    .returning()
  if (made) {
    const role = 'Admin'
    await tx.insert(userRoles).values({ domainId, userId: made.id, role })
    const host = { domainId, userId: null }
    await recordActivity(tx, host, 'USER_ROLE_ADDED', [userTarget(made)], { role })
    return made.id
  }
  const [known] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.domainId, domainId), eq(users.email, FIRST_ADMIN)))
  if (!known) throw new Error('the first admin could not be created')
  return known.id
}
