/**
 * Removing what was rejected, in the system itself: by the way back of what holds it, else by the connector or by a
 * webhook, else by hand. A line is REMOVED only by a reading that does not show it.
 */
import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm'
import { alone } from '../../database/alone.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { accessReviewItems } from '../../database/schema/reviews.ts'
import type { AppRow } from '../catalogue/apps/apps.ts'
import type { RequestContext } from '../kernel/context/context.ts'
import { later } from '../kernel/jobs/back-off.ts'
import { pairKey } from '../provisioning/pair.ts'
import { judgeFailure } from '../requests/machine/failure.ts'
import { turnOf } from '../requests/provision.ts'
import { syncAgain } from '../sync/trigger.ts'
import { closeHands, handsOf, openHands } from './hands.ts'
import { endRequests } from './held-by.ts'
import type { ItemRow } from './items.ts'
import { note, type ReviewAppRow, type ReviewRow, systemOf } from './rows.ts'
import { LEAVING } from './states.ts'
import { type Taken, take } from './take.ts'
import { takeByWebhook } from './take-by-webhook.ts'

const items = accessReviewItems

/** Lines that are looked for at once. */
const BATCH = 50
/** How long until what is under way elsewhere is looked at again, at least, in milliseconds. */
const PAUSE_MS = 500
/** How long lines wait for a system that does not answer, in milliseconds. */
const AWAY_MS = 30_000

type Work = { db: Db; review: ReviewRow; arda: ReviewAppRow; app: AppRow; parts: RequestContext }

/** Does what is due of an app whose removal was begun. */
export async function removeDue(
  db: Db,
  review: ReviewRow,
  arda: ReviewAppRow,
  parts: RequestContext,
): Promise<void> {
  const [app] = await db.select().from(apps).where(eq(apps.id, arda.appId))
  if (!app || arda.removalAt === null) return
  const end = performance.now() + parts.pace.turnMs
  while (performance.now() < end) {
    parts.signal.throwIfAborted()
    const due = await db
      .select()
      .from(items)
      .where(
        and(
          eq(items.ardaId, arda.id),
          inArray(items.state, [...LEAVING]),
          lte(items.wakeAt, await parts.now(db)),
        ),
      )
      .orderBy(asc(items.wakeAt), asc(items.id))
      .limit(BATCH)
    if (due.length === 0) return
    for (const item of due) {
      parts.signal.throwIfAborted()
      if ((await removeOne({ db, review, arda, app, parts }, item)) === 'paused')
        return postpone(db, arda, parts)
    }
  }
}

/** The system of the app does not answer: all of its lines wait. */
async function postpone(db: Db, { id }: ReviewAppRow, parts: RequestContext): Promise<void> {
  const now = await parts.now(db)
  await db
    .update(items)
    .set({ wakeAt: later(now, AWAY_MS) })
    .where(and(eq(items.ardaId, id), inArray(items.state, [...LEAVING]), lte(items.wakeAt, now)))
}

async function removeOne(work: Work, item: ItemRow): Promise<'paused' | undefined> {
  const { db, review, arda, parts } = work
  const hands = await handsOf(db, item)
  if (hands === 'declined') {
    await except(work, item, 'a person declined to remove it')
    return undefined
  }
  const held = await db.transaction((tx) => endRequests(tx, item, arda, review, parts))
  if (held === 'declined') {
    await except(work, item, 'a person decided to leave what a request gave')
    return undefined
  }
  if (held !== 'free') {
    const state = held === 'hands' ? 'WAITING_FOR_HANDS' : 'REMOVING'
    await change(db, item, { state, wakeAt: await soon(work) })
    return undefined
  }
  const outcome = await byTurn(work, item)
  if (outcome === null) await change(db, item, { wakeAt: await soon(work) })
  else if (!outcome.ok && outcome.end === 'paused') return 'paused'
  else await settle(work, item, outcome)
  return undefined
}

const soon = async ({ db, parts }: Work): Promise<Date> =>
  later(await parts.now(db), Math.max(PAUSE_MS, parts.pace.lookMs))

const change = async (db: Db, { id }: ItemRow, values: Partial<ItemRow>): Promise<void> => {
  await db.update(items).set(values).where(eq(items.id, id))
}

