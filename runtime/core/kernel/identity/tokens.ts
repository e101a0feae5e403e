/** API tokens: how they are made and kept, and when they were used. */
import { and, eq, isNull, not, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import { apiTokens } from '../../../database/schema/people.ts'
import { hostProofKey, randomSecret } from '../../../secrets/key-derivation.ts'
import type { Principal } from './principal.ts'
import { TOKEN_PREFIX, type TokenHasher } from './token-hasher.ts'
import { USED_LATELY } from './used-lately.ts'

/** The channel on which hosts hear that a token has ended. */
export const TOKENS_CHANNEL = 'keyway_tokens'

type NewToken = {
  userId: string
  domainId: string
  name: string
  description: string
  readOnly: boolean
  /** Whether it is the operator's; only a start of a host makes such. */
  operator?: boolean
  expiresAt: Date | null
  /** The form that it is made with, if it is; of one user's form only one token is ever made. */
  formId?: string
}

/** Makes a token; its text is in the answer and nowhere else. */
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

export const newTokenText = (): string => randomSecret(TOKEN_PREFIX)

/** Keeps what there is to keep of a token; null when one was made with the same form before. */
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
      // Not from a text that a person chose: what is made from it could be guessed.
      proofKey: token.operator ? null : hostProofKey(text),
    })
    .onConflictDoNothing({ target: [apiTokens.userId, apiTokens.formId] })
    .returning({ id: apiTokens.id })
  return row?.id ?? null
}

/** Notes that a token was used, at most once a minute: most requests write nothing. */
export async function noteUse(
  db: Db,
  { tokenId, usedLately }: Pick<Principal, 'tokenId' | 'usedLately'>,
): Promise<void> {
  if (usedLately) return
  // Of requests that come together one writes.
  await db
    .update(apiTokens)
    .set({ lastUsedAt: sql`now()` })
    .where(and(eq(apiTokens.id, tokenId), not(USED_LATELY)))
}

/**
 * Ends a token of a user that still works, and tells the other hosts when the transaction ends.
 *
 * @returns Its name; null for one that had ended, or is none of the user's.
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

/** A token in the log. */
export const tokenTarget = (id: string, name: string) => ({ target_type: 'API token', name, id })
