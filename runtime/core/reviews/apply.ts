/** Executor of access reviews: carries out events of a locked review, app or line, in one transaction. */
import { eq } from 'drizzle-orm'
import { type Db, one } from '../../database/database.ts'
import type { AppRow } from '../../database/schema/apps.ts'
import {
  accessReviewApps,
  accessReviewItems,
  accessReviews,
  type ItemRow,
  type ReviewAppRow,
  type ReviewRow,
} from '../../database/schema/reviews.ts'
import { lockedRow } from '../kernel/by-id.ts'
import type { CoreContext } from '../kernel/context/context.ts'
import { type Executor, execute } from '../machine/execute.ts'
import { requireMove } from '../machine/states.ts'
import { syncAgain } from '../sync/trigger.ts'
import { type LineEffect, type LineEvent, type LineWrite, lineTransition } from './machine/line.ts'
import { systemOf } from './machine/log.ts'
import { type ReviewEvent, type ReviewWrite, reviewTransition } from './machine/review.ts'
import {
  type ReviewAppEvent,
  type ReviewAppWrite,
  reviewAppTransition,
} from './machine/review-app.ts'
import { ITEM_STATE_TABLE, LEAVING, REVIEW_APP_STATES, REVIEW_STATES } from './machine/states.ts'
import { closeRemovalTask, openManualTask } from './manual-removals.ts'

/** Applies an event to a locked review. @throws Error if REVIEW_STATES forbids the move, a bug in Keyway */
export const applyToReview = (
  tx: Db,
  row: ReviewRow,
  event: ReviewEvent,
  now: Date,
): Promise<ReviewRow> => execute(tx, row, reviewTransition(row, event, now), REVIEWS)

const REVIEWS: Executor<ReviewRow, ReviewWrite, never> = {
  async write(tx, row, write) {
    if (write.status !== undefined)
      requireMove('an access review', REVIEW_STATES, row.status, write.status)
    const written = tx.update(accessReviews).set(write).where(eq(accessReviews.id, row.id))
    return one(await written.returning())
  },
  carryOut: async () => {},
}

/** Applies an event to a locked app of a review. @throws Error if REVIEW_APP_STATES forbids the move */
export const applyToReviewApp = (
  tx: Db,
  row: ReviewAppRow,
  event: ReviewAppEvent,
  now: Date,
): Promise<ReviewAppRow> => execute(tx, row, reviewAppTransition(row, event, now), REVIEW_APPS)

const REVIEW_APPS: Executor<ReviewAppRow, ReviewAppWrite, never> = {
  async write(tx, row, write) {
    if (write.status !== undefined)
      requireMove('an app of an access review', REVIEW_APP_STATES, row.status, write.status)
    const written = tx.update(accessReviewApps).set(write).where(eq(accessReviewApps.id, row.id))
    return one(await written.returning())
  },
  carryOut: async () => {},
}

/** Context of a line's removal. */
type LineSurroundings = {
  review: ReviewRow
  reviewApp: ReviewAppRow
  app: AppRow
  deps: Pick<CoreContext, 'send'>
}

/** Applies an event to a locked line. @throws Error if ITEM_STATE_TABLE forbids the move */
export const applyToLine = (
  tx: Db,
  row: ItemRow,
  event: LineEvent,
  around: LineSurroundings,
  now: Date,
): Promise<ItemRow> =>
  execute(tx, row, lineTransition(row, event, around.review, now), linesIn(around))

const linesIn = ({ review, reviewApp, app, deps }: LineSurroundings) =>
  ({
    async write(tx, row, write) {
      const { state = row.state } = write
      if (state !== row.state) requireMove('a line', ITEM_STATE_TABLE, row.state, state)
      return update(tx, row, write)
    },

    async carryOut(tx, row, effect) {
      switch (effect.kind) {
        case 'close_task':
          return closeRemovalTask(tx, row)
        case 'open_task': {
          const taskId = await openManualTask(
            tx,
            { review, reviewApp, app },
            row,
            effect.problem,
            effect.goesOn,
          )
          await update(tx, row, { taskId })
          return
        }
        case 'sync_again':
          return syncAgain(tx, systemOf(review), app.id, deps)
      }
    },
  }) satisfies Executor<ItemRow, LineWrite, LineEffect>

async function update(tx: Db, { id }: ItemRow, write: LineWrite): Promise<ItemRow> {
  return one(
    await tx.update(accessReviewItems).set(write).where(eq(accessReviewItems.id, id)).returning(),
  )
}

/** Returns a line, locked until the transaction ends, or null if it is no longer being removed. */
export async function lockLine(tx: Db, id: string): Promise<ItemRow | null> {
  const row = await lockedRow(tx, accessReviewItems, id)
  return row && LEAVING.some((state) => state === row.state) ? row : null
}
