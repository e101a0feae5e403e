/** State machine of the apps of an access review. Pure; ../apply.ts writes. */
import type { ReviewAppRow, ReviewRow } from '../../../database/schema/reviews.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import type { Transition } from '../../machine/effects.ts'
import { type NamedReview, recorded, systemOf } from './log.ts'

/** Write of an app: its state, if it changes, and other columns. */
export type ReviewAppWrite = Partial<
  Pick<
    ReviewAppRow,
    | 'status'
    | 'population'
    | 'accountCount'
    | 'seenRun'
    | 'problem'
    | 'wakeAt'
    | 'launchedAt'
    | 'secondReviewers'
    | 'removalAt'
    | 'completedAt'
  >
>

/** Event of an app of a review. */
export type ReviewAppEvent =
  | ({ kind: 'lines_taken_down' } & Pick<ReviewAppRow, 'population' | 'accountCount' | 'seenRun'>)
  /** Its reviewers are asked. */
  | { kind: 'launched'; review: NamedReview & Pick<ReviewRow, 'secondReviewers'> }
  /** Decisions have ended, and rejected lines have to be removed. */
  | {
      kind: 'removal_started'
      by: Actor
      review: NamedReview
      rejected: number
      notDecided: number
    }
  /** The remaining removals were counted. `wakeAt`: when the next line is due. */
  | { kind: 'counted'; removing: number; waiting: number; wakeAt: Date | null }
  | { kind: 'taken_out' }

/** Returns the consequences of an event. */
export function reviewAppTransition(
  row: ReviewAppRow,
  event: ReviewAppEvent,
  now: Date,
): Transition<ReviewAppWrite, never> {
  switch (event.kind) {
    case 'lines_taken_down': {
      const { population, accountCount, seenRun } = event
      const taken = { population, accountCount, seenRun, problem: null, wakeAt: now }
      return { writes: [{ status: 'ASSIGNING_REVIEWERS', ...taken }], effects: [] }
    }
    case 'launched': {
      const { secondReviewers } = event.review
      const metadata = {
        ...{ arda_id: row.id, app_id: row.appId, second_reviewers: secondReviewers },
        population: row.population,
      }
      return {
        writes: [{ status: 'IN_PROGRESS', launchedAt: now, wakeAt: null, secondReviewers }],
        effects: [recorded(event.review, systemOf(event.review), 'APP_LAUNCHED', metadata)],
      }
    }
    case 'removal_started': {
      const { by, review, rejected, notDecided: not_decided } = event
      const metadata = { arda_id: row.id, app_id: row.appId, rejected, not_decided }
      return {
        writes: [{ removalAt: now, wakeAt: now }],
        effects: [recorded(review, by, 'REMOVAL_STARTED', metadata)],
      }
    }
    case 'counted':
      return { writes: [counted(row, event, now)], effects: [] }
    case 'taken_out':
      return { writes: [{ status: 'DELETED', wakeAt: null }], effects: [] }
  }
}

function counted(
  { status }: ReviewAppRow,
  { removing, waiting, wakeAt }: Extract<ReviewAppEvent, { kind: 'counted' }>,
  now: Date,
): ReviewAppWrite {
  const to = removing > 0 ? 'IN_PROGRESS' : waiting > 0 ? 'WAITING_FOR_MANUAL_ACTION' : 'COMPLETED'
  if (to === status) return { wakeAt }
  return { status: to, wakeAt, completedAt: to === 'COMPLETED' ? now : null }
}
