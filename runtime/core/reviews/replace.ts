/** Replacement of reviewers who left: others are chosen as if they had left before the launch. */
import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import {
  accessReviewAssignments,
  accessReviewItems,
  accessReviews,
} from '../../database/schema/reviews.ts'
import { usersWhoMayAct } from '../kernel/identity/principal.ts'
import { appsOfReview } from './add-apps.ts'
import { assign, assignmentsMade, HAS_OPEN_TASK, UNASSIGNED } from './assign.ts'
import { askToConfirm } from './confirm.ts'
import { systemOf } from './machine/log.ts'
import { UNDECIDED_STATES } from './machine/states.ts'
import { closeAnswered } from './reviewer-tasks.ts'
import { lockDeciding, noteReview } from './rows.ts'

/** Reassigns undecided lines of a review none of whose reviewers can sign in. Locks its apps. */
export async function replaceLeft(tx: Db, reviewId: string): Promise<void> {
  const [review] = await tx.select().from(accessReviews).where(eq(accessReviews.id, reviewId))
  if (review?.status !== 'IN_PROGRESS' || review.closedAt !== null) return
  for (const { id } of await appsOfReview(tx, reviewId)) {
    const reviewApp = await lockDeciding(tx, id)
    if (!reviewApp) continue
    const { rowCount } = await tx.execute(sql`
      update access_review_items set assignment_id = null
      where arda_id = ${id} and state in (${UNDECIDED_STATES}) and assignment_id in (
        select s.id from access_review_assignments s
        where s.arda_id = ${id} and cardinality(s.user_ids) + cardinality(s.group_ids) > 0
          and not exists (select from users u where ${usersWhoMayAct('u')} and (
            u.id = any(s.user_ids) or exists (select from group_members m
              where m.user_id = u.id and m.group_id = any(s.group_ids)))))`)
    if (!rowCount) continue
    const which = and(UNASSIGNED, eq(accessReviewItems.state, 'OPEN')) ?? UNASSIGNED
    const made = await askedNow(tx, id)
    await assign(tx, { review, reviewApp, kind: review.reviewers, which, made })
    await askToConfirm(tx, review, [id])
    await closeAnswered(tx, id)
    await noteReview(tx, systemOf(review), review, 'REVIEWERS_REPLACED', {
      arda_id: id,
      lines: rowCount,
    })
  }
}

/** Returns the assignments of an app with an open task. Lines are added to these. */
const askedNow = (tx: Db, reviewApp: string): Promise<Map<string, string>> =>
  assignmentsMade(tx, and(eq(accessReviewAssignments.reviewAppId, reviewApp), HAS_OPEN_TASK))
