/** The first admin, who owns the operator's token: made with its role by the first start, and never again. */
import { and, eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { userRoles, users } from '../../database/schema/people.ts'
import { userTarget } from '../directory/users.ts'
import { recordActivity } from '../kernel/audit/activity.ts'

/** E-mail address of the user that owns the operator's token. */
export const FIRST_ADMIN = 'admin@localhost'

/**
 * The id of the first admin, who is made where there is none. A role that was taken away later stays so.
 * One at a time: the caller holds the lock.
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
  if (!known) throw new Error('the first admin could not be made')
  return known.id
}
