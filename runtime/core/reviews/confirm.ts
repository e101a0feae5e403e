/** The second stage: what a reviewer kept in spite of a red hint goes to others, who confirm it or do not. */
import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import {
  accessReviewApps,
  accessReviewAssignments,
  accessReviewItems,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { CONFIRMS } from './asking.ts'
import { assign, assignmentsMade, leaveTaskThatIsOver, UNASSIGNED } from './assign.ts'

const { ardaId, why } = accessReviewAssignments

/** Asks others about the lines of some apps that wait to be confirmed and that nobody is asked about. */
export async function askToConfirm(
  tx: Db,
  review: ReviewRow,
  ardaIds: readonly string[],
): Promise<void> {
  const ardas = await tx
    .select()
    .from(accessReviewApps)
    .where(
      and(inArray(accessReviewApps.id, [...ardaIds]), isNotNull(accessReviewApps.secondReviewers)),
    )
    .orderBy(accessReviewApps.id)
  const named = { reviewerUserIds: review.secondUserIds, reviewerGroupIds: review.secondGroupIds }
  const which = sql`(${UNASSIGNED} and ${accessReviewItems.state} = 'TO_CONFIRM')`
  for (const arda of ardas) {
    const { secondReviewers: kind } = arda
    if (kind === null) continue
    const made = await askedBefore(tx, arda.id)
    await assign(tx, { review: { ...review, ...named }, arda, kind, which, why: CONFIRMS, made })
  }
}

/** Those of an app who were asked to confirm lines before; who answered all is asked by another task. */
async function askedBefore(tx: Db, arda: string): Promise<Map<string, string>> {
  const mine = and(eq(ardaId, arda), eq(why, CONFIRMS))
  await leaveTaskThatIsOver(tx, mine)
  return assignmentsMade(tx, mine)
}
