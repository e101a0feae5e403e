/** Transitions from a new request to its approval or denial. */

import type { PeopleAndGroups, RequestRow } from '../../../database/schema/requests.ts'
import { later } from '../../kernel/jobs/retry-schedules.ts'
import type { PlanStep, TransitionTable, WithDecision } from './events.ts'
import {
  AT_REST,
  type RequestEffect,
  type RequestTransition,
  type RequestWrite,
  recordOf,
} from './request.ts'

/** Time that people have to decide, in milliseconds. */
export const DECISION_MS = 30 * 24 * 3600 * 1000

/** Interval of checks of a request while people decide, in milliseconds. */
const LOOK_MS = 24 * 3600 * 1000

/** Note of a request on which no one may decide. */
export const UNDECIDABLE =
  'No one may decide on it: neither the requester nor the person to receive the access may, and there is no other approver or admin. Ask an admin to give another user the role Admin, or to name approvers for the app (PATCH /appstore/apps/{app_id}/settings), and ask again'

/** Returns the end of the time to decide. */
export const decisionEnd = ({ createdAt }: Pick<RequestRow, 'createdAt'>): Date =>
  later(createdAt, DECISION_MS)

const nextLook = (request: RequestRow, now: Date): Date =>
  new Date(Math.min(later(now, LOOK_MS).getTime(), decisionEnd(request).getTime()))

/** Returns the write for the manager's approval, which is a state of its own. */
export const managerApproval = (
  { status }: RequestRow,
  decision: WithDecision['decision'],
): RequestWrite[] =>
  status === 'PENDING_MANAGER_APPROVAL'
    ? [{ to: 'MANAGER_APPROVED', note: decision?.comment ?? null, set: {} }]
    : []

const DENIED_EVENT = 'APP_STORE_DENY_ACCESS_REQUEST'

/** Returns the log entry of a person's decision, with the state that it led to. */
export function decisionRecord(
  request: RequestRow,
  decision: WithDecision['decision'],
  writes: readonly RequestWrite[],
): RequestEffect[] {
  if (decision === null) return []
  const status = writes.at(-1)?.to ?? request.status
  const isNo = status === 'DENIED' || status === 'MANAGER_DENIED'
  const event = isNo ? DENIED_EVENT : 'APP_STORE_APPROVE_ACCESS_REQUEST'
  const { by, onBehalfOf } = decision
  const inPlaceOf = onBehalfOf === null ? {} : { on_behalf_of: onBehalfOf }
  return [recordOf(request, event, { stage: request.stage, status, ...inPlaceOf }, by)]
}

/** Opens a decision task. If no one may decide, cancels the request and tells the admins what to do. */
function requireDecision(
  request: RequestRow,
  step: PlanStep,
  approvers: PeopleAndGroups | null,
): RequestTransition {
  if (approvers !== null) {
    const task = step === 'manager' ? 'manager' : 'approval'
    const instructions = request.plan.message
    return {
      writes: [],
      effects: [{ kind: 'open_task', task, assignees: approvers, instructions }],
    }
  }
  const what = request.label === null ? 'access' : `“${request.label}”`
  return {
    writes: [{ to: 'CANCELLED', note: UNDECIDABLE, set: { wakeAt: null } }],
    effects: [
      recordOf(request, 'APP_STORE_CANCEL_ACCESS_REQUEST', { because: 'no one may decide' }),
      {
        kind: 'report_error',
        domainId: request.domainId,
        trouble: {
          taskType: 'ACCESS_REQUEST_ERROR',
          productArea: 'APPSTORE',
          description: `No one may decide on a request for ${what}; it was cancelled.`,
          instructions: `${UNDECIDABLE}.`,
          targetUserId: request.targetUserId,
        },
      },
    ],
  }
}

export const DECIDING: TransitionTable<
  | 'check_required'
  | 'decision_required'
  | 'approvers_remain'
  | 'approvers_left'
  | 'denied'
  | 'decision_expired'
> = {
  check_required: {
    in: ['PENDING'],
    next: (_request, _event, now) => ({
      writes: [{ set: { pendingOperation: 'check', wakeAt: now } }],
      effects: [{ kind: 'schedule' }],
    }),
  },

  decision_required: {
    in: ['PENDING', 'PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL'],
    next(request, { step, approvers, failure, decision }, now) {
      const set = {
        ...{ pendingOperation: null, attempts: 0, problem: null },
        wakeAt: nextLook(request, now),
      }
      const opened: RequestWrite =
        step === 'manager'
          ? { to: 'PENDING_MANAGER_APPROVAL', failure, set }
          : { to: 'PENDING_APPROVAL', failure, set: { ...set, stage: step } }
      const asked = requireDecision(request, step, approvers)
      const writes = [...managerApproval(request, decision), opened, ...asked.writes]
      return {
        writes,
        effects: [...asked.effects, ...decisionRecord(request, decision, writes)],
      }
    },
  },

  approvers_remain: {
    in: ['PENDING', 'PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL'],
    next: (request, _event, now) => ({
      writes: [{ set: { wakeAt: nextLook(request, now) } }],
      effects: [],
    }),
  },

  approvers_left: {
    in: ['PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL'],
    next(request, { approvers }, now) {
      const step = request.status === 'PENDING_MANAGER_APPROVAL' ? 'manager' : request.stage
      const asked = requireDecision(request, step, approvers)
      return {
        writes: [{ set: { wakeAt: nextLook(request, now) } }, ...asked.writes],
        effects: [{ kind: 'close_tasks', as: 'DISMISSED' }, ...asked.effects],
      }
    },
  },

  denied: {
    in: ['PENDING', 'PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL'],
    next(request, { note, because, decision, isBlocked = false }) {
      const to = request.status === 'PENDING_MANAGER_APPROVAL' ? 'MANAGER_DENIED' : 'DENIED'
      const writes: RequestWrite[] = [
        { to, note, set: isBlocked ? { ...AT_REST, isBlocked } : AT_REST },
      ]
      const effects =
        decision === null
          ? [recordOf(request, DENIED_EVENT, { status: to, because })]
          : decisionRecord(request, decision, writes)
      return { writes, effects }
    },
  },

  decision_expired: {
    in: ['PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL'],
    next: (request) => ({
      writes: [{ to: 'EXPIRED', note: 'No one decided in time', set: { wakeAt: null } }],
      effects: [
        { kind: 'close_tasks', as: 'EXPIRED' },
        recordOf(request, 'APP_STORE_ACCESS_REQUEST_EXPIRED', {}),
      ],
    }),
  },
}
