/** State machine of access reviews. Pure; ../apply.ts writes. */

import type { ReviewRow } from '../../../database/schema/reviews.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import type { Transition } from '../../machine/effects.ts'
import { recorded, systemOf } from './log.ts'

/** Write of a review: its state, if it changes, and other columns. */
export type ReviewWrite = Partial<
  Pick<ReviewRow, 'status' | 'startedAt' | 'closedAt' | 'completedAt' | 'wakeAt' | 'nextAt'>
>

/** Event of a review. */
export type ReviewEvent =
  /** The launch is due. `apps`: the number of apps to prepare. */
  | { kind: 'launch_came'; apps: number; wakeAt: Date }
  /** The first of its apps is launched, or it has none. */
  | { kind: 'started' }
  /** Decisions have ended. */
  | { kind: 'decisions_ended' }
  /** All of its apps are completed. */
  | { kind: 'apps_completed'; apps: number }
  | { kind: 'deleted'; by: Actor }

/** Returns the consequences of an event. */
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
