/**
 * Actions on tasks: the categories and states that offer each action, and the states it leads to. The names
 * are Keyway's own (no public source defines them) and stable.
 */
import {
  ACTIONABLE_TASKS,
  DECISION_TASKS,
  MANUAL_TASKS,
  type TaskCategory,
  type TaskStatus,
} from '../../contract/models/task.ts'
import { entriesOf } from '../../contract/schema/keys.ts'

type TaskActionRow = {
  categories: readonly TaskCategory[]
  from: readonly TaskStatus[]
  to: readonly TaskStatus[]
  meaning: string
}

const decision = { categories: DECISION_TASKS, from: ACTIONABLE_TASKS } as const
const manual = { categories: MANUAL_TASKS, from: ACTIONABLE_TASKS } as const
const notice = { categories: ['GENERIC', 'ERROR'], from: ACTIONABLE_TASKS } as const

/** Rule of each action, by its action_type on the wire. Assignees of the task and admins may perform it. */
export const TASK_ACTIONS = {
  approve: { ...decision, to: ['COMPLETED'], meaning: 'Say yes' },
  deny: { ...decision, to: ['DISMISSED'], meaning: 'Say no' },
  confirm: { ...manual, to: ['COMPLETED'], meaning: 'It was done by hand' },
  decline: { ...manual, to: ['DISMISSED'], meaning: 'It will not be done' },
  accept: {
    categories: [...MANUAL_TASKS, 'GENERIC', 'ERROR'],
    from: ['PENDING'],
    to: ['ACCEPTED'],
    meaning: 'A person is working on it',
  },
  release: {
    categories: [...MANUAL_TASKS, 'GENERIC', 'ERROR'],
    from: ['ACCEPTED'],
    to: ['PENDING'],
    meaning: 'No one is working on it any more',
  },
  complete: { ...notice, to: ['COMPLETED'], meaning: 'It is settled' },
  dismiss: { ...notice, to: ['DISMISSED'], meaning: 'Nothing needs to be done' },
  retry: {
    categories: [...MANUAL_TASKS, 'ERROR'],
    from: ACTIONABLE_TASKS,
    to: ['RETRIED'],
    meaning: 'Try again now',
  },
  unblock: {
    categories: [...DECISION_TASKS, ...MANUAL_TASKS, 'GENERIC', 'ERROR'],
    from: ['BLOCKED', 'STAGED'],
    to: ['PENDING'],
    meaning: 'It may continue',
  },
  reopen: {
    categories: ['GENERIC'],
    from: ['COMPLETED', 'DISMISSED'],
    to: ['PENDING'],
    meaning: 'It was settled too early',
  },
} as const satisfies Record<string, TaskActionRow>

export type TaskActionType = keyof typeof TASK_ACTIONS

/** Returns the actions that a task offers in its state, in the order of the table. */
export function actionsOf(
  category: TaskCategory,
  status: TaskStatus,
): { action_type: TaskActionType; to: readonly TaskStatus[] }[] {
  return entriesOf<Record<TaskActionType, TaskActionRow>>(TASK_ACTIONS)
    .filter(([, { categories, from }]) => categories.includes(category) && from.includes(status))
    .map(([action_type, { to }]) => ({ action_type, to }))
}
