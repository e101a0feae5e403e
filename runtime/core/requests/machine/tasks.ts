/** TASKS: what a request asks people for -> the task's type, words, and what becomes of it. Pure. */
import { GLASS_TASK } from '../../../contract/models/break-glass.ts'
import type { TaskCategory } from '../../../contract/models/task.ts'

type TaskRow = {
  taskType: string
  taskCategory: TaskCategory
  /** The description begins with it. */
  verb: string
  /** What stands between the access and the person. */
  preposition: 'for' | 'from' | 'by'
  /** Whether it stays open where the request ends or goes on: only who has it closes it. */
  outlivesRequest: boolean
}

export const TASKS = {
  manager: {
    ...{ taskType: 'MANAGER_APPROVAL', taskCategory: 'MANAGER_APPROVAL' },
    ...{ verb: 'Approve', preposition: 'for', outlivesRequest: false },
  },
  approval: {
    ...{ taskType: 'ACCESS_REQUEST_APPROVAL', taskCategory: 'APPROVAL' },
    ...{ verb: 'Approve', preposition: 'for', outlivesRequest: false },
  },
  /** Work by hand. */
  grant: {
    ...{ taskType: 'MANUAL_PROVISIONING', taskCategory: 'PROVISIONING' },
    ...{ verb: 'Give', preposition: 'for', outlivesRequest: false },
  },
  revoke: {
    ...{ taskType: 'MANUAL_DEPROVISIONING', taskCategory: 'DEPROVISIONING' },
    ...{ verb: 'Take back', preposition: 'from', outlivesRequest: false },
  },
  /** A review afterwards. */
  glass: {
    ...{ taskType: GLASS_TASK, taskCategory: 'APPROVAL' },
    ...{ verb: 'Review the break-glass use of', preposition: 'by', outlivesRequest: true },
  },
} satisfies Record<string, TaskRow>

export type TaskKind = keyof typeof TASKS
