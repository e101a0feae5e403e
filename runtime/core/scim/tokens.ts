/** Tokens of identity providers, which an admin creates, lists and revokes. */
import { and, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { conflict, invalidAt, notFound } from '../../contract/errors/problem.ts'
import type { ScimTokenInput } from '../../contract/models/scim.ts'
import { parseDatetime } from '../../contract/schema/datetime.ts'
import { type Db, written } from '../../database/database.ts'
import { scimTokens } from '../../database/schema/scim.ts'
import { randomSecret } from '../../secrets/key-derivation.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { isId } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { requireBelowLimit } from '../kernel/count-limit.ts'
import { hasRow } from '../kernel/has-row.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { type PageQuery, selectPage } from '../kernel/list/page.ts'
import { SCIM_PREFIX } from './caller.ts'

type TokenRow = typeof scimTokens.$inferSelect

export const listScimTokens = (db: Db, { domainId }: Principal, query: PageQuery) => {
  const where = eq(scimTokens.domainId, domainId)
  const order = [desc(scimTokens.createdAt), desc(scimTokens.id)]
  return selectPage(db, scimTokens, { where, order }, query, (rows) => rows.map(toToken))
}

/**
 * Creates a token. Its text is in the response and is not stored.
 *
 * @throws CoreError `conflict` if there are too many, `invalid` if the expiry is in the past
 */
export async function createScimToken(
  db: Db,
  principal: Principal,
  body: ScimTokenInput,
  { now, hasher }: Pick<CoreContext, 'now' | 'hasher'>,
) {
  const { domainId, userId } = principal
  const text = randomSecret(SCIM_PREFIX)
  const row = await db.transaction(async (tx) => {
    const expiresAt = endOf(body, await now(tx))
    await requireBelowLimit(
      tx,
      { limit: 'live_scim_tokens', owner: domainId },
      () => tx.$count(scimTokens, and(eq(scimTokens.domainId, domainId), isLive)),
      (most) => conflict(`There are already ${most} valid SCIM tokens; revoke one first`),
    )
    const [made] = await tx
      .insert(scimTokens)
      .values({
        ...{ domainId, name: body.name, createdById: userId, expiresAt },
        ...{ prefix: hasher.prefixOf(text), hash: hasher.hash(text), keyId: hasher.keyId },
      })
      .returning()
    const token = written(made)
    await recordActivity(tx, principal, 'SCIM_TOKEN_CREATED', [scimTokenTarget(token)], {
      expires_at: expiresAt?.toISOString() ?? null,
    })
    return token
  })
  return { ...toToken(row), token: text }
}

const isLive = and(
  isNull(scimTokens.revokedAt),
  or(isNull(scimTokens.expiresAt), gt(scimTokens.expiresAt, sql`now()`)),
)

function endOf({ expires_at: given }: ScimTokenInput, now: Date): Date | null {
  if (given === undefined) return null
  const at = parseDatetime(given)
  if (at !== null && at > now) return at
  const msg = 'Value error, this must be in the future'
  throw invalidAt(['body', 'expires_at'], msg)
}

/**
 * Revokes a token at once. Does nothing if it is already revoked.
 *
 * @throws CoreError `not_found`
 */
export async function revokeScimToken(db: Db, principal: Principal, id: string): Promise<null> {
  if (!isId(id)) throw notFound('SCIM token')
  const own = and(eq(scimTokens.id, id), eq(scimTokens.domainId, principal.domainId))
  await db.transaction(async (tx) => {
    const [ended] = await tx
      .update(scimTokens)
      .set({ revokedAt: sql`now()` })
      .where(and(own, isNull(scimTokens.revokedAt)))
      .returning()
    if (ended) {
      await recordActivity(tx, principal, 'SCIM_TOKEN_REVOKED', [scimTokenTarget(ended)], {})
      return
    }
    if (!(await hasRow(tx, scimTokens, own))) throw notFound('SCIM token')
  })
  return null
}

/** Returns a token as a target in the activity log. */
export const scimTokenTarget = ({ id, name }: Pick<TokenRow, 'id' | 'name'>) => ({
  target_type: 'SCIM token',
  name,
  id,
})

const toToken = (row: TokenRow) => ({
  id: row.id,
  name: row.name,
  prefix: row.prefix,
  created_at: row.createdAt.toISOString(),
  last_used_at: row.lastUsedAt?.toISOString() ?? null,
  expires_at: row.expiresAt?.toISOString() ?? null,
  revoked_at: row.revokedAt?.toISOString() ?? null,
})
