/** State machine of one account of an offboarding. Pure. */

import type { StepRow } from '../../../database/schema/offboarding.ts'
import type { Effect, Transition } from '../../machine/effects.ts'
import type { FailureVerdict } from '../../requests/machine/failure.ts'
import { offboardingTarget } from './transitions.ts'

export type StepWrite = Partial<
  Pick<StepRow, 'state' | 'attempts' | 'wakeAt' | 'problem' | 'taskId'>
>

/** Event of a step. */
export type StepEvent =
  /** The system shows that the account is unusable. */
  | { kind: 'deactivated' }
  /** A person reports it done, and the system cannot be read; `unread` is the reason. */
  | { kind: 'confirmed'; unread: string }
  /** A person decided that the account of `userId` stays, or its task ended unused; `by` is null then. */
  | { kind: 'declined'; userId: string; by: string | null }
  /** The automatic try failed. `isAsked`: a person has an open task for it. */
  | { kind: 'failed'; verdict: FailureVerdict; problem: string; isAsked: boolean }
  | { kind: 'retried' }

export type StepEffect =
  | { kind: 'close_task'; taskId: string }
  /** Asks people to do it. With `goesOn`, automatic tries continue. */
  | { kind: 'open_task'; problem: string; goesOn: boolean }

type StepTransition = Transition<StepWrite, StepEffect>

/** Returns the consequences of an event. */
export function stepTransition(step: StepRow, event: StepEvent, now: Date): StepTransition {
  const { attempts: before, taskId } = step
  const close: StepEffect[] = taskId === null ? [] : [{ kind: 'close_task', taskId }]
  switch (event.kind) {
    case 'deactivated':
      return { writes: [{ state: 'done', problem: null }], effects: close }
    case 'confirmed':
      return {
        writes: [
          { state: 'done', problem: `done by hand, according to a person: ${event.unread}` },
        ],
        effects: [],
      }
    case 'declined':
      return {
        writes: [{ state: 'left', problem: 'not done: its task was declined or has expired' }],
        effects: [left(step, event.userId, event.by)],
      }
    case 'retried':
      return { writes: [{ state: 'todo', attempts: 0, wakeAt: now, taskId: null }], effects: [] }
    case 'failed': {
      const { verdict, problem, isAsked } = event
      if (verdict.kind === 'manual')
        return {
          writes: [{ state: 'manual', attempts: before + 1, problem }],
          effects: [...close, { kind: 'open_task', problem, goesOn: false }],
        }
      const { attempts, wakeAt, tell } = verdict
      const failing = { attempts, problem, wakeAt }
      if (!tell || isAsked) return { writes: [failing], effects: [] }
      return {
        writes: [{ ...failing, state: 'told' }],
        effects: [{ kind: 'open_task', problem, goesOn: true }],
      }
    }
  }
}

/** Returns the log entry of an account that stays, without its id, which is personal data. */
const left = (
  { domainId, offboardingId, id, appId }: StepRow,
  userId: string,
  by: string | null,
): Effect => ({
  kind: 'record',
  actor: { domainId, userId: by },
  event: 'USER_OFFBOARDING_ACCOUNT_LEFT',
  targets: [offboardingTarget({ id: offboardingId }, userId)],
  metadata: { user_id: userId, step_id: id, app_id: appId },
  outcome: 'Succeeded',
})
