/**
 * Removal of rejected access in the system itself: by reverting the requests that hold it, else by the
 * connector or a webhook, else by hand. A line becomes REMOVED only by a reading that does not show it.
 */
import { and, asc, eq, inArray, lte, ne, sql } from 'drizzle-orm'
import type { Reading } from '../../contract/models/reading.ts'
import type { Db } from '../../database/database.ts'
import { alone } from '../../database/exclusive-work.ts'
import { type AppRow, apps } from '../../database/schema/apps.ts'
import {
  accessReviewApps,
  accessReviewItems,
  type ItemRow,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { associationSpansOf } from '../history/association-spans.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { hasRow } from '../kernel/has-row.ts'
import { later } from '../kernel/jobs/retry-schedules.ts'
import { pairKey } from '../provisioning/pair.ts'
import { addReadings, createWatch, type Watch } from '../provisioning/readings.ts'
import { turnOf } from '../requests/provision.ts'
import { progressOf } from '../tasks/progress.ts'
import { applyToLine, lockLine } from './apply.ts'
import { endRequests } from './line-sources.ts'
import type { LineEvent } from './machine/line.ts'
import { LEAVING } from './machine/states.ts'
import { type Taken, take } from './remove-line.ts'
import { takeByWebhook } from './take-by-webhook.ts'

const items = accessReviewItems

/** Number of lines read at once. */
const BATCH = 50
/** Minimum pause before work in progress elsewhere is examined again, in milliseconds. */
const PAUSE_MS = 500
/** Time that lines wait for a system that does not answer, in milliseconds. */
const AWAY_MS = 30_000

type Work = {
  db: Db
  review: ReviewRow
  reviewApp: ReviewAppRow
  app: AppRow
  parts: RequestContext
}

/** Reports whether an app is still in its review: neither of them was deleted. */
const isInReview = (db: Db, { id }: ReviewAppRow): Promise<boolean> =>
  hasRow(db, accessReviewApps, eq(accessReviewApps.id, id), ne(accessReviewApps.status, 'DELETED'))

/** Removes the due lines of an app whose removal was started, until the app or its review is deleted. */
export async function removeDue(
  db: Db,
  review: ReviewRow,
  reviewApp: ReviewAppRow,
  parts: RequestContext,
): Promise<void> {
  const [app] = await db.select().from(apps).where(eq(apps.id, reviewApp.appId))
  if (!app || reviewApp.removalAt === null) return
  const end = performance.now() + parts.pace.turnMs
  while (performance.now() < end) {
    parts.signal.throwIfAborted()
    const due = await db
      .select()
      .from(items)
      .where(
        and(
          eq(items.reviewAppId, reviewApp.id),
          inArray(items.state, [...LEAVING]),
          lte(items.wakeAt, await parts.now(db)),
        ),
      )
      .orderBy(asc(items.wakeAt), asc(items.id))
      .limit(BATCH)
    if (due.length === 0) return
    for (const item of due) {
      parts.signal.throwIfAborted()
      if (!(await isInReview(db, reviewApp))) return
      if ((await removeOne({ db, review, reviewApp, app, parts }, item)) === 'paused')
        return postpone(db, reviewApp, parts)
    }
  }
}

/** Postpones all lines of an app whose system does not answer. */
async function postpone(db: Db, { id }: ReviewAppRow, parts: RequestContext): Promise<void> {
  const now = await parts.now(db)
  await db
    .update(items)
    .set({ wakeAt: later(now, AWAY_MS) })
    .where(
      and(eq(items.reviewAppId, id), inArray(items.state, [...LEAVING]), lte(items.wakeAt, now)),
    )
}

async function removeOne(work: Work, item: ItemRow): Promise<'paused' | undefined> {
  const { db, review, reviewApp, app, parts } = work
  if ((await progressOf(db, item)).task === 'declined')
    return happened(work, item, { kind: 'declined', problem: 'a person declined to remove it' })
  const held = await db.transaction((tx) => endRequests(tx, item, reviewApp, review, parts))
  if (held === 'declined') {
    const problem = 'a person decided to leave access that a request gave'
    return happened(work, item, { kind: 'declined', problem })
  }
  if (held !== 'free') {
    const wakeAt = await soon(work)
    return happened(work, item, { kind: 'held', byPeople: held === 'manual', wakeAt })
  }
  const watch = createWatch(await parts.now(db), parts)
  const { readings } = watch
  const outcome = await byTurn(work, item, watch)
  if (outcome === null) return happened(work, item, { kind: 'busy', wakeAt: await soon(work) })
  if (outcome.ok)
    return happened(work, item, { kind: 'gone', reading: readings.at(-1) ?? null }, readings)
  switch (outcome.fault) {
    case 'paused':
      return 'paused'
    case 'unproven':
    case 'needed':
      return happened(work, item, { kind: outcome.fault, problem: outcome.problem }, readings)
    default: {
      const isConnected = app.connectorId !== null
      const failed = { kind: 'failed', failure: outcome, isConnected } as const
      const event = async (tx: Db) => ({ ...failed, task: (await progressOf(tx, item)).task })
      return happened(work, item, event, readings)
    }
  }
}

const soon = async ({ db, parts }: Work): Promise<Date> =>
  later(await parts.now(db), Math.max(PAUSE_MS, parts.pace.lookMs))

/** Events after which a line waits for its next try. */
const WAITS: readonly LineEvent['kind'][] = ['failed', 'busy', 'held']

/** Applies an event to a line, unless it is no longer being removed, and stores the readings with it. */
async function happened(
  { db, review, reviewApp, app, parts }: Work,
  { id, wakeAt }: ItemRow,
  event: LineEvent | ((tx: Db) => Promise<LineEvent>),
  readings: readonly Reading[] = [],
): Promise<undefined> {
  // Taken before the transaction: a sync requested in it starts no earlier, so that it can confirm the
  // removal.
  const now = await parts.now(db)
  await db.transaction(async (tx) => {
    const line = await lockLine(tx, id)
    if (line === null) return
    if (readings.length > 0)
      await tx
        .update(items)
        .set({ readings: addReadings(line.readings, readings) })
        .where(eq(items.id, id))
    const known = typeof event === 'function' ? await event(tx) : event
    // A removal is recorded. No one is asked to do it for a review that was deleted.
    if (known.kind !== 'gone' && !(await isInReview(tx, reviewApp))) return
    // A person reported it as done during the try: the next try, which is due, considers that.
    if (WAITS.includes(known.kind) && line.wakeAt?.getTime() !== wakeAt?.getTime()) return
    await applyToLine(tx, line, known, { review, reviewApp, app, deps: parts }, now)
  })
}

/** Removes a line unless a request is being carried out for the same person in the app; returns null then. */
async function byTurn(
  { db, review, reviewApp, app, parts }: Work,
  item: ItemRow,
  watch: Watch,
): Promise<Taken | null> {
  const cause = { kind: 'job', id: `access-reviews ${reviewApp.id}` } as const
  const isLast = (min: number, type: string) => holdsNoMore(db, item, min, type)
  const byWay = (own: RequestContext) =>
    reviewApp.removalAction === 'WEBHOOK'
      ? takeByWebhook(db, item, review, app, watch, own)
      : take(db, item, reviewApp, app, isLast, watch, own)
  if (item.userId === null) return byWay({ ...parts, cause })
  const pair = { carriedAppId: item.appId, targetUserId: item.userId }
  let taken: Taken | null = null
  await alone(db, turnOf(pairKey(pair)), async (held) => {
    const signal = AbortSignal.any([parts.signal, held])
    taken = await byWay({ ...parts, cause, signal })
  })
  return taken
}

/** Reports whether an account holds no more entitlements of a type than the required minimum. */
async function holdsNoMore(
  db: Db,
  { domainId, appId, accountId }: ItemRow,
  min: number,
  type: string,
) {
  const spans = associationSpansOf({
    domainId: sql`${domainId}`,
    appId: sql`${appId}`,
    accountId: sql`${accountId}`,
  })
  const { rows } = await db.execute<{ n: string }>(sql`
    select count(*) as n from ${spans} s join entitlements e on e.id = s.entitlement_id
    where s.until is null and e.entitlement_type = ${type}`)
  return Number(rows[0]?.n ?? 0) <= min
}
