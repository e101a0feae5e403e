/** Tasks that a request opens for people: type, wording and lifetime. Pure. */
import { GLASS_TASK } from '../../../contract/models/break-glass.ts'
import type { TaskCategory } from '../../../contract/models/task.ts'

type TaskRow = {
  taskType: string
  taskCategory: TaskCategory
  /** Start of the description. */
  verb: string
  /** Word between the access and the person in the description. */
  preposition: 'for' | 'from' | 'by'
  /** Whether the task stays open when the request ends or moves on. Only an assignee closes it then. */
  outlivesRequest: boolean
}

/** Tasks by kind. */
export const TASKS = {
  manager: {
    ...{ taskType: 'MANAGER_APPROVAL', taskCategory: 'MANAGER_APPROVAL' },
    ...{ verb: 'Approve', preposition: 'for', outlivesRequest: false },
  },
  approval: {
    ...{ taskType: 'ACCESS_REQUEST_APPROVAL', taskCategory: 'APPROVAL' },
    ...{ verb: 'Approve', preposition: 'for', outlivesRequest: false },
  },
  /** Manual work. */
  grant: {
    ...{ taskType: 'MANUAL_PROVISIONING', taskCategory: 'PROVISIONING' },
    ...{ verb: 'Give', preposition: 'for', outlivesRequest: false },
  },
  revoke: {
    ...{ taskType: 'MANUAL_DEPROVISIONING', taskCategory: 'DEPROVISIONING' },
    ...{ verb: 'Take back', preposition: 'from', outlivesRequest: false },
  },
  /** Review after the fact. */
  glass: {
    ...{ taskType: GLASS_TASK, taskCategory: 'APPROVAL' },
    ...{ verb: 'Review the break-glass use of', preposition: 'by', outlivesRequest: true },
  },
} satisfies Record<string, TaskRow>

/** Kind of a task. */
export type TaskKind = keyof typeof TASKS
