/**
 * Authentication of the caller: a SCIM token of an identity provider, for one domain. It belongs to no user
 * and gives access to nothing else.
 */

import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { CoreError } from '../../contract/errors/problem.ts'
import type { ActivityEvent } from '../../contract/models/activity-event.ts'
import type { Db } from '../../database/database.ts'
import { lockTextUntilEnd } from '../../database/locks.ts'
import { scimTokens } from '../../database/schema/scim.ts'
import { recordActivity, type Target } from '../kernel/audit/activity.ts'
import { renewHash } from '../kernel/identity/renew-hash.ts'
import type { TokenHasher } from '../kernel/identity/token-hasher.ts'
import { ScimError } from './problem.ts'

/** Prefix of every SCIM token. */
export const SCIM_PREFIX = 'lss_'

export type ScimCaller = { domainId: string; tokenId: string; tokenName: string }

/**
 * Returns the caller that an Authorization header identifies.
 *
 * @throws ScimError `unauthenticated`
 */
export async function authenticateScim(
  db: Db,
  hasher: TokenHasher,
  header: string | undefined,
): Promise<ScimCaller> {
  const token = /^Bearer +([!-~]+)$/i.exec(header ?? '')?.[1] ?? ''
  const caller = token.startsWith(SCIM_PREFIX) ? await callerOf(db, hasher, token) : null
  if (!caller)
    throw new ScimError(
      'unauthenticated',
      null,
      'Not authenticated: send a valid SCIM token as Authorization: Bearer',
    )
  return caller
}

async function callerOf(db: Db, hasher: TokenHasher, token: string): Promise<ScimCaller | null> {
  const rows = await db
    .select()
    .from(scimTokens)
    .where(
      and(
        eq(scimTokens.prefix, hasher.prefixOf(token)),
        isNull(scimTokens.revokedAt),
        or(isNull(scimTokens.expiresAt), gt(scimTokens.expiresAt, sql`now()`)),
      ),
    )
  const found = rows.find(({ hash }) => hasher.matches(token, hash))
  if (!found) return null
  await renewHash(db, hasher, scimTokens, found, token)
  await noteUse(db, found.id)
  return { domainId: found.domainId, tokenId: found.id, tokenName: found.name }
}

/** Records the use of a token at most once a minute, so that most requests write nothing. */
async function noteUse(db: Db, id: string): Promise<void> {
  const usedLately = sql`${scimTokens.lastUsedAt} > now() - interval '1 minute'`
  await db
    .update(scimTokens)
    .set({ lastUsedAt: sql`now()` })
    .where(and(eq(scimTokens.id, id), sql`not coalesce(${usedLately}, false)`))
}

/** Records an action of a provider. No user did it, so the entry names the token. */
export const recordPush = (
  tx: Db,
  { domainId, tokenId, tokenName }: ScimCaller,
  eventType: ActivityEvent,
  target: Target,
  metadata: Record<string, unknown> = {},
): Promise<void> =>
  recordActivity(tx, { domainId, userId: null }, eventType, [target], {
    ...{ source: 'SCIM', scim_token_id: tokenId, scim_token: tokenName },
    ...metadata,
  })

/** Last change of each domain that this host is making, or that waits in it. */
const lastOf = new WeakMap<Db, Map<string, Promise<unknown>>>()

/** Maximum time that a change waits for the ones before it, in milliseconds. */
const PATIENCE_MS = 15_000
const inTheWay = () =>
  new CoreError(
    'unavailable',
    'Other changes by SCIM got in the way; nothing was done, try again',
    { retryAfterSeconds: 5 },
  )

/**
 * Runs the changes of a domain's people one at a time, so that two that take the same name are told apart.
 * Changes of this host wait without a database connection: otherwise a provider that pushes many at once
 * would use up all connections.
 *
 * @throws CoreError `unavailable` if earlier changes take too long
 */
export async function oneAtATime<T>(
  db: Db,
  { domainId }: ScimCaller,
  act: (tx: Db) => Promise<T>,
): Promise<T> {
  const queues = lastOf.get(db) ?? new Map<string, Promise<unknown>>()
  lastOf.set(db, queues)
  const before = queues.get(domainId)
  const late = Promise.withResolvers<never>()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    late.reject(inTheWay())
  }, PATIENCE_MS)
  const work = (async () => {
    await before
    clearTimeout(timer)
    if (isLate) throw inTheWay()
    return db.transaction(async (tx) => {
      await tx.execute(lockTextUntilEnd(`scim ${domainId}`))
      return act(tx)
    })
  })()
  const over = work.then(
    () => undefined,
    () => undefined,
  )
  queues.set(domainId, over)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    if (queues.get(domainId) === over && !isLate) queues.delete(domainId)
  }
}
