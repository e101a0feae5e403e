/** What people do with their own API tokens: make them, look at them, revoke them. */
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

/** Most tokens of one user that work at the same time. */
const MAX_LIVE_TOKENS = CALLER_LIMITS.live_tokens.most
/** Most tokens that are listed: all that work, and the newest of the others. */
const MAX_LISTED = 200

type TokenRow = typeof apiTokens.$inferSelect

/** All there is to know of a token; its text is kept nowhere. */
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
  /** Null: until it is revoked. */
  expiresAt: Date | null
  /** Id of the form that asks for it. */
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

/** The actor's own tokens, those that work first, newest first; `total` counts also what is not listed. */
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
 * Makes a token for the actor. Its text is in the answer and nowhere else; null when the same form was
 * sent before: then that has made the token.
 *
 * @throws CoreError forbidden for who may only read, unauthenticated for who may not act any more, conflict for more tokens than
 *   one may have
 */
export async function createOwnToken(
  db: Db,
  hasher: TokenHasher,
  actor: Caller,
  wish: TokenWish,
): Promise<{ id: string; token: string } | null> {
  demandWrite(actor)
  const { userId, domainId } = actor
  const text = newTokenText()
  return db.transaction(async (tx) => {
    // One at a time and user, too: else many at once would all find room for one more.
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
        `You have ${MAX_LIVE_TOKENS} tokens that work; revoke one that you no longer need first`,
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
 * Revokes a token of the actor's own; one that is revoked already stays as it is.
 *
 * @throws CoreError forbidden for who may only read, not_found for what is not the actor's
 */
export async function revokeOwnToken(db: Db, actor: Caller, id: string): Promise<void> {
  demandWrite(actor)
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

function demandWrite({ readOnly }: Caller): void {
  if (readOnly) throw forbidden('You signed in with a token that may only read')
}
