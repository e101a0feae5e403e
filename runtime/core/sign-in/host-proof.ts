/** Proves to a command that this host knows a token, before the command sends it. */
import { and, desc, eq, isNull } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apiTokens } from '../../database/schema/people.ts'
import { type HostChallenge, hostProof } from '../../secrets/key-derivation.ts'

/** Maximum number of tokens with the same prefix that are proved. Random tokens do not share one. */
const MAX_PROOFS = 10

/** Returns a proof for each token with the prefix. Empty if the host knows none. */
export async function provedTokens(
  db: Db,
  prefix: string,
  challenge: HostChallenge,
): Promise<string[]> {
  const rows = await db
    .select({ key: apiTokens.proofKey })
    .from(apiTokens)
    .where(and(eq(apiTokens.prefix, prefix), isNull(apiTokens.revokedAt)))
    .orderBy(desc(apiTokens.createdAt))
    .limit(MAX_PROOFS)
  return rows.flatMap(({ key }) => (key === null ? [] : [hostProof(key, challenge)]))
}
