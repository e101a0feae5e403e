/** Tasks that a request opens for people: type, wording and lifetime. Categories: `TASK_TYPES`. Pure. */
import { GLASS_TASK } from '../../../contract/models/break-glass.ts'
import type { TaskType } from '../../../contract/models/task-type.ts'

type TaskRow = {
  taskType: TaskType
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
    taskType: 'MANAGER_APPROVAL',
    verb: 'Approve',
    preposition: 'for',
    outlivesRequest: false,
  },
  approval: {
    taskType: 'ACCESS_REQUEST_APPROVAL',
    verb: 'Approve',
    preposition: 'for',
    outlivesRequest: false,
  },
  /** Manual work. */
  grant: {
    taskType: 'MANUAL_PROVISIONING',
    verb: 'Give',
    preposition: 'for',
    outlivesRequest: false,
  },
  revoke: {
    taskType: 'MANUAL_DEPROVISIONING',
    verb: 'Take back',
    preposition: 'from',
    outlivesRequest: false,
  },
  /** Review after the fact. */
  glass: {
    taskType: GLASS_TASK,
    verb: 'Review the break-glass use of',
    preposition: 'by',
    outlivesRequest: true,
  },
} satisfies Record<string, TaskRow>

/** Kind of a task. */
export type RequestTask = keyof typeof TASKS
