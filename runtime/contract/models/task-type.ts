/**
 * TASK_TYPES: what tasks are about. Callers filter by type (core-interface.md section 2), so a type never
 * changes.
 */
import type { TaskCategory } from './task.ts'

type TaskTypeRow = {
  category: TaskCategory
  /** What happened, or what is asked. */
  meaning: string
}

/** A type of tasks that tell admins about a failure. */
const failure = (meaning: string) => ({ category: 'ERROR', meaning }) as const

/** Type -> its category, and when such a task is opened. */
export const TASK_TYPES = {
  MANAGER_APPROVAL: {
    category: 'MANAGER_APPROVAL',
    meaning: 'the manager of a person decides on a request',
  },
  ACCESS_REQUEST_APPROVAL: {
    category: 'APPROVAL',
    meaning: 'the deciders of a stage decide on a request',
  },
  BREAK_GLASS_REVIEW: {
    category: 'APPROVAL',
    meaning: 'a use of break-glass access is reviewed after the fact',
  },
  MANUAL_PROVISIONING: {
    category: 'PROVISIONING',
    meaning: 'access that Keyway cannot grant itself is granted by a person',
  },
  MANUAL_DEPROVISIONING: {
    category: 'DEPROVISIONING',
    meaning:
      'access that Keyway cannot revoke itself is revoked by a person: of a request, a review or an offboarding',
  },
  ACCESS_REVIEW: {
    category: 'GENERIC',
    meaning: 'a reviewer has lines of an access review to decide',
  },
  ACCESS_REQUEST_ERROR: failure('a request cannot go on'),
  ACCESS_POLICY_ERROR: failure('an access policy cannot be evaluated'),
  ACCESS_POLICIES_PAUSED: failure(
    'access policies are paused after an upgrade, until an admin resumes them',
  ),
  ACCESS_REVIEW_FAILED: failure('an access review is stuck'),
  ACCESS_REVIEW_NOT_LAUNCHED: failure('an access review cannot start for an app'),
  APP_NOT_ANSWERING: failure('the system of an app has not answered for some time'),
  OFFBOARDING_ERROR: failure('an offboarding needs help'),
  SYNC_ERROR: failure('the syncs of an app fail'),
  SYNCS_PAUSED: failure('syncs are paused after an upgrade, until an admin resumes them'),
  TOKEN_NOT_RENEWED: failure('the access token of an app could not be renewed'),
  WEBHOOK_FAILING: failure('the activity log has not reached a webhook for a day'),
} as const satisfies Record<string, TaskTypeRow>

export type TaskType = keyof typeof TASK_TYPES

/** A type of tasks of a category. */
type TypeOf<C extends TaskCategory> = {
  [T in TaskType]: (typeof TASK_TYPES)[T]['category'] extends C ? T : never
}[TaskType]

/** A type of tasks that tell admins about failures. */
export type ErrorTaskType = TypeOf<'ERROR'>
