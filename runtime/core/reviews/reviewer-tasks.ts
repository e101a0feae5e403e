/** Tasks of reviewers: one for people who review lines of an app together, open while their lines are. */
import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { conflict } from '../../contract/errors/problem.ts'
import { REVIEW_TASK } from '../../contract/models/review-item.ts'
import { OPEN_TASKS } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import {
  accessReviewAssignments,
  accessReviewItems,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { OPEN_STATES, tasks } from '../../database/schema/tasks.ts'
import { keptText } from '../kernel/kept-text.ts'
import { openTask } from '../tasks/open-task.ts'
import { systemOf } from './machine/log.ts'
import { UNDECIDED, UNDECIDED_STATES } from './machine/states.ts'
import { requireUpload } from './uploads.ts'

/** Reason for asking people to confirm lines that another person kept. Stored and compared: never change it. */
export const CONFIRMS = 'confirms what another reviewer kept in spite of a red hint'

/** Reason for asking admins about lines that were not decided by the deadline. Stored and compared, too. */
export const ESCALATED = 'nobody decided by the deadline; administers the app'

const { id, reviewAppId, userIds, groupIds, taskId, why } = accessReviewAssignments

/** Returns the path that lists the lines waiting for the caller. */
export const openPath = (reviewId: string): string =>
  `/access_reviews/${reviewId}/items?mine=true${UNDECIDED.map((one) => `&state=${one}`).join('')}`

/** Opens tasks for reviewers who have open lines but no task. */
export async function askReviewers(
  tx: Db,
  review: ReviewRow,
  reviewApp: ReviewAppRow,
): Promise<void> {
  const rows = await tx
    .select({ id, userIds, groupIds, why, lines: sql<number>`(${openLines})::int` })
    .from(accessReviewAssignments)
    .where(
      and(
        eq(reviewAppId, reviewApp.id),
        isNull(taskId),
        sql`cardinality(${userIds}) + cardinality(${groupIds}) > 0`,
        sql`${openLines} > 0`,
      ),
    )
  if (rows.length === 0) return
  const [app] = await tx.select({ name: apps.name }).from(apps).where(eq(apps.id, reviewApp.appId))
  for (const row of rows) {
    const task = await openTask(tx, systemOf(review), {
      taskType: REVIEW_TASK,
      productArea: 'ACCESS_REVIEWS',
      description: keptText(
        `${row.why === CONFIRMS ? 'Confirm lines that others kept despite a red hint' : `Review ${row.lines} ${row.lines === 1 ? 'line' : 'lines'}`} of ${app?.name ?? 'an app'} for “${review.name}” until ${review.deadlineAt.toISOString().slice(0, 10)}.`,
        1000,
      ),
      instructions: `GET ${openPath(review.id)} lists them; decide with POST /access_reviews/${review.id}/items/decide. The task closes once all are decided.`,
      appId: reviewApp.appId,
      assignees: row,
    })
    await tx.update(accessReviewAssignments).set({ taskId: task }).where(eq(id, row.id))
  }
}

/** Returns the id of the review that a reviewer's task names, or null. Parses its instructions. */
export function reviewIn(task: {
  task_type: string
  instructions?: string | null | undefined
}): string | null {
  if (task.task_type !== REVIEW_TASK) return null
  return /access_reviews\/([0-9a-f-]{36})\//.exec(task.instructions ?? '')?.[1] ?? null
}

/** Returns the path of the page that attaches a file to the line of a removal task; null for another task. */
export function filePathIn(task: { instructions?: string | null | undefined }): string | null {
  const [, review, item] =
    /\/access_reviews\/([0-9a-f-]{36})\/evidence\/uploads with "item_ids":\["([0-9a-f-]{36})"\]/.exec(
      task.instructions ?? '',
    ) ?? []
  return review && item ? `/inbox/reviews/${review}/lines/${item}/file` : null
}

const openLines = sql`(select count(*) from ${accessReviewItems}
  where ${accessReviewItems.assignmentId} = ${id} and ${accessReviewItems.state} in (${UNDECIDED_STATES}))`

/** Closes the tasks of an app's reviewers who have no open line left. */
export async function closeAnswered(tx: Db, reviewApp: string): Promise<void> {
  await tx.execute(sql`
    update tasks set status = 'COMPLETED', updated_at = now()
    where status in (${OPEN_STATES}) and id in (
      select s.task_id from access_review_assignments s
      where s.arda_id = ${reviewApp} and s.task_id is not null and not exists (
        select from access_review_items i where i.assignment_id = s.id and i.state in (${UNDECIDED_STATES})))`)
}

/** Closes all tasks of an app that was removed from its review, or whose review was deleted. */
export async function dismissAsked(tx: Db, reviewApp: string): Promise<void> {
  const asked = tx
    .select({ id: taskId })
    .from(accessReviewAssignments)
    .where(eq(reviewAppId, reviewApp))
  const removing = tx
    .select({ id: accessReviewItems.taskId })
    .from(accessReviewItems)
    .where(eq(accessReviewItems.reviewAppId, reviewApp))
  for (const which of [asked, removing])
    await tx
      .update(tasks)
      .set({ status: 'DISMISSED' })
      .where(and(inArray(tasks.status, OPEN_TASKS), inArray(tasks.id, which)))
}

/**
 * Requires that a task of a review may end.
 *
 * @throws CoreError `conflict` if the reviewer has undecided lines, or a required file has not been attached
 */
export async function judgeReviewTask(
  tx: Db,
  task: { id: string; taskType: string; productArea: string | null },
  to: string,
): Promise<void> {
  if (task.productArea === 'ACCESS_REVIEWS' && to === 'COMPLETED') await requireUpload(tx, task.id)
  if (task.taskType !== REVIEW_TASK || !['COMPLETED', 'DISMISSED'].includes(to)) return
  const [row] = await tx
    .select({ lines: sql<number>`(${openLines})::int` })
    .from(accessReviewAssignments)
    .where(eq(taskId, task.id))
  if (row && row.lines > 0)
    throw conflict(
      `${row.lines} lines are open; the task closes once you have decided them with POST /access_reviews/{access_review_id}/items/decide`,
    )
}
