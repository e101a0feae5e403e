/** Creating, listing and revoking one's own API tokens. */
import { and, count, desc, eq, sql } from 'drizzle-orm'
import { conflict, forbidden, notFound } from '../../contract/errors/problem.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import type { Db } from '../../database/database.ts'
import { apiTokens } from '../../database/schema/people.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { isId } from '../kernel/by-id.ts'
import { hasRow } from '../kernel/has-row.ts'
import { type Caller, lockUser, mayAct, notAuthenticated } from '../kernel/identity/principal.ts'
import type { TokenHasher } from '../kernel/identity/token-hasher.ts'
import { endToken, keepToken, newTokenText, tokenTarget } from '../kernel/identity/tokens.ts'

/** Maximum number of valid tokens of one user. */
const MAX_LIVE_TOKENS = CALLER_LIMITS.live_tokens.most
/** Maximum number of tokens that are listed: all valid ones, and the newest of the others. */
const MAX_LISTED = 200

type TokenRow = typeof apiTokens.$inferSelect

/** Stored data of a token. Its text is not stored. */
export type OwnToken = Pick<
  TokenRow,
  | 'id'
  | 'name'
  | 'description'
  | 'prefix'
  | 'readOnly'
  | 'createdAt'
  | 'lastUsedAt'
  | 'expiresAt'
  | 'revokedAt'
>

export type TokenWish = {
  name: string
  description: string
  readOnly: boolean
  /** Null if the token is valid until it is revoked. */
  expiresAt: Date | null
  /** Id of the form that was submitted. */
  formId: string
}

const SHOWN = {
  id: apiTokens.id,
  name: apiTokens.name,
  description: apiTokens.description,
  prefix: apiTokens.prefix,
  readOnly: apiTokens.readOnly,
  createdAt: apiTokens.createdAt,
  lastUsedAt: apiTokens.lastUsedAt,
  expiresAt: apiTokens.expiresAt,
  revokedAt: apiTokens.revokedAt,
}

const ownedBy = ({ userId, domainId }: Caller) =>
  and(eq(apiTokens.userId, userId), eq(apiTokens.domainId, domainId))

const isLive = sql<boolean>`(${apiTokens.revokedAt} is null and (${apiTokens.expiresAt} is null or ${apiTokens.expiresAt} > now()))`

/**
 * Lists the actor's own tokens: valid ones first, then by age, newest first. `total` also counts tokens that
 * are not listed.
 */
export async function listOwnTokens(
  db: Db,
  actor: Caller,
): Promise<{ items: OwnToken[]; total: number }> {
  const items = await db
    .select(SHOWN)
    .from(apiTokens)
    .where(ownedBy(actor))
    .orderBy(desc(isLive), desc(apiTokens.createdAt), desc(apiTokens.id))
    .limit(MAX_LISTED)
  const [found] = await db.select({ n: count() }).from(apiTokens).where(ownedBy(actor))
  return { items, total: found?.n ?? 0 }
}

/**
 * Creates a token for the actor. Its text is in the result and is not stored. Null if the same form was
 * submitted before, which created the token.
 *
 * @throws CoreError `forbidden` if the caller may only read, `unauthenticated` if they may no longer act,
 *   `conflict` if they have too many tokens
 */
export async function createOwnToken(
  db: Db,
  hasher: TokenHasher,
  actor: Caller,
  wish: TokenWish,
): Promise<{ id: string; token: string } | null> {
  requireWrite(actor)
  const { userId, domainId } = actor
  const text = newTokenText()
  return db.transaction(async (tx) => {
    // One at a time per user. Otherwise concurrent calls could exceed the limit.
    const user = await lockUser(tx, userId)
    if (!user || !mayAct(user.status)) throw notAuthenticated()
    const id = await keepToken(tx, hasher, { userId, domainId, ...wish }, text)
    if (id === null) return null
    const [live] = await tx
      .select({ n: count() })
      .from(apiTokens)
      .where(and(ownedBy(actor), isLive))
    if ((live?.n ?? 0) > MAX_LIVE_TOKENS) {
      throw conflict(
        `You already have ${MAX_LIVE_TOKENS} valid tokens; revoke one that you no longer need`,
      )
    }
    await recordActivity(tx, actor, 'API_TOKEN_CREATED', [tokenTarget(id, wish.name)], {
      read_only: wish.readOnly,
      expires_at: wish.expiresAt?.toISOString() ?? null,
    })
    return { id, token: text }
  })
}

/**
 * Revokes one of the actor's own tokens. Does nothing if it is already revoked.
 *
 * @throws CoreError `forbidden` if the caller may only read, `not_found` if it is not the actor's token
 */
export async function revokeOwnToken(db: Db, actor: Caller, id: string): Promise<void> {
  requireWrite(actor)
  if (!isId(id)) throw notFound('Token')
  const own = and(ownedBy(actor), eq(apiTokens.id, id))
  await db.transaction(async (tx) => {
    const name = await endToken(tx, id, actor)
    if (name !== null) {
      await recordActivity(tx, actor, 'API_TOKEN_REVOKED', [tokenTarget(id, name)], {})
      return
    }
    if (!(await hasRow(tx, apiTokens, own))) throw notFound('Token')
  })
}

function requireWrite({ readOnly }: Caller): void {
  if (readOnly) throw forbidden('You signed in with a read-only token')
}
