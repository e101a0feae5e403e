/**
 * The operator's token, which is shared by all hosts of a database. A new one ends the previous one, and a
 * token that has ended never works again.
 */
import { and, eq, isNull } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { lockUntilEnd } from '../../database/locks.ts'
import { apiTokens } from '../../database/schema/people.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { TokenHasher } from '../kernel/identity/token-hasher.ts'
import { endToken, keepToken, tokenTarget } from '../kernel/identity/tokens.ts'
import { ensureFirstAdmin } from './first-admin.ts'

/** Token with which a host starts. */
type OwnToken = {
  text: string
  /**
   * Whether this host generated the token, on a database that other hosts may share. Such a token does not
   * replace another, because each host generates one.
   */
  yields: boolean
}

/**
 * `good`: the token works. `ended`: it was revoked or replaced. `another`: it yielded to the token of another
 * host.
 */
export type TokenStanding = 'good' | 'ended' | 'another'

type TokenRow = typeof apiTokens.$inferSelect

/** Makes a host's token the operator's token. Called at each start; safe for several hosts at once. */
export async function takeOperatorToken(
  db: Db,
  hasher: TokenHasher,
  domainId: string,
  { text, yields }: OwnToken,
): Promise<TokenStanding> {
  return db.transaction(async (tx) => {
    await tx.execute(lockUntilEnd('making the first admin'))
    const adminId = await ensureFirstAdmin(tx, domainId)
    const mine = await rowOf(tx, hasher, text)
    if (mine?.revokedAt) {
      await keepCurrent(tx, hasher, mine, text)
      return 'ended'
    }
    const others = (await liveOnes(tx, domainId)).filter(({ id }) => id !== mine?.id)
    if (!mine && yields && others.length > 0) return 'another'
    for (const other of others) await replace(tx, other)
    if (!mine) await make(tx, hasher, { domainId, userId: adminId }, text)
    else await keepCurrent(tx, hasher, mine, text)
    return 'good'
  })
}

/** Returns the current state of a host's token. */
export async function tokenStanding(
  db: Db,
  hasher: TokenHasher,
  text: string,
): Promise<TokenStanding> {
  const row = await rowOf(db, hasher, text)
  if (!row) return 'another'
  return row.operator && row.revokedAt === null ? 'good' : 'ended'
}

async function rowOf(db: Db, hasher: TokenHasher, text: string): Promise<TokenRow | undefined> {
  const rows = await db
    .select()
    .from(apiTokens)
    .where(eq(apiTokens.prefix, hasher.prefixOf(text)))
  return rows.find(({ hash }) => hasher.matches(text, hash))
}

const liveOnes = (tx: Db, domainId: string): Promise<TokenRow[]> =>
  tx
    .select()
    .from(apiTokens)
    .where(
      and(
        eq(apiTokens.domainId, domainId),
        eq(apiTokens.operator, true),
        isNull(apiTokens.revokedAt),
      ),
    )

async function replace(tx: Db, { id, userId, domainId, name }: TokenRow): Promise<void> {
  await endToken(tx, id, { userId, domainId })
  const target = tokenTarget(id, name)
  const metadata = { operator: true, replaced: true }
  await recordActivity(tx, { domainId, userId: null }, 'API_TOKEN_REVOKED', [target], metadata)
}

async function make(
  tx: Db,
  hasher: TokenHasher,
  owner: { domainId: string; userId: string },
  text: string,
): Promise<void> {
  const name = 'operator'
  const [readOnly, expiresAt] = [false, null]
  const token = { name, description: 'KEYWAY_ADMIN_TOKEN', readOnly, expiresAt, operator: true }
  const id = (await keepToken(tx, hasher, { ...owner, ...token }, text)) ?? ''
  const host = { domainId: owner.domainId, userId: null }
  const metadata = { operator: true, read_only: readOnly, expires_at: expiresAt }
  await recordActivity(tx, host, 'API_TOKEN_CREATED', [tokenTarget(id, name)], metadata)
}

/**
 * Marks a token as the operator's and stores its hash under the newest secret. It is thus still recognised,
 * even after it has ended, when the previous secret is dropped.
 */
async function keepCurrent(
  tx: Db,
  hasher: TokenHasher,
  { id, domainId, name, hash, keyId, operator }: TokenRow,
  text: string,
): Promise<void> {
  const current = { hash: hasher.hash(text), keyId: hasher.keyId }
  if (operator && current.hash.equals(hash) && current.keyId === keyId) return
  await tx
    .update(apiTokens)
    .set({ ...current, operator: true })
    .where(eq(apiTokens.id, id))
  if (operator) return
  const [host, target] = [{ domainId, userId: null }, tokenTarget(id, name)]
  await recordActivity(tx, host, 'API_TOKEN_MADE_OPERATORS', [target], {})
}
