/** Background job of access reviews. */
import { and, eq, inArray, notInArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import {
  accessReviewApps,
  accessReviewItems,
  accessReviews,
  type ReviewAppRow,
} from '../../database/schema/reviews.ts'
import type { JobHandler } from '../kernel/background/turn.ts'
import type { CoreContext, RequestContext } from '../kernel/context/context.ts'
import { later, pauseMs } from '../kernel/jobs/retry-schedules.ts'
import { keptText } from '../kernel/kept-text.ts'
import { openErrorTask } from '../tasks/error-task.ts'
import { applyToReviewApp } from './apply.ts'
import { compareWithSync } from './compare.ts'
import { parseReviewKey } from './keys.ts'
import { prepareApp } from './launch.ts'
import { nextWake } from './manual-removals.ts'
import { removeDue } from './removal.ts'
import { conclude, lookAtReview } from './review-job.ts'
import { lockReview, lockReviewApp } from './rows.ts'

/** Maximum number of due jobs of each kind returned at once. */
const MAX_DUE = 100

/**
 * An app that waits no longer than this, in milliseconds, may be woken by a sync. One with a problem that
 * waits longer has failed for good, and is tried again at its time (`gaveUp`).
 */
const SOON_MS = 120_000

/** Returns the name of the lock under which one host at a time works on a review or an app of one. */
const turnOf = (key: string): string => `access reviews ${key}`

async function due(db: Db): Promise<string[]> {
  const { rows } = await db.execute<{ key: string }>(sql`
    (select 'review ' || id as key from access_reviews
      where wake_at is not null and wake_at <= clock_timestamp() order by wake_at limit ${MAX_DUE})
    union all
    (select 'review ' || id from access_reviews
      where next_at is not null and next_at <= clock_timestamp() order by next_at limit ${MAX_DUE})
    union all
    (select 'app ' || a.id from access_review_apps a
      where a.status in ('IN_PREPARATION', 'IN_PROGRESS', 'WAITING_FOR_MANUAL_ACTION')
        and exists (select from sync_runs r
          where r.app_id = a.app_id and r.id > coalesce(a.seen_run, 0) and r.state = 'SUCCEEDED')
        and (a.problem is null or a.wake_at is null or a.wake_at <= clock_timestamp() + ${SOON_MS} * interval '1 ms')
        and exists (select from access_reviews v where v.id = a.review_id and v.status <> 'SCHEDULED')
      limit ${MAX_DUE})
    union all
    (select 'app ' || id from access_review_apps
      where wake_at is not null and wake_at <= clock_timestamp() order by wake_at limit ${MAX_DUE})`)
  return [...new Set(rows.map(({ key }) => key))]
}

async function handle(db: Db, key: string, parts: RequestContext): Promise<void> {
  const named = parseReviewKey(key)
  if (named === null) return
  if (named.kind === 'review') await lookAtReview(db, named.id, parts)
  else await lookAtApp(db, named.id, parts)
}

async function lookAtApp(db: Db, id: string, parts: RequestContext): Promise<void> {
  await prepareApp(db, id, parts)
  await db.transaction(async (tx) => {
    const reviewApp = await lockReviewApp(tx, id)
    if (reviewApp && isUnderWay(reviewApp)) await compareWithSync(tx, reviewApp, parts)
  })
  const [reviewApp] = await db.select().from(accessReviewApps).where(eq(accessReviewApps.id, id))
  if (!reviewApp || !isUnderWay(reviewApp)) return
  if (reviewApp.removalAt !== null) {
    const [review] = await db
      .select()
      .from(accessReviews)
      .where(eq(accessReviews.id, reviewApp.reviewId))
    if (review) await removeDue(db, review, reviewApp, parts)
    await db.transaction((tx) => goOn(tx, id, parts))
  }
  if (reviewApp.problem !== null) await recovered(db, id)
}

/** Clears the problem of an app whose job has succeeded. Only removals need another time to wake. */
async function recovered(db: Db, id: string): Promise<void> {
  const { removalAt, wakeAt } = accessReviewApps
  await db
    .update(accessReviewApps)
    .set({
      problem: null,
      wakeAt: sql`case when ${removalAt} is null then null else ${wakeAt} end`,
    })
    .where(and(eq(accessReviewApps.id, id), inArray(accessReviewApps.status, [...UNDER_WAY])))
}

const UNDER_WAY = ['IN_PROGRESS', 'WAITING_FOR_MANUAL_ACTION'] as const

const isUnderWay = ({ status }: ReviewAppRow): boolean => UNDER_WAY.some((one) => one === status)

/** Advances an app by its remaining removals, and schedules its next run. */
async function goOn(tx: Db, id: string, parts: RequestContext): Promise<void> {
  const reviewApp = await lockReviewApp(tx, id)
  if (!reviewApp || !isUnderWay(reviewApp)) return
  const count = (state: 'REMOVING' | 'WAITING_FOR_HANDS') =>
    tx.$count(
      accessReviewItems,
      and(eq(accessReviewItems.reviewAppId, id), eq(accessReviewItems.state, state)),
    )
  const [removing, waiting] = [await count('REMOVING'), await count('WAITING_FOR_HANDS')]
  const wakeAt = await nextWake(tx, id)
  const counted = { kind: 'counted', removing, waiting, wakeAt } as const
  const { status, reviewId } = await applyToReviewApp(tx, reviewApp, counted, await parts.now(tx))
  if (status === 'COMPLETED') await conclude(tx, reviewId, parts)
}

/** Tells the admins, at most once an hour. Tries continue. */
async function gaveUp(db: Db, key: string, problem: string, parts: CoreContext): Promise<void> {
  const named = parseReviewKey(key)
  if (named === null) return
  await db.transaction(async (tx) => {
    const now = await parts.now(tx)
    const wakeAt = later(now, pauseMs('defect', 1))
    const reviewApp = named.kind === 'app' ? await lockReviewApp(tx, named.id) : null
    const review = await lockReview(tx, reviewApp?.reviewId ?? named.id)
    if (!review || (reviewApp && hasGivenUp(reviewApp, now))) return
    const words = keptText(problem, 1000)
    if (reviewApp)
      await tx
        .update(accessReviewApps)
        .set({ problem: words, wakeAt })
        .where(
          and(
            eq(accessReviewApps.id, reviewApp.id),
            notInArray(accessReviewApps.status, [...OVER]),
          ),
        )
    else
      await tx
        .update(accessReviews)
        .set({
          ...(OVER.some((one) => one === review.status) ? {} : { wakeAt }),
          ...(review.nextAt !== null && review.nextAt <= now ? { nextAt: wakeAt } : {}),
        })
        .where(eq(accessReviews.id, review.id))
    await openErrorTask(tx, review.domainId, {
      taskType: 'ACCESS_REVIEW_FAILED',
      description: `The access review “${review.name}” is stuck: ${words}`,
      instructions: 'Keyway tries again every hour; `keyway jobs` shows what failed',
      productArea: 'ACCESS_REVIEWS',
    })
  })
}

/** Reports whether an app waits for its next hourly try: its job was queued again before this was known. */
const hasGivenUp = ({ problem, wakeAt }: ReviewAppRow, now: Date): boolean =>
  problem !== null && wakeAt !== null && wakeAt > later(now, SOON_MS)

/** States in which a review or an app of one has nothing more to do, and would never be put to sleep again. */
const OVER = ['COMPLETED', 'DELETED'] as const

export const REVIEW_JOB: JobHandler = { handle, turnOf, due, gaveUp }
