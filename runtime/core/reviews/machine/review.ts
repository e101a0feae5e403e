/** The machine of access reviews: pure; `apply.ts` beside this folder writes. */

import type { ReviewRow } from '../../../database/schema/reviews.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import type { Transition } from '../../machine/effects.ts'
import { recorded, systemOf } from './log.ts'

/** One write of a review: its state, where it changes, and what changes with it. */
export type ReviewWrite = Partial<
  Pick<ReviewRow, 'status' | 'startedAt' | 'closedAt' | 'completedAt' | 'wakeAt' | 'nextAt'>
>

/** What can happen to a review. */
export type ReviewEvent =
  /** The moment of its launch has come. `apps`: how many have to be prepared. */
  | { kind: 'launch_came'; apps: number; wakeAt: Date }
  /** The first of its apps is launched, or none has to be. */
  | { kind: 'started' }
  /** Nothing can be decided any more. */
  | { kind: 'decisions_ended' }
  /** Each of its apps has come to its end. */
  | { kind: 'apps_completed'; apps: number }
  | { kind: 'deleted'; by: Actor }

/** What follows from an event. */
export function reviewTransition(
  row: ReviewRow,
  event: ReviewEvent,
  now: Date,
): Transition<ReviewWrite, never> {
  switch (event.kind) {
    case 'launch_came': {
      const { apps, wakeAt } = event
      return apps === 0
        ? { writes: [{ status: 'IN_PROGRESS', startedAt: now, wakeAt }], effects: [] }
        : { writes: [{ status: 'SCHEDULED_IN_PREPARATION', wakeAt }], effects: [] }
    }
    case 'started':
      if (row.status === 'IN_PROGRESS') return { writes: [], effects: [] }
      return {
        writes: [{ status: 'IN_PROGRESS', startedAt: row.startedAt ?? now }],
        effects: [],
      }
    case 'decisions_ended':
      return { writes: [{ closedAt: now, wakeAt: now }], effects: [] }
    case 'apps_completed': {
      const closedAt = row.closedAt ?? now
      return {
        writes: [{ status: 'COMPLETED', completedAt: now, closedAt, wakeAt: null }],
        effects: [recorded(row, systemOf(row), 'COMPLETED', { apps: event.apps })],
      }
    }
    case 'deleted':
      return {
        writes: [{ status: 'DELETED', wakeAt: null, nextAt: null }],
        effects: [recorded(row, event.by, 'DELETED', { from: row.status })],
      }
  }
}
