/** Types of the machine of access requests: the row, the writes of a transition, and its effects. */

import type { RequestStatus } from '../../../contract/models/access-request.ts'
import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import type { PeopleAndGroups, RequestRow } from '../../../database/schema/requests.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import { keptText } from '../../kernel/kept-text.ts'
import type { Effect, Transition } from '../../machine/effects.ts'
import type { RequestTask } from './tasks.ts'

/** Columns that change together with a state. */
export type RequestChange = Partial<
  Pick<
    RequestRow,
    | 'stage'
    | 'expiresAt'
    | 'pendingOperation'
    | 'fulfilment'
    | 'entitlement'
    | 'carriedAppId'
    | 'preExisting'
    | 'attempts'
    | 'failingSince'
    | 'problem'
    | 'wakeAt'
    | 'revokedById'
    | 'isBlocked'
  >
>

/**
 * Write of a request. Without `to` its state stays. `note` is visible to everyone who sees the request,
 * `failure` to people who may read the tasks of its app.
 */
export type RequestWrite = {
  to?: RequestStatus
  note?: string | null
  failure?: string | null
  set: RequestChange
}

/** Effects that only requests have. */
export type OwnEffect =
  | { kind: 'close_tasks'; as: 'DISMISSED' | 'EXPIRED' | 'COMPLETED' }
  | {
      kind: 'open_task'
      task: RequestTask
      /** `admins`: people who do manual work for the app, as configured when the task is opened. */
      assignees: PeopleAndGroups | 'admins'
      instructions: string | null
    }
  /** Begins or ends a reason in the history of access. */
  | { kind: 'begin_reason' }
  | { kind: 'end_reason' }
  /** Closes the shared account if this was the last request that needed it. */
  | { kind: 'close_shared_account' }
  /** Withdraws tasks to revoke by hand the access that this request was granted. */
  | { kind: 'recall_revocations' }
  /** Queues the pending operation as a background job, once the transaction has committed. */
  | { kind: 'schedule' }

/** Effect of a request. */
export type RequestEffect = Effect | OwnEffect

/** Transition of a request. */
export type RequestTransition = Transition<RequestWrite, OwnEffect>

/** Returns the host as an actor. */
export const systemOf = ({ domainId }: Pick<RequestRow, 'domainId'>): Actor => ({
  domainId,
  userId: null,
})

/** Returns a request as a target in the log. */
const requestTarget = ({ id, label }: Pick<RequestRow, 'id' | 'label'>) => ({
  target_type: 'AccessRequest',
  name: keptText(label ?? 'app access', 200),
  id,
})

/** Returns a log entry about a request, under its name in core-interface.md section 1.17 if it has one. */
export const recordOf = (
  request: RequestRow,
  event: ActivityEvent,
  metadata: Record<string, unknown>,
  actor: Actor = systemOf(request),
): Extract<Effect, { kind: 'record' }> => ({
  kind: 'record',
  actor,
  event,
  targets: [requestTarget(request)],
  metadata: { app_id: request.appId, target_user_id: request.targetUserId, ...metadata },
  outcome: 'Succeeded',
})

/** Columns that clear the failures of the pending operation. */
export const NOT_FAILING = { attempts: 0, failingSince: null, problem: null } as const

/** Columns that leave nothing to do, now or later. */
export const AT_REST = { pendingOperation: null, wakeAt: null } as const
