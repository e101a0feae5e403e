/**
 * Result type of every state machine of the core. A machine is pure: it turns a row and an event into a
 * transition, which is data. `execute.ts` carries it out.
 */
import type { ActivityEvent } from '../../contract/models/activity-event.ts'
import type { ActivityOutcome, Actor, Target } from '../kernel/audit/activity.ts'
import type { TaskFailure } from '../tasks/error-task.ts'

/** Effects that every machine may use. Effects of one kind of row are declared with its machine. */
export type Effect =
  | {
      kind: 'record'
      actor: Actor
      event: ActivityEvent
      targets: Target[]
      metadata: Record<string, unknown>
      outcome: ActivityOutcome
    }
  /** Opens an ERROR task for the admins. */
  | { kind: 'report_error'; domainId: string; trouble: TaskFailure }

/** Rows to write one after the other, then effects to carry out in order. */
export type Transition<Write, Own> = {
  writes: readonly Write[]
  effects: readonly (Effect | Own)[]
}
