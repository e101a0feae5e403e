/** Reminders to the reviewers of a review, at its due times and on request. */
import { eq, sql } from 'drizzle-orm'
import { conflict } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { accessReviews, type ReviewRow } from '../../database/schema/reviews.ts'
import { ACTIONABLE_STATES } from '../../database/schema/tasks.ts'
import type { Actor } from '../kernel/audit/activity.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { requireUnderWay } from './decide.ts'
import { UNDECIDED_STATES } from './machine/states.ts'
import { openPath } from './reviewer-tasks.ts'
import { findReview, noteReview } from './rows.ts'

/** Minimum time between a reminder and a requested one, in milliseconds: each may send a mail. */
const PAUSE_MS = 60 * 60 * 1000

/**
 * Reminds the reviewers who have open lines.
 *
 * @throws CoreError `not_found`, `conflict` if nothing is open, or within an hour of the last reminder
 */
export async function remindNow(
  db: Db,
  principal: Principal,
  id: string,
  { now: clock }: Pick<CoreContext, 'now'>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const review = await findReview(tx, principal, id, true)
    requireUnderWay(review)
    const now = await clock(tx)
    if (review.remindedAt !== null && now.getTime() - review.remindedAt.getTime() < PAUSE_MS)
      throw conflict('Its reviewers were reminded within the last hour; try again later')
    if ((await remindReviewers(tx, principal, review, now)) === 0)
      throw conflict('None of its lines is waiting for a reviewer')
    await tx.update(accessReviews).set({ remindedAt: now }).where(eq(accessReviews.id, review.id))
  })
}

/** Writes the number of open lines into reviewers' tasks, and logs it. @returns the number of tasks */
export async function remindReviewers(
  tx: Db,
  actor: Actor,
  review: ReviewRow,
  now: Date,
): Promise<number> {
  const until = review.deadlineAt.toISOString().slice(0, 10)
  const { rows } = await tx.execute<{ lines: number }>(sql`
    update tasks t set updated_at = now(), instructions = 'Reminder of ' || ${now.toISOString().slice(0, 10)}::text ||
        ': ' || open.lines || ' lines are open, to be decided until ' || ${until}::text || E'.\n\n' ||
        'GET ' || ${openPath(review.id)}::text || ' lists them; decide with POST /access_reviews/' ||
        ${review.id}::text || '/items/decide. The task closes once all are decided.'
    from (select s.task_id, count(*) as lines from access_review_assignments s
      join access_review_apps a on a.id = s.arda_id and a.review_id = ${review.id} and a.status = 'IN_PROGRESS'
      join access_review_items i on i.assignment_id = s.id and i.state in (${UNDECIDED_STATES})
      where s.task_id is not null group by 1) open
    where t.id = open.task_id and t.status in (${ACTIONABLE_STATES}) returning open.lines::int as lines`)
  if (rows.length === 0) return 0
  const lines = rows.reduce((sum, row) => sum + row.lines, 0)
  await noteReview(tx, actor, review, 'REMINDED', { tasks: rows.length, lines })
  return rows.length
}
