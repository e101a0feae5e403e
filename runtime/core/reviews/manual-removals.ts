/** Lines that people have to remove: their tasks and the outcomes. */
import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import type { Db } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import {
  accessReviewApps,
  accessReviewItems,
  type ItemRow,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { keptText } from '../kernel/kept-text.ts'
import { manualWorkersOf } from '../requests/approvers.ts'
import { namedAccount } from '../tasks/named-account.ts'
import { completeOpenTask, openTask } from '../tasks/open-task.ts'
import { sendReviewJob } from './keys.ts'
import { systemOf } from './machine/log.ts'

type Where = { review: ReviewRow; reviewApp: ReviewAppRow; app: AppRow }

/** Opens a task to remove a line, closing an earlier one. @returns the task's id */
export async function openManualTask(
  tx: Db,
  { review, reviewApp, app }: Where,
  item: ItemRow,
  problem: string,
  goesOn: boolean,
): Promise<string> {
  await closeRemovalTask(tx, item)
  const { domainId } = review
  const parties = { domainId, appId: app.id, requesterId: null, targetUserId: item.userId ?? '' }
  const { users: userIds, groups: groupIds } = await manualWorkersOf(tx, parties)
  const named = await namedAccount(tx, app.id, item.account)
  const what =
    item.label === null ? 'the account' : `“${keptText(item.label, 200)}” from the account`
  return openTask(tx, systemOf(review), {
    taskType: 'MANUAL_DEPROVISIONING',
    productArea: 'ACCESS_REVIEWS',
    description: `Remove ${what} ${named} in ${app.name}: the access review “${review.name}” rejected it.`,
    instructions: `${
      goesOn
        ? `Keyway could not remove it yet: ${problem}\n\nKeyway keeps trying, and this task closes once it is removed.`
        : `It could not be removed automatically: ${problem}\n\nThe line counts as removed once the system or the next sync no longer shows it.`
    }${reviewApp.evidenceUpload === 'ALWAYS' ? wantsFile(review, item) : ''}`,
    appId: app.id,
    ...(item.userId === null ? {} : { targetUserId: item.userId }),
    assignees: { userIds, groupIds },
  })
}

const wantsFile = ({ id }: ReviewRow, item: ItemRow): string =>
  `\n\nFirst attach a file as evidence: POST /access_reviews/${id}/evidence/uploads with "item_ids":["${item.id}"].`

/** Closes the removal task of a line. */
export async function closeRemovalTask(tx: Db, { taskId }: ItemRow): Promise<void> {
  if (taskId !== null) await completeOpenTask(tx, taskId)
}

/** Wakes a line after a person has resolved its task. */
export async function reopenManualTask(
  tx: Db,
  taskId: string,
  deps: Pick<CoreContext, 'send' | 'now'>,
): Promise<void> {
  const now = await deps.now(tx)
  const [item] = await tx
    .update(accessReviewItems)
    .set({ wakeAt: now })
    .where(
      and(
        eq(accessReviewItems.taskId, taskId),
        inArray(accessReviewItems.state, ['REMOVING', 'WAITING_FOR_HANDS']),
      ),
    )
    .returning({ reviewAppId: accessReviewItems.reviewAppId })
  if (!item) return
  await tx
    .update(accessReviewApps)
    .set({ wakeAt: now })
    .where(and(eq(accessReviewApps.id, item.reviewAppId), isNotNull(accessReviewApps.removalAt)))
  await sendReviewJob(tx, { kind: 'app', id: item.reviewAppId }, deps)
}

/** Returns the time when the next line of an app is due, or null. */
export async function nextWake(tx: Db, reviewAppId: string): Promise<Date | null> {
  const [row] = await tx
    .select({ at: sql<string | null>`min(${accessReviewItems.wakeAt})` })
    .from(accessReviewItems)
    .where(and(eq(accessReviewItems.reviewAppId, reviewAppId), isNotNull(accessReviewItems.wakeAt)))
  return row?.at ? new Date(row.at) : null
}
