/**
 * Carries out requests in the background: all pending operations of one person in one app, one after the
 * other. Each step is recorded before the next. A step that may have been done already is checked before it
 * is repeated.
 */
import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { apps } from '../../database/schema/apps.ts'
import { accessRequests, type RequestRow } from '../../database/schema/requests.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { keepProvisionedAccount, type NoteThere } from '../provisioning/account.ts'
import {
  type AppClient,
  type FinalOutcome,
  type StepOutcome,
  throughApp,
} from '../provisioning/client.ts'
import { grantAccount, grantEntitlement } from '../provisioning/grant.ts'
import { type Pair, pairOf } from '../provisioning/pair.ts'
import { revokeAccount, revokeEntitlement } from '../provisioning/revoke.ts'
import { apply } from './apply.ts'
import { handleExpiry } from './expiry.ts'
import type { Kept } from './machine/events.ts'
import { change } from './move.ts'
import { holdsMore, inherits, isBeingTaken, overlappingGrants } from './overlapping-grants.ts'
import { type AskedPeople, logManualWork, settleFailure } from './settle-failure.ts'
import { recordSharedAccount } from './shared-account.ts'
import { subjectOf } from './subject.ts'
import { validate } from './validate.ts'
import { callProvisioningWebhook, callRemovalWebhook } from './webhooks.ts'

/** Returns the name of the lock under which one host at a time works on a key. */
export const turnOf = (key: string): string => `requests ${key}`

/** Carries out the pending operations of a person in an app. The calling host holds their lock. */
export async function provision(db: Db, key: string, parts: RequestContext): Promise<void> {
  const pair = pairOf(key)
  /** Requests that wait for a paused app. They stay due, and are found again after the pause. */
  const waiting = new Set<string>()
  for (;;) {
    parts.signal.throwIfAborted()
    const request = await next(db, pair, parts, waiting)
    if (request === null) return
    if ((await step(db, request, parts)) === 'paused') waiting.add(request.id)
  }
}

/** Handles due time limits, and returns the first request with an operation to carry out now, or null. */
async function next(
  db: Db,
  pair: Pair,
  parts: RequestContext,
  waiting: ReadonlySet<string>,
): Promise<RequestRow | null> {
  const [appId, userId] = [pair.carriedAppId, pair.targetUserId]
  const now = await parts.now(db)
  const which = { appId, userId, waiting: [...waiting], now: now.toISOString() }
  const [first] = await dueAt(db, which)
  if (!first) return null
  // No lock needed: only the holder of the pair's lock changes pending operations, and `settle` checks again.
  if (first.pendingOperation !== null) return first
  return db.transaction(async (tx) => {
    for (const one of await lockedDue(tx, which)) {
      const woken = await handleExpiry(tx, one, now, parts)
      if (woken.pendingOperation !== null) return woken
    }
    return null
  })
}

/** Query for up to twenty due requests of a pair, except those that wait for a paused app. */
const due = (db: Db) =>
  db
    .select()
    .from(accessRequests)
    .where(
      and(
        eq(accessRequests.carriedAppId, sql.placeholder('appId')),
        eq(accessRequests.targetUserId, sql.placeholder('userId')),
        sql`${accessRequests.wakeAt} <= ${sql.placeholder('now')}`,
        sql`${accessRequests.id} <> all(${sql.placeholder('waiting')}::uuid[])`,
      ),
    )
    // Grants first: access that another request continues to hold need not be revoked and granted again.
    .orderBy(
      sql`${accessRequests.pendingOperation} is distinct from 'grant'`,
      asc(accessRequests.wakeAt),
      asc(accessRequests.id),
    )
    .limit(20)

const dueAt = prepared('access requests due', due)
const lockedDue = prepared('access requests due, locked', (db) => due(db).for('update'))

async function step(
  db: Db,
  request: RequestRow,
  given: RequestContext,
): Promise<'paused' | undefined> {
  const parts: RequestContext = { ...given, cause: { kind: 'access_request', id: request.id } }
  if (request.pendingOperation === 'check') {
    await validate(db, request, parts)
    return undefined
  }
  const outcome =
    request.pendingOperation === 'grant'
      ? await grant(db, request, parts)
      : await remove(db, request, parts)
  if (!outcome.ok && outcome.fault === 'paused') return 'paused'
  const call = await db.transaction((tx) => settle(tx, request, outcome, parts))
  if (call) logManualWork(request, call, parts.tell)
  return undefined
}

/** Runs a step through the connector of the app in which a request is carried out. */
async function through(
  db: Db,
  request: RequestRow,
  parts: RequestContext,
  work: (carrier: AppClient) => Promise<StepOutcome>,
): Promise<StepOutcome> {
  const [app] = await db.select().from(apps).where(eq(apps.id, request.carriedAppId))
  if (!app) throw new Error('the app of an access request is gone')
  return throughApp(db, app, parts, work)
}

