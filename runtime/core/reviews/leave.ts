/**
 * Takes a deleted user out of the reviews that name them as a reviewer. Lines that they were to decide are given to others
 * when the review is looked at next (replace.ts); who was asked stays in the evidence.
 */
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import { accessReviews } from '../../database/schema/reviews.ts'
import type { DeletedUser } from '../kernel/context/listeners.ts'
import { reviewTarget } from './machine/log.ts'

export async function leaveReviews(
  tx: Db,
  { domainId, userId, record }: DeletedUser,
): Promise<void> {
  const { reviewerUserIds, secondUserIds, nextAt, completedAt } = accessReviews
  const without = (ids: typeof reviewerUserIds) => sql`array_remove(${ids}, ${userId}::uuid)`
  const rows = await tx
    .update(accessReviews)
    .set({ reviewerUserIds: without(reviewerUserIds), secondUserIds: without(secondUserIds) })
    .where(
      and(
        eq(accessReviews.domainId, domainId),
        sql`(${userId}::uuid = any(${reviewerUserIds}) or ${userId}::uuid = any(${secondUserIds}))`,
        // Of those that are over, what a recurring one hands on to the next.
        sql`(${completedAt} is null or ${nextAt} is not null)`,
      ),
    )
    .returning()
  for (const review of rows)
    await record('ACCESS_REVIEW_SETTINGS_UPDATED', [reviewTarget(review)], {
      changed: ['user_ids', 'second_user_ids'],
    })
}
