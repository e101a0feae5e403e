/** Second stage of a review: others confirm the lines that a reviewer kept despite a red hint. */
import { and, inArray, isNotNull, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import {
  accessReviewApps,
  accessReviewItems,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { askedBefore, assign, UNASSIGNED } from './assign.ts'
import { CONFIRMS } from './reviewer-tasks.ts'

/** Assigns the lines of some apps that wait for confirmation and have no reviewer. */
export async function askToConfirm(
  tx: Db,
  review: ReviewRow,
  reviewAppIds: readonly string[],
): Promise<void> {
  const reviewApps = await tx
    .select()
    .from(accessReviewApps)
    .where(
      and(
        inArray(accessReviewApps.id, [...reviewAppIds]),
        isNotNull(accessReviewApps.secondReviewers),
      ),
    )
    .orderBy(accessReviewApps.id)
  const named = { reviewerUserIds: review.secondUserIds, reviewerGroupIds: review.secondGroupIds }
  const which = sql`(${UNASSIGNED} and ${accessReviewItems.state} = 'TO_CONFIRM')`
  for (const reviewApp of reviewApps) {
    const { secondReviewers: kind } = reviewApp
    if (kind === null) continue
    const made = await askedBefore(tx, reviewApp.id, CONFIRMS)
    await assign(tx, {
      review: { ...review, ...named },
      reviewApp,
      kind,
      which,
      why: CONFIRMS,
      made,
    })
  }
}
