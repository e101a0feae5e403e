/** Hashing again, with the newest secret, a token: its text is seen only when it is used. */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { isAway } from '../../../database/away.ts'
import type { Db } from '../../../database/database.ts'
import type { apiTokens } from '../../../database/schema/people.ts'
import type { scimTokens } from '../../../database/schema/scim.ts'
import type { sessions } from '../../../database/schema/sessions.ts'
import { mayRenew } from '../deployment/deployment.ts'
import type { TokenHasher } from './token-hasher.ts'

type Known = { id: string; hash: Buffer; keyId: string | null }

/**
 * Keeps the hash of a text that was recognised under the newest secret, so that older ones can be dropped.
 * Safe on several hosts at once: only what still is as it was read is changed.
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
    // Who is known may go on: the next use does it, and the count of what is left says that it was not done.
    if (!isAway(error)) throw error
  }
}
