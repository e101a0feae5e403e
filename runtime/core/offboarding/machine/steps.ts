/** The machine of one account of an offboarding: pure. */

import type { StepRow } from '../../../database/schema/offboarding.ts'
import type { Transition } from '../../machine/effects.ts'
import type { FailureVerdict } from '../../requests/machine/failure.ts'

export type StepWrite = Partial<
  Pick<StepRow, 'state' | 'attempts' | 'wakeAt' | 'problem' | 'taskId'>
>

/** What can happen to a step. */
export type StepEvent =
  /** The system shows that the account is unusable. */
  | { kind: 'deactivated' }
  /** A person has dealt with its task. */
  | { kind: 'settled' }
  | { kind: 'failed'; verdict: FailureVerdict; problem: string }
  | { kind: 'retried' }

export type StepEffect =
  | { kind: 'close_task'; taskId: string }
  /** People have to do it, or, with `goesOn`, may while it is still tried. */
  | { kind: 'open_task'; problem: string; goesOn: boolean }

type StepTransition = Transition<StepWrite, StepEffect>

/** What follows from an event. */
export function stepTransition(
  { attempts: before, taskId }: StepRow,
  event: StepEvent,
  now: Date,
): StepTransition {
  const close: StepEffect[] = taskId === null ? [] : [{ kind: 'close_task', taskId }]
  switch (event.kind) {
    case 'deactivated':
      return { writes: [{ state: 'done', problem: null }], effects: close }
    case 'settled':
      return { writes: [{ state: 'done' }], effects: [] }
    case 'retried':
      return { writes: [{ state: 'todo', attempts: 0, wakeAt: now, taskId: null }], effects: [] }
    case 'failed': {
      const { verdict, problem } = event
      if (verdict.kind === 'hands')
        return {
          writes: [{ state: 'manual', attempts: before + 1, problem }],
          effects: [...close, { kind: 'open_task', problem, goesOn: false }],
        }
      const { attempts, wakeAt, tell } = verdict
      const failing = { attempts, problem, wakeAt }
      if (!tell || taskId !== null) return { writes: [failing], effects: [] }
      return {
        writes: [{ ...failing, state: 'told' }],
        effects: [{ kind: 'open_task', problem, goesOn: true }],
      }
    }
  }
}