async function grant(db: Db, request: RequestRow, parts: RequestContext): Promise<StepOutcome> {
  if (request.fulfilment === 'webhook') return callProvisioningWebhook(db, request, parts)
  const noteThere: NoteThere = (there) => noteBefore(db, request, there)
  const given = { noteThere, unsettled: await isBeingTaken(db, request) }
  return through(db, request, parts, (carrier) =>
    request.entitlement === null
      ? grantAccount(db, carrier, request, given)
      : grantEntitlement(db, carrier, request, given),
  )
}

/** Records whether the access existed before any grant. Access through another request does not count. */
async function noteBefore(db: Db, request: RequestRow, there: boolean | null): Promise<void> {
  const byOther =
    there &&
    (await overlappingGrants(db, request)).some(
      ({ preExisting, fulfilment, status }) =>
        preExisting === false ||
        (fulfilment === 'manual' && status !== 'PENDING_MANUAL_PROVISIONING'),
    )
  await db
    .update(accessRequests)
    .set({ preExisting: there && !byOther })
    .where(
      and(
        eq(accessRequests.id, request.id),
        there === null ? undefined : isNull(accessRequests.preExisting),
      ),
    )
}

const GIVEN_BY_HAND = 'it was granted by hand'
const MAYBE_BY_HAND =
  'a person was asked to grant it by hand and has not reported whether it was done. Make sure that the access does not exist'

/** The access still exists and is kept. */
type Stays = { ok: true; kept: Kept }

const kept = (why: Kept): Stays => ({ ok: true, kept: why })

async function remove(
  db: Db,
  request: RequestRow,
  parts: RequestContext,
): Promise<StepOutcome | Stays> {
  const manual = request.fulfilment === 'manual'
  // The access existed before and may still be needed, or nothing has been sent yet.
  if (!manual && request.preExisting !== false)
    return kept(request.preExisting ? 'was_there' : 'not_given')
  const others = await overlappingGrants(db, request)
  const heir = others.find(inherits)
  if (heir) {
    // The other request takes over the access, and revokes it when it ends itself.
    await change(db, heir, { preExisting: false })
    // No connector closes an account that was created by hand.
    if (manual && request.label === null) await recordSharedAccount(db, request)
    return kept('other_request')
  }
  // Other requests hold access in the account. It is closed after the last of them.
  if (request.label === null && (await holdsMore(db, request))) {
    await recordSharedAccount(db, request)
    return kept('needed')
  }
  if (manual) {
    if (request.label === null) await keepProvisionedAccount(db, request, { leftBy: null })
    // A person who was already asked revokes it for both requests.
    if (others.some(({ status }) => status === 'PENDING_MANUAL_DEPROVISIONING'))
      return kept('other_request')
    const wasGiven = Object.hasOwn(request.notes, 'PROVISIONED')
    return { ok: false, fault: 'manual', problem: wasGiven ? GIVEN_BY_HAND : MAYBE_BY_HAND }
  }
  const { app, config } = await subjectOf(db, request)
  if (config.removalWebhook !== null)
    return callRemovalWebhook(db, request, { app, webhookId: config.removalWebhook }, parts)
  if (request.fulfilment === 'webhook')
    return { ok: false, fault: 'manual', problem: 'there is no webhook to revoke it' }
  return through(db, request, parts, (carrier) =>
    request.entitlement === null
      ? revokeAccount(db, carrier, request)
      : revokeEntitlement(db, carrier, request),
  )
}

const locked = prepared('access request by id, locked', (db) =>
  db
    .select()
    .from(accessRequests)
    .where(eq(accessRequests.id, sql.placeholder('id')))
    .for('update'),
)

/** Applies the outcome of an operation, unless the request has moved since. */
async function settle(
  tx: Db,
  before: RequestRow,
  outcome: FinalOutcome | Stays,
  parts: RequestContext,
): Promise<AskedPeople | null> {
  const [request] = await locked(tx, { id: before.id })
  if (!request || request.pendingOperation !== before.pendingOperation) return null
  // A person retried it during the try: the next try, which is due, considers that.
  if (!outcome.ok && request.wakeAt?.getTime() !== before.wakeAt?.getTime()) return null
  if (!outcome.ok) return settleFailure(tx, request, outcome, parts)
  if (request.pendingOperation === 'remove') {
    const why = 'kept' in outcome ? outcome.kept : null
    await apply(tx, request, { kind: 'revoked', kept: why }, parts)
    return null
  }
  const { manualSteps, instructions } = (await subjectOf(tx, request)).config
  const event = { kind: 'granted', manualSteps: manualSteps ? { instructions } : null } as const
  await apply(tx, request, event, parts)
  return null
}
