/** Rehashing of a token with the newest secret. The token's text is seen only when it is used. */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'
import type { apiTokens } from '../../../database/schema/people.ts'
import type { scimTokens } from '../../../database/schema/scim.ts'
import type { sessions } from '../../../database/schema/sessions.ts'
import { isDatabaseUnavailable } from '../../../database/unavailable.ts'
import { mayRenew } from '../deployment/deployment.ts'
import type { TokenHasher } from './token-hasher.ts'

type Known = { id: string; hash: Buffer; keyId: string | null }

/**
 * Rehashes a recognised text with the newest secret, so that older secrets can be dropped. It is safe on
 * several hosts at once: a row is changed only if it is still as it was read.
 */
export async function renewHash(
  db: Db,
  hasher: TokenHasher,
  table: typeof apiTokens | typeof scimTokens | typeof sessions,
  { id, hash, keyId }: Known,
  text: string,
): Promise<void> {
  if (keyId === hasher.keyId) return
  const known: SQL | undefined = and(
    eq(table.id, id),
    eq(table.hash, hash),
    sql`${table.keyId} is distinct from ${hasher.keyId}`,
    mayRenew(hasher.keyId),
  )
  try {
    await db
      .update(table)
      .set({ hash: hasher.hash(text), keyId: hasher.keyId })
      .where(known)
  } catch (error) {
    // The caller is authenticated and may go on. The next use retries, and the count of old hashes still has
    // this one.
    if (!isDatabaseUnavailable(error)) throw error
  }
}
