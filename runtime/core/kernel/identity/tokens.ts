/** API tokens: creation, storage, and the time of their last use. */
import { and, eq, isNull, not, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { apiTokens } from '../../../database/schema/people.ts'
import { hostProofKey, randomSecret } from '../../../secrets/key-derivation.ts'
import type { Principal } from './principal.ts'
import { TOKEN_PREFIX, type TokenHasher } from './token-hasher.ts'
import { USED_LATELY } from './used-lately.ts'

/** PostgreSQL channel on which hosts are notified that a token has ended. */
export const TOKENS_CHANNEL = 'keyway_tokens'

type NewToken = {
  userId: string
  domainId: string
  name: string
  description: string
  readOnly: boolean
  /** True for the operator's token, which only the start of a host creates. */
  operator?: boolean
  expiresAt: Date | null
  /** Id of the form that creates the token, if any. Each form of a user creates at most one token. */
  formId?: string
}

/** Creates a token. Its text is returned and stored nowhere. */
export async function createToken(
  db: Db,
  hasher: TokenHasher,
  token: NewToken,
): Promise<{ id: string; token: string }> {
  const text = newTokenText()
  const id = await keepToken(db, hasher, token, text)
  if (id === null) throw new Error('a token was made with this form before')
  return { id, token: text }
}

/** Returns the text of a new random token. */
export const newTokenText = (): string => randomSecret(TOKEN_PREFIX)

/** Stores a token's hash and attributes. Returns its id, or null if the form has already created a token. */
export async function keepToken(
  db: Db,
  hasher: TokenHasher,
  token: NewToken,
  text: string,
): Promise<string | null> {
  const [row] = await db
    .insert(apiTokens)
    .values({
      ...token,
      prefix: hasher.prefixOf(text),
      hash: hasher.hash(text),
      keyId: hasher.keyId,
      // No proof key for an operator's token: a person chose its text, so a key derived from it could be
      // guessed.
      proofKey: token.operator ? null : hostProofKey(text),
    })
    .onConflictDoNothing({ target: [apiTokens.userId, apiTokens.formId] })
    .returning({ id: apiTokens.id })
  return row?.id ?? null
}

/** Stores that a token was used, at most once a minute, so that most requests write nothing. */
export async function noteUse(
  db: Db,
  { tokenId, usedLately }: Pick<Principal, 'tokenId' | 'usedLately'>,
): Promise<void> {
  if (usedLately) return
  // The condition lets only one of several simultaneous requests write.
  await db
    .update(apiTokens)
    .set({ lastUsedAt: sql`now()` })
    .where(and(eq(apiTokens.id, tokenId), not(USED_LATELY)))
}

/**
 * Revokes a valid token of a user, and notifies the other hosts when the transaction commits.
 *
 * @returns the token's name, or null if it had ended or is not the user's
 */
export async function endToken(
  tx: Db,
  id: string,
  { userId, domainId }: Pick<Principal, 'userId' | 'domainId'>,
): Promise<string | null> {
  const own = and(eq(apiTokens.userId, userId), eq(apiTokens.domainId, domainId))
  const [ended] = await tx
    .update(apiTokens)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(apiTokens.id, id), own, isNull(apiTokens.revokedAt)))
    .returning({ name: apiTokens.name })
  if (!ended) return null
  await tx.execute(sql`select pg_notify(${TOKENS_CHANNEL}, ${id})`)
  return ended.name
}

/** Returns a token as a target of the activity log. */
export const tokenTarget = (id: string, name: string) => ({ target_type: 'API token', name, id })
