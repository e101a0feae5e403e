/** Who operates: any token of a user with the permission `operator`, and the operator's own. */
import { eq } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apiTokens, users } from '../../database/schema/people.ts'
import type { Doer } from '../kernel/audit/activity.ts'
import {
  demand,
  findToken,
  notAuthenticated,
  type Principal,
  principalOf,
} from '../kernel/identity/principal.ts'
import type { TokenHasher } from '../kernel/identity/token-hasher.ts'

/** An operator, and their token. */
export type Operator = Doer & {
  tokenId: string
  readOnly: boolean
  /** Whether it is noted that the token was used within the last minute. */
  usedLately: boolean
}

/**
 * Who operates by a token. The operator's own counts whatever became of its user, who may have been
 * suspended or lost the role: the operator is the one who repairs that. Revoked or replaced, it is a token
 * like any other that has ended.
 *
 * @throws CoreError unauthenticated, forbidden
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
  demand(principal, 'operator')
  return principal
}

/**
 * The owner of a token that was let in, even if it has ended since: what was done with it stays theirs. Null if the
 * database no longer has the token.
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

/** The e-mail address of who operates: what a history names them by. */
export async function emailOfDoer(db: Db, { userId }: Doer): Promise<string> {
  const [user] = await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
  return user?.email ?? ''
}
