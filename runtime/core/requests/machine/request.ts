/** An access request as its machine knows it: the row, what a transition writes, and which effects follow. */

import type { RequestStatus } from '../../../contract/models/access-request.ts'
import type { Approvers, RequestRow } from '../../../database/schema/requests.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import { keptText } from '../../kernel/kept-text.ts'
import type { Effect, Transition } from '../../machine/effects.ts'
import type { TaskKind } from './tasks.ts'

/** What is changed together with a state. */
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
 * One write of a request. Without `to` its state stays. `note` is read by everybody who sees the request,
 * `failure` by those who may read the tasks of its app.
 */
export type RequestWrite = {
  to?: RequestStatus
  note?: string | null
  failure?: string | null
  set: RequestChange
}

/** Effects of requests alone. */
export type OwnEffect =
  | { kind: 'close_tasks'; as: 'DISMISSED' | 'EXPIRED' | 'COMPLETED' }
  | {
      kind: 'open_task'
      task: TaskKind
      /** `admins`: those who do work by hand for the app, as they are when the task is opened. */
      assignees: Approvers | 'admins'
      instructions: string | null
    }
  /** The history of who has what, and why. */
  | { kind: 'begin_reason' }
  | { kind: 'end_reason' }
  /** The shared account is closed if this was the last request that needed it. */
  | { kind: 'close_shared_account' }
  /** People need not revoke by hand any more what this request was granted. */
  | { kind: 'recall_revocations' }
  /** The background does the pending operation once the transaction is over. */
  | { kind: 'schedule' }

export type RequestEffect = Effect | OwnEffect

export type RequestTransition = Transition<RequestWrite, OwnEffect>

/** The host itself as an actor. */
export const systemOf = ({ domainId }: Pick<RequestRow, 'domainId'>): Actor => ({
  domainId,
  userId: null,
})

/** A request in the log. */
const requestTarget = ({ id, label }: Pick<RequestRow, 'id' | 'label'>) => ({
  target_type: 'AccessRequest',
  name: keptText(label ?? 'app access', 200),
  id,
})

/** A log entry about a request, under the names of core-interface.md section 1.17 where it has one. */
export const recordOf = (
  request: RequestRow,
  event: string,
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

/** Nothing has failed of what is left to do. */
export const NOT_FAILING = { attempts: 0, failingSince: null, problem: null } as const

/** Nothing is left to do, and nothing has to be looked at later. */
export const AT_REST = { pendingOperation: null, wakeAt: null } as const
