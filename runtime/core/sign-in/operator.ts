/**
 * Authenticates operators: by any token of a user with the permission `operator`, or by the operator's own
 * token.
 */
import { eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apiTokens, users } from '../../database/schema/people.ts'
import type { Doer } from '../kernel/audit/activity.ts'
import {
  findToken,
  notAuthenticated,
  type Principal,
  principalOf,
  requirePermission,
} from '../kernel/identity/principal.ts'
import type { TokenHasher } from '../kernel/identity/token-hasher.ts'

/** An operator and their token. */
export type Operator = Doer & {
  tokenId: string
  readOnly: boolean
  /** Whether a use of the token was recorded within the last minute. */
  usedLately: boolean
}

/**
 * Returns the operator of a token. The operator's own token works even if its user was suspended or lost the
 * role, because the operator is the one who repairs that. Once it is revoked or replaced, it is treated like
 * any other token that has ended.
 *
 * @throws CoreError `unauthenticated`, `forbidden`
 */
export async function authenticateOperator(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<Operator> {
  const found = await findToken(db, hasher, token)
  if (found?.token.operator) {
    const { id: tokenId, userId, domainId, readOnly } = found.token
    return { tokenId, userId, domainId, readOnly, usedLately: found.usedLately }
  }
  const principal: Principal | null = found && principalOf(found)
  if (!principal) throw notAuthenticated()
  requirePermission(principal, 'operator')
  return principal
}

/**
 * Returns the owner of a token that was accepted earlier, even if it has ended since, so that actions with it
 * are attributed to them. Null if the database no longer has the token.
 */
export async function ownerOfToken(
  db: Db,
  hasher: TokenHasher,
  token: string,
): Promise<Doer | null> {
  const rows = await db
    .select()
    .from(apiTokens)
    .where(eq(apiTokens.prefix, hasher.prefixOf(token)))
  const found = rows.find(({ hash }) => hasher.matches(token, hash))
  return found ? { userId: found.userId, domainId: found.domainId } : null
}

/** Returns the email address of an operator, which names them in the history. */
export async function emailOfDoer(db: Db, { userId }: Doer): Promise<string> {
  const [user] = await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
  return user?.email ?? ''
}