/** Takes a line while no request is carried out for the same person in the same app; null where one is. */
async function byTurn(
  { db, review, arda, app, parts }: Work,
  item: ItemRow,
): Promise<Taken | null> {
  const cause = { kind: 'job', id: `access-reviews ${arda.id}` } as const
  const isLast = (min: number, type: string) => holdsNoMore(db, item, min, type)
  const byWay = (own: RequestContext) =>
    arda.removalAction === 'WEBHOOK'
      ? takeByWebhook(db, item, review, app, own)
      : take(db, item, arda, app, isLast, own)
  if (item.userId === null) return byWay({ ...parts, cause })
  const pair = { carriedAppId: item.appId, targetUserId: item.userId }
  let taken: Taken | null = null
  await alone(db, turnOf(pairKey(pair)), async (held) => {
    const signal = AbortSignal.any([parts.signal, held])
    taken = await byWay({ ...parts, cause, signal })
  })
  return taken
}

/** Whether an account holds no more entitlements of a type than it must. */
async function holdsNoMore(db: Db, { accountId }: ItemRow, min: number, type: string) {
  const { rows } = await db.execute<{ n: string }>(sql`
    select count(*) as n from association_spans s join entitlements e on e.id = s.entitlement_id
    where s.account_id = ${accountId} and s.until is null and e.entitlement_type = ${type}`)
  return Number(rows[0]?.n ?? 0) <= min
}

async function settle(work: Work, item: ItemRow, outcome: Exclude<Taken, { end: 'paused' }>) {
  const { db, arda, app, parts } = work
  const now = await parts.now(db)
  if (outcome.ok) return removed(work, item, now)
  if (outcome.end === 'unproven') {
    return db.transaction(async (tx) => {
      await change(tx, item, { sentAt: now, wakeAt: null, problem: outcome.problem })
      await syncAgain(tx, systemOf(arda), app.id, parts)
    })
  }
  if (outcome.end === 'needed') {
    await closeHands(db, item)
    return change(db, item, { state: 'TO_MODIFY', problem: outcome.problem, wakeAt: null })
  }
  const failing = {
    pendingOperation: 'remove',
    attempts: item.attempts,
    failingSince: item.failingSince,
  } as const
  const verdict = judgeFailure(failing, outcome, now)
  const { problem } = outcome
  await db.transaction(async (tx) => {
    if (verdict.kind === 'hands') {
      if ((await handsOf(tx, item)) === 'done') return afterHands(tx, work, item, now)
      const taskId = await openHands(tx, work, item, problem, false)
      return change(tx, item, { state: 'WAITING_FOR_HANDS', problem, taskId, wakeAt: null })
    }
    const { attempts, failingSince, wakeAt } = verdict
    const again = { problem, attempts, failingSince, wakeAt }
    if (!verdict.tell || (await handsOf(tx, item)) === 'asked') return change(tx, item, again)
    const taskId = await openHands(tx, work, item, problem, true)
    return change(tx, item, { ...again, state: 'WAITING_FOR_HANDS', taskId })
  })
}

/** A person said that it is removed, and it cannot be asked for, or shows still: the next complete sync will tell. */
async function afterHands(tx: Db, { review, arda, app, parts }: Work, item: ItemRow, now: Date) {
  if (app.connectorId === null) {
    const problem = 'removed by hand, as a person said; there is no system that could be read'
    await change(tx, item, { state: 'EXCEPTED', problem, wakeAt: null })
    return note(tx, systemOf(arda), review, 'ITEM_EXCEPTED', { item_id: item.id })
  }
  const problem = 'a person said that it is removed; the next complete sync will tell'
  await change(tx, item, { problem, sentAt: now, wakeAt: null, taskId: null })
  await syncAgain(tx, systemOf(arda), app.id, parts)
}

/** A reading did not show it. */
async function removed({ db, review, arda }: Work, item: ItemRow, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    await closeHands(tx, item)
    await change(tx, item, { state: 'REMOVED', problem: null, wakeAt: null, goneAt: now })
    await note(tx, systemOf(arda), review, 'ITEM_REMOVED', {
      ...{ item_id: item.id, app_id: arda.appId, attempts: item.attempts + 1 },
    })
  })
}

async function except({ db, review, arda }: Work, item: ItemRow, problem: string): Promise<void> {
  await db.transaction(async (tx) => {
    await change(tx, item, { state: 'EXCEPTED', problem, wakeAt: null })
    await note(tx, systemOf(arda), review, 'ITEM_EXCEPTED', { item_id: item.id })
  })
}
