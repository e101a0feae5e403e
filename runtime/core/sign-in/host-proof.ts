/** Proves to a command that this host knows a token, before the command sends it. */
import { and, desc, eq, isNull } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { apiTokens } from '../../database/schema/people.ts'
import { type HostChallenge, hostProof } from '../../secrets/key-derivation.ts'

/** Most tokens of one beginning for which it is proved: random ones share none. */
const MAX_PROOFS = 10

/** A proof for each token that begins so; none where the host knows none. */
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
