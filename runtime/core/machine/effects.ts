/**
 * What every state machine of the core answers with. A machine is pure: from a row and an event it makes a
 * transition, which is data. `execute.ts` carries it out.
 */
import type { ActivityOutcome, Actor, Target } from '../kernel/audit/activity.ts'
import type { TaskTrouble } from '../tasks/error-task.ts'

/** Effects that every machine may ask for; those of one kind of row stand beside its machine. */
export type Effect =
  | {
      kind: 'record'
      actor: Actor
      event: string
      targets: Target[]
      metadata: Record<string, unknown>
      outcome: ActivityOutcome
    }
  /** An ERROR task for the admins. */
  | { kind: 'report_error'; domainId: string; trouble: TaskTrouble }

/** The rows that are written one after the other, and the effects that follow, in their order. */
export type Transition<Write, Own> = {
  writes: readonly Write[]
  effects: readonly (Effect | Own)[]
}
