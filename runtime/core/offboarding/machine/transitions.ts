/** State machine of offboardings. Pure. core/machine/execute.ts carries it out, ../apply.ts writes. */

import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import type { OffboardingStatus } from '../../../contract/models/user-offboarding.ts'
import type { OffboardingRow } from '../../../database/schema/offboarding.ts'
import type { ActivityOutcome, Actor } from '../../kernel/audit/activity.ts'
import { keptText } from '../../kernel/kept-text.ts'
import type { Effect, Transition } from '../../machine/effects.ts'

/** Write of an offboarding: its state, and the columns that change with it. */
export type OffboardingWrite = { status: OffboardingStatus } & Partial<
  Pick<OffboardingRow, 'cancelledAt' | 'completedAt' | 'wakeAt' | 'problem'>
>

/** Event of an offboarding. */
export type OffboardingEvent =
  | { kind: 'started'; email: string; requests: number; tokens: number }
  /** `left`: number of accounts that people decided to leave. */
  | { kind: 'completed'; left: number }
  | { kind: 'cancelled'; by: Actor }
  | { kind: 'failed'; problem: string }

type OffboardingTransition = Transition<OffboardingWrite, never>

/** Returns an offboarding as a target in the log. */
export const offboardingTarget = ({ id }: Pick<OffboardingRow, 'id'>, name: string) => ({
  target_type: 'UserOffboarding',
  name: keptText(name, 200),
  id,
})

type Entry = {
  event: ActivityEvent
  name?: string
  actor?: Actor
  metadata?: Record<string, unknown>
  outcome?: ActivityOutcome
}

function recordOf(
  row: OffboardingRow,
  { event, name = row.userId, actor, metadata = {}, outcome = 'Succeeded' }: Entry,
): Effect {
  return {
    kind: 'record',
    actor: actor ?? { domainId: row.domainId, userId: null },
    event,
    targets: [offboardingTarget(row, name)],
    metadata: { user_id: row.userId, ...metadata },
    outcome,
  }
}

/** Returns the consequences of an event. */
export function offboardingTransition(
  row: OffboardingRow,
  event: OffboardingEvent,
  now: Date,
): OffboardingTransition {
  switch (event.kind) {
    case 'started': {
      const { email: name, requests: access_requests, tokens } = event
      const metadata = { access_requests, tokens }
      return {
        writes: [{ status: 'IN_PROGRESS', wakeAt: now }],
        effects: [recordOf(row, { event: 'USER_OFFBOARDING_STARTED', name, metadata })],
      }
    }
    case 'completed':
      return {
        writes: [{ status: 'COMPLETED', completedAt: now, wakeAt: null }],
        effects: [
          recordOf(row, {
            event: 'USER_OFFBOARDING_COMPLETED',
            metadata: { accounts_left: event.left },
          }),
        ],
      }
    case 'cancelled':
      return {
        writes: [{ status: 'CANCELLED', cancelledAt: now, wakeAt: null }],
        effects: [recordOf(row, { event: 'USER_OFFBOARDING_CANCELLED', actor: event.by })],
      }
    case 'failed':
      return failed(row, event.problem)
  }
}

/** Ends an offboarding that cannot continue. The admins get a task with the reason. */
function failed(row: OffboardingRow, problem: string): OffboardingTransition {
  const short = keptText(problem, 500)
  return {
    writes: [{ status: 'FAILED', wakeAt: null, problem: keptText(problem, 1000) }],
    effects: [
      recordOf(row, {
        event: 'USER_OFFBOARDING_FAILED',
        metadata: { problem: short },
        outcome: 'Failed',
      }),
      {
        kind: 'report_error',
        domainId: row.domainId,
        trouble: {
          taskType: 'OFFBOARDING_ERROR',
          description: `The offboarding of a user failed: ${short}`,
          instructions:
            'Fix this problem, then offboard the user again: POST /lifecycle-management/user-offboardings',
          targetUserId: row.userId,
          productArea: 'OFFBOARDING',
        },
      },
    ],
  }
}
