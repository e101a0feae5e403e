/** Who operates: any token of a user with the permission `operator`, and the operator's own. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apiTokens, users } from '../../database/schema/people.ts'
import type { Doer } from '../activity/activity.ts'
import { authenticate, demand, type Principal, type TokenHasher } from './principal.ts'

/**
 * The principal of a header that may operate.
 *
 * @throws CoreError 401, 403
 */
export async function authenticateOperator(
  db: Db,
  hasher: TokenHasher,
  header: string | undefined,
): Promise<Principal> {
  const principal = await authenticate(db, hasher, header)
  demand(principal, 'operator')
  return principal
}

/**
 * Whose the operator's token is. Its user is the first admin, also when that token was revoked for
 * the core interface or the user was suspended: the operator is the one who repairs that.
 */
export async function ownerOf(db: Db, hasher: TokenHasher, token: string): Promise<Doer> {
  const rows = await db
    .select()
    .from(apiTokens)
    .where(eq(apiTokens.prefix, hasher.prefixOf(token)))
  const row = rows.find(({ hash }) => hasher.matches(token, hash))
  if (!row) throw new Error('the operator’s token has no row; a start of the host makes it')
  return { userId: row.userId, domainId: row.domainId }
}

/** The e-mail address of who operates: what a history names them by. */
export async function emailOf(db: Db, { userId }: Doer): Promise<string> {
  const [user] = await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
  return user?.email ?? ''
}
