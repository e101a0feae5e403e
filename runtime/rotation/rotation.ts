/**
 * Progress of the change to the newest secret: what still needs an older one, and how to end tokens that do.
 */
import { and, desc, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Rotation, RotationNeeds } from '../contract/endpoints/rotation.ts'
import { PAGE_TOKEN_LIFETIME_MS } from '../contract/limits/page-token-lifetime.ts'
import { type Doer, recordActivity } from '../core/kernel/audit/activity.ts'
import {
  isLive,
  newestSecret,
  newestSecretOnlySince,
} from '../core/kernel/deployment/deployment.ts'
import { endToken, tokenTarget } from '../core/kernel/identity/tokens.ts'
import { scimTokenTarget } from '../core/scim/tokens.ts'
import type { Db } from '../database/database.ts'
import { nodes } from '../database/schema/lifecycle.ts'
import { apiTokens, users } from '../database/schema/people.ts'
import { scimTokens } from '../database/schema/scim.ts'
import { loginLinks, sessions } from '../database/schema/sessions.ts'
import { databaseTime } from '../database/transactions.ts'
import { SEALED_PLACES } from './sealed-places.ts'

/** Maximum number of tokens that are listed. */
const MAX_NAMED = 100
/** Number of tokens revoked in one transaction. */
const BATCH = 100

/** Condition on a valid token that was not hashed with the newest secret. */
const waits = (
  newest: string,
  table: typeof apiTokens | typeof scimTokens = apiTokens,
): SQL | undefined =>
  and(
    isNull(table.revokedAt),
    or(isNull(table.expiresAt), gt(table.expiresAt, sql`now()`)),
    sql`${table.keyId} is distinct from ${newest}`,
  )

/**
 * Returns the progress of the change.
 *
 * @param keyIds Ids of this host's secrets.
 */
export async function rotationOf(db: Db, keyIds: readonly string[]): Promise<Rotation> {
  const current = await newestSecret(db)
  if (!current) throw new Error('no host has started with a secret yet')
  const { keyId: newest, since } = current
  const needed = await neededBy(db, newest)
  const behind = await hostsBehind(db, newest)
  const aloneSince = await newestSecretOnlySince(db)
  const until = new Date((aloneSince ?? since).getTime() + PAGE_TOKEN_LIFETIME_MS)
  const isPast = until <= (await databaseTime(db))
  const nothing = Object.values(needed).every((count) => count === 0)
  return {
    newest,
    since: since.toISOString(),
    older: keyIds.filter((id) => id !== newest),
    needed,
    tokens: await waitingTokens(db, newest),
    page_tokens_until: isPast ? null : until.toISOString(),
    hosts_behind: behind,
    safe_to_drop: nothing && isPast && behind.length === 0,
  }
}

async function neededBy(db: Db, newest: string): Promise<RotationNeeds> {
  const older = (table: typeof sessions | typeof loginLinks) =>
    db.$count(
      table,
      and(gt(table.expiresAt, sql`now()`), sql`${table.keyId} is distinct from ${newest}`),
    )
  const sealed: Record<string, number> = {}
  for (const { table, column } of SEALED_PLACES) {
    const held = sql.identifier(column)
    const key = Buffer.from(newest, 'hex')
    const { rows } = await db.execute<{ n: number }>(sql`
      select count(*)::int as n from ${sql.identifier(table)}
      where ${held} is not null and substring(${held} from 1 for ${key.length}::int) <> ${key}::bytea`)
    sealed[table] = rows[0]?.n ?? 0
  }
  const { apps = 0, inline_webhooks = 0, probes = 0 } = sealed
  return {
    api_tokens: await db.$count(apiTokens, waits(newest)),
    scim_tokens: await db.$count(scimTokens, waits(newest, scimTokens)),
    sessions: await older(sessions),
    login_links: await older(loginLinks),
    apps,
    inline_webhooks,
    probes,
  }
}

async function waitingTokens(db: Db, newest: string): Promise<Rotation['tokens']> {
  const rows = await db
    .select({ token: apiTokens, user: users.email })
    .from(apiTokens)
    .innerJoin(users, eq(users.id, apiTokens.userId))
    .where(waits(newest))
    .orderBy(sql`${apiTokens.lastUsedAt} desc nulls last`, desc(apiTokens.createdAt), apiTokens.id)
    .limit(MAX_NAMED)
  return rows.map(({ token: { id, name, createdAt, lastUsedAt }, user }) => ({
    id,
    name,
    user,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
  }))
}

async function hostsBehind(db: Db, newest: string): Promise<Rotation['hosts_behind']> {
  const first = sql`${nodes.keyIds} ->> 0`
  return db
    .select({
      node: nodes.id,
      knows_newest: sql<boolean>`coalesce(${nodes.keyIds} ? ${newest}, false)`,
    })
    .from(nodes)
    .where(and(isLive, sql`${first} is distinct from ${newest}`))
    .orderBy(nodes.id)
}

/** Counts the tokens that do not work because they were hashed with a secret that this host does not have. */
export async function lostTokens(db: Db, keyIds: readonly string[]): Promise<number> {
  const known = sql.join(
    keyIds.map((id) => sql`${id}`),
    sql`, `,
  )
  const [newest = ''] = keyIds
  const isLost = sql`${apiTokens.keyId} is not null and ${apiTokens.keyId} not in (${known})`
  return db.$count(apiTokens, and(waits(newest), isLost))
}

/**
 * Revokes the tokens that have not been used since the newest secret was introduced.
 *
 * @returns their number; in a dry run, the number that would be revoked
 */
export async function endWaitingTokens(db: Db, actor: Doer, dryRun: boolean): Promise<number> {
  const newest = (await newestSecret(db))?.keyId ?? ''
  const mine = and(eq(apiTokens.domainId, actor.domainId), waits(newest))
  const providers = and(eq(scimTokens.domainId, actor.domainId), waits(newest, scimTokens))
  if (dryRun) return (await db.$count(apiTokens, mine)) + (await db.$count(scimTokens, providers))
  let ended = await endProviders(db, actor, providers)
  for (;;) {
    const count = await db.transaction(async (tx) => {
      const rows = await tx
        .select()
        .from(apiTokens)
        .where(mine)
        .orderBy(apiTokens.id)
        .limit(BATCH)
        .for('update')
      for (const { id, userId, domainId, name } of rows) {
        await endToken(tx, id, { userId, domainId })
        const metadata = { unused_since_rotation: true }
        await recordActivity(tx, actor, 'API_TOKEN_REVOKED', [tokenTarget(id, name)], metadata)
      }
      return rows.length
    })
    ended += count
    if (count < BATCH) return ended
  }
}

/** Revokes tokens of identity providers, in one transaction. A domain has only a few of them. */
async function endProviders(db: Db, actor: Doer, which: SQL | undefined): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = await tx
      .update(scimTokens)
      .set({ revokedAt: sql`now()` })
      .where(which)
      .returning({ id: scimTokens.id, name: scimTokens.name })
    for (const row of rows)
      await recordActivity(tx, actor, 'SCIM_TOKEN_REVOKED', [scimTokenTarget(row)], {
        unused_since_rotation: true,
      })
    return rows.length
  })
}
