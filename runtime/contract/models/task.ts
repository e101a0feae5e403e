/** Tasks: core-interface.md section 2; service.md section 2.7. */
import * as v from 'valibot'
import { described, maybe, nullable, object, strictObject, utcMoment } from '../schema/schemas.ts'
import { User } from './person.ts'
import { listOf } from './reference.ts'

export const TASK_STATUSES = [
  'PENDING',
  'ACCEPTED',
  'COMPLETED',
  'DISMISSED',
  'BLOCKED',
  'STAGED',
  'RETRIED',
  'EXPIRED',
] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

/** Status -> what it expects of people: to act, to wait until they may, or nothing. */
const TASK_STATES = {
  PENDING: 'act',
  ACCEPTED: 'act',
  COMPLETED: 'nothing',
  DISMISSED: 'nothing',
  BLOCKED: 'wait',
  STAGED: 'wait',
  RETRIED: 'nothing',
  EXPIRED: 'nothing',
} as const satisfies Record<TaskStatus, 'act' | 'wait' | 'nothing'>

/** Statuses of tasks that people can act on now. */
export const ACTIONABLE_TASKS = TASK_STATUSES.filter((status) => TASK_STATES[status] === 'act')
/** Statuses of tasks that have not ended. */
export const OPEN_TASKS = TASK_STATUSES.filter((status) => TASK_STATES[status] !== 'nothing')

/**
 * Progress of a task that other work waits for. `none`: there is no task, or it ended without an outcome.
 * `asked`: it waits for a person. `done`, `declined`: the person's outcome.
 */
export type TaskProgress = 'none' | 'asked' | 'done' | 'declined'

export const TASK_CATEGORIES = [
  'MANAGER_APPROVAL',
  'APPROVAL',
  'PROVISIONING',
  'DEPROVISIONING',
  'ERROR',
  'GENERIC',
] as const
export type TaskCategory = (typeof TASK_CATEGORIES)[number]

/** Category -> what its tasks require: a decision, the manual work of a request, or attention. */
const TASK_DEMANDS = {
  MANAGER_APPROVAL: 'decide',
  APPROVAL: 'decide',
  PROVISIONING: 'do',
  DEPROVISIONING: 'do',
  ERROR: 'see',
  // Also of access reviews: a reviewer decides their lines, not the task, which `approve` and `deny` would end.
  GENERIC: 'see',
} as const satisfies Record<TaskCategory, 'decide' | 'do' | 'see'>

/** A category of manual work. */
export type ManualTask = {
  [C in TaskCategory]: (typeof TASK_DEMANDS)[C] extends 'do' ? C : never
}[TaskCategory]

/** Reports whether tasks of a category ask for a decision. */
export const isDecision = (category: TaskCategory): boolean => TASK_DEMANDS[category] === 'decide'
/** Reports whether tasks of a category ask for manual work. */
export const isByHand = (category: TaskCategory): category is ManualTask =>
  TASK_DEMANDS[category] === 'do'

/** Categories of tasks that require a decision, and of manual work. */
export const DECISION_TASKS = TASK_CATEGORIES.filter(isDecision)
export const MANUAL_TASKS = TASK_CATEGORIES.filter(isByHand)

export const TASK_PRODUCT_AREAS = [
  'ACCESS_REVIEWS',
  'APPSTORE',
  'MOVER',
  'ATTRIBUTE_SYNC',
  'OFFBOARDING',
  'ONBOARDING',
  'PLATFORM',
  'SAVINGS',
] as const

export const TaskAction = strictObject('TaskAction', 'An action that is possible on a task now', {
  action_type: v.string(),
  transitions: v.array(v.strictObject({ transition_to: nullable(v.picklist(TASK_STATUSES)) })),
})

export const TaskAssignee = strictObject('TaskAssignee', {
  id: v.string(),
  type: v.picklist(['USER', 'GROUP']),
  name: nullable(v.string()),
  email: nullable(v.string()),
})

export const TaskComment = strictObject('TaskComment', {
  body: v.string(),
  created_by: nullable(User),
  created_at: utcMoment,
})

export const Task = strictObject('Task', {
  id: v.string(),
  task_type: v.string(),
  task_category: v.picklist(TASK_CATEGORIES),
  status: v.picklist(TASK_STATUSES),
  description: nullable(v.string()),
  instructions: nullable(v.string()),
  product_area: nullable(v.picklist(TASK_PRODUCT_AREAS)),
  app: nullable(v.strictObject({ id: v.string() })),
  target_user: nullable(User),
  resolved_by: nullable(User),
  resolved_for: nullable(described(User, 'User in whose place a delegate decided')),
  created_at: utcMoment,
  updated_at: utcMoment,
  assignees: nullable(v.array(TaskAssignee)),
  delegates: nullable(
    described(
      v.array(TaskAssignee),
      'Users who may currently decide in place of assignees, in addition to them',
    ),
  ),
  actions: nullable(v.array(TaskAction)),
  comments: nullable(v.array(TaskComment)),
  access_request_id: nullable(v.string()),
  requestable_permission_id: nullable(v.string()),
})
export type Task = v.InferInput<typeof Task>

/** Maximum length of a comment, in characters. */
export const MAX_COMMENT = 4000

export const PerformTaskActionInput = object('PerformTaskActionInput', {
  action_type: v.string(),
  transition_to: maybe(v.string()),
  reason: maybe(
    v.pipe(
      v.string(),
      v.maxLength(MAX_COMMENT),
      v.metadata({ description: 'Reason; added as a comment on the task' }),
    ),
  ),
})

export const ReassignTaskInput = object('ReassignTaskInput', {
  user_ids: maybe(listOf(v.string())),
  group_ids: maybe(listOf(v.string())),
  replace: v.nullish(v.boolean(), true),
})
export type ReassignTaskInput = v.InferOutput<typeof ReassignTaskInput>

export const AddCommentInput = object('AddCommentInput', {
  comment: v.pipe(v.string(), v.minLength(1), v.maxLength(MAX_COMMENT)),
})
