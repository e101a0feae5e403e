/** End of the decisions on an app or a whole review. After it, rejected access is removed. */
import { and, eq, inArray } from 'drizzle-orm'
import { conflict } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import {
  accessReviewItems,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import type { Actor } from '../kernel/audit/activity.ts'
import type { CoreContext, RequestContext } from '../kernel/context/context.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { longStatements } from '../sync/runs.ts'
import { appsOfReview } from './add-apps.ts'
import { applyToReview, applyToReviewApp } from './apply.ts'
import { requireUnderWay } from './decide.ts'
import { sendReviewJob } from './keys.ts'
import { UNDECIDED } from './machine/states.ts'
import { toReview } from './read.ts'
import { closeAnswered } from './reviewer-tasks.ts'
import { findReview, findReviewApp, isDeciding, lockDeciding, lockReviewApps } from './rows.ts'

type Deps = Pick<CoreContext, 'send' | 'now'>

/**
 * Ends the decisions on an app, and starts the removal of its rejected lines.
 *
 * @throws CoreError `not_found`, `conflict` while lines are open, before the launch, or if it was started
 */
export async function startRemoval(
  db: Db,
  principal: Principal,
  id: string,
  reviewAppId: string,
  deps: Deps,
): Promise<void> {
  await db.transaction(async (tx) => {
    const review = await findReview(tx, principal, id)
    const reviewApp = await findReviewApp(tx, review, reviewAppId, true)
    if (!isDeciding(reviewApp))
      throw conflict(
        reviewApp.removalAt === null
          ? `The app is ${reviewApp.status}; nothing can be removed yet`
          : 'The removal has already begun',
      )
    const open = await tx.$count(
      accessReviewItems,
      and(
        eq(accessReviewItems.reviewAppId, reviewApp.id),
        inArray(accessReviewItems.state, UNDECIDED),
      ),
    )
    if (open > 0)
      throw conflict(
        `${open} lines are open; have them decided, or end the review with POST /access_reviews/${review.id}/complete`,
      )
    await closeApp(tx, principal, review, reviewApp, deps)
  })
}

/**
 * Ends the decisions on a review.
 *
 * @throws CoreError `not_found`, `conflict` if it has no apps, has apps that are not launched, or has ended
 */
export async function completeReview(
  db: Db,
  principal: Principal,
  id: string,
  deps: RequestContext,
) {
  const review = await db.transaction(async (tx) => {
    await lockReviewApps(tx, (await findReview(tx, principal, id)).id)
    const found = await findReview(tx, principal, id, true)
    requireUnderWay(found)
    const reviewApps = await appsOfReview(tx, found.id)
    if (reviewApps.length === 0) throw conflict('The access review has no apps; delete it')
    const early = reviewApps.filter(isEarly)
    if (early.length > 0)
      throw conflict(
        `${early.length} of its apps are not launched yet; wait for them, or remove them from the review`,
      )
    await closeApps(tx, principal, found, reviewApps, deps)
    await closed(tx, found, deps)
    return found
  })
  return toReview(db, await findReview(db, principal, review.id))
}

/** Reports whether an app has not been launched, so that its lines cannot be decided yet. */
export const isEarly = ({ status }: ReviewAppRow): boolean =>
  status === 'IN_PREPARATION' || status === 'ASSIGNING_REVIEWERS'

/** Ends the decisions on those apps on which they have not ended. */
export async function closeApps(
  tx: Db,
  actor: Actor,
  review: ReviewRow,
  reviewApps: readonly ReviewAppRow[],
  deps: Deps,
): Promise<void> {
  for (const { id } of reviewApps) {
    const reviewApp = await lockDeciding(tx, id)
    if (reviewApp) await closeApp(tx, actor, review, reviewApp, deps)
  }
}

/** Records that the decisions on a review have ended. */
async function closed(tx: Db, review: ReviewRow, deps: Deps): Promise<void> {
  await applyToReview(tx, review, { kind: 'decisions_ended' }, await deps.now(tx))
  await sendReviewJob(tx, { kind: 'review', id: review.id }, deps)
}

async function closeApp(
  tx: Db,
  actor: Actor,
  review: ReviewRow,
  reviewApp: ReviewAppRow,
  deps: Deps,
): Promise<void> {
  await tx.execute(longStatements)
  const now = await deps.now(tx)
  const undecided = await tx
    .update(accessReviewItems)
    .set({ state: 'NOT_DECIDED' })
    .where(
      and(
        eq(accessReviewItems.reviewAppId, reviewApp.id),
        inArray(accessReviewItems.state, UNDECIDED),
      ),
    )
  const rejected = await tx
    .update(accessReviewItems)
    .set({ state: 'REMOVING', wakeAt: now })
    .where(
      and(eq(accessReviewItems.reviewAppId, reviewApp.id), eq(accessReviewItems.state, 'REJECTED')),
    )
  await closeAnswered(tx, reviewApp.id)
  const lines = { rejected: rejected.rowCount ?? 0, notDecided: undecided.rowCount ?? 0 }
  await applyToReviewApp(
    tx,
    reviewApp,
    { kind: 'removal_started', by: actor, review, ...lines },
    now,
  )
  await sendReviewJob(tx, { kind: 'app', id: reviewApp.id }, deps)
}
