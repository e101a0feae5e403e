/** Due work of a review: its launch, its reminders, its deadline, its end. */
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import {
  accessReviewApps,
  accessReviews,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { later } from '../kernel/jobs/retry-schedules.ts'
import { appsOfReview } from './add-apps.ts'
import { applyToReview } from './apply.ts'
import { askedBefore, assign, OPEN_LINES } from './assign.ts'
import { closeApps, isEarly } from './close.ts'
import { decideMatching } from './decide.ts'
import { isReminderDue, nextLook } from './due-times.ts'
import { itemsCondition } from './items.ts'
import { sendReviewJob } from './keys.ts'
import { systemOf } from './machine/log.ts'
import { UNDECIDED } from './machine/states.ts'
import { recur } from './recur.ts'
import { remindReviewers } from './remind.ts'
import { replaceLeft } from './replace.ts'
import { closeAnswered, ESCALATED } from './reviewer-tasks.ts'
import { lockDeciding, lockReview, lockReviewApps, noteReview } from './rows.ts'

type Deps = Pick<CoreContext, 'send' | 'now'>

/** Interval of the search for reviewers who left, in milliseconds. */
const LEFT_MS = 3_600_000

/** Time that the deadline waits for apps being prepared, in milliseconds. */
const EARLY_MS = 3_600_000

/** Carries out the due work of a review. Locks its apps before it. */
export async function lookAtReview(db: Db, id: string, deps: Deps): Promise<void> {
  await db.transaction((tx) => recur(tx, id, deps))
  await db.transaction((tx) => replaceLeft(tx, id))
  await db.transaction(async (tx) => {
    await lockReviewApps(tx, id)
    const review = await lockReview(tx, id)
    if (!review || ['DELETED', 'COMPLETED'].includes(review.status)) return
    const now = await deps.now(tx)
    const reviewApps = await appsOfReview(tx, id)
    if (review.status === 'SCHEDULED') return launch(tx, review, reviewApps, now, deps)
    const wakeAt = await atDeadline(tx, review, reviewApps, now, deps)
    const locked = await lockReview(tx, id)
    if (!locked || locked.status === 'DELETED') return
    if (reviewApps.length === 0) await applyToReview(tx, locked, { kind: 'started' }, now)
    const reminded = locked.closedAt === null && isReminderDue(locked, now)
    if (reminded) await remindReviewers(tx, systemOf(locked), locked, now)
    await tx
      .update(accessReviews)
      .set({ wakeAt, ...(reminded ? { remindedAt: now } : {}) })
      .where(eq(accessReviews.id, id))
    await conclude(tx, id, deps)
  })
}

async function launch(
  tx: Db,
  { id, targetLaunchDate }: ReviewRow,
  reviewApps: readonly ReviewAppRow[],
  now: Date,
  deps: Deps,
): Promise<void> {
  if (targetLaunchDate !== null && targetLaunchDate > now) return
  const ids = reviewApps.map((reviewApp) => reviewApp.id)
  await tx.update(accessReviewApps).set({ wakeAt: now }).where(inArray(accessReviewApps.id, ids))
  const locked = await lockReview(tx, id)
  if (locked?.status !== 'SCHEDULED') return
  const wakeAt = nextLook(locked, now)
  await applyToReview(tx, locked, { kind: 'launch_came', apps: ids.length, wakeAt }, now)
  for (const reviewAppId of ids) await sendReviewJob(tx, { kind: 'app', id: reviewAppId }, deps)
}

/** Returns the next time that work is due, or that reviewers who left are searched for. */
const soon = (review: ReviewRow, now: Date): Date =>
  new Date(Math.min(nextLook(review, now).getTime(), later(now, LEFT_MS).getTime()))

/** Carries out the owner's choice for the deadline, once it has passed. @returns time of the next check */
async function atDeadline(
  tx: Db,
  review: ReviewRow,
  reviewApps: readonly ReviewAppRow[],
  now: Date,
  deps: Deps,
): Promise<Date | null> {
  if (review.closedAt !== null) return null
  if (now < review.deadlineAt) return soon(review, now)
  const system = systemOf(review)
  if (review.onDeadline === 'ESCALATE') {
    await escalate(tx, review, reviewApps)
    return soon(review, now)
  }
  // An app that is not launched has nothing to decide yet. The review is closed after its launch.
  if (reviewApps.some(isEarly)) return later(now, EARLY_MS)
  if (review.onDeadline === 'REMOVE') {
    const locked: string[] = []
    for (const { id } of reviewApps) if (await lockDeciding(tx, id)) locked.push(id)
    const reason = 'No one decided by the deadline'
    const act = { decision: 'REJECT' as const, reason, filter: { state: UNDECIDED }, userId: null }
    const chosen = and(
      itemsCondition(review, { state: UNDECIDED }),
      sql`access_review_items.arda_id = any(${sql.param(locked)}::uuid[])`,
    )
    const { actId, count } = await decideMatching(tx, review, act, chosen)
    if (actId !== null)
      await noteReview(tx, system, review, 'DECIDED', {
        act_id: actId,
        decision: 'REJECT',
        items: count,
      })
  }
  await closeApps(tx, system, review, reviewApps, deps)
  await applyToReview(tx, review, { kind: 'decisions_ended' }, now)
  return null
}

/**
 * Assigns the lines that were undecided at the deadline to the admins, each line once: one that a person has
 * reassigned since, or kept since so that others have to confirm it, stays where it is.
 */
async function escalate(
  tx: Db,
  review: ReviewRow,
  reviewApps: readonly ReviewAppRow[],
): Promise<void> {
  const deadline = sql`${review.deadlineAt.toISOString()}::timestamptz`
  for (const { id } of reviewApps) {
    const reviewApp = await lockDeciding(tx, id)
    if (!reviewApp) continue
    const left = sql`((state <> 'TO_CONFIRM' or decided_at < ${deadline})
      and (assignment_id is null or assignment_id <> all(array(
        select s.id from access_review_assignments s where s.arda_id = ${id}
          and (s.why = ${ESCALATED} or s.by_id is not null and s.created_at >= ${deadline})))))`
    const which = and(OPEN_LINES, left) ?? left
    const made = await askedBefore(tx, id, ESCALATED)
    await assign(tx, { review, reviewApp, kind: 'APP_ADMINS', which, why: ESCALATED, made })
    await closeAnswered(tx, id)
  }
}

/** Completes a review whose apps are all completed. */
export async function conclude(tx: Db, id: string, deps: Deps): Promise<void> {
  const reviewApps = await appsOfReview(tx, id)
  if (reviewApps.length === 0 || reviewApps.some(({ status }) => status !== 'COMPLETED')) return
  const review = await lockReview(tx, id)
  if (review?.status !== 'IN_PROGRESS') return
  const completed = { kind: 'apps_completed', apps: reviewApps.length } as const
  await applyToReview(tx, review, completed, await deps.now(tx))
}
