/** Transitions from approval to granted access. */

import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import type { RequestRow } from '../../../database/schema/requests.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import { later } from '../../kernel/jobs/retry-schedules.ts'
import { decisionRecord, managerApproval } from './deciding.ts'
import type { TransitionTable } from './events.ts'
import {
  AT_REST,
  NOT_FAILING,
  type RequestEffect,
  type RequestTransition,
  type RequestWrite,
  recordOf,
} from './request.ts'
import { grantByHand } from './work-by-hand.ts'

/** Completes a request whose access is granted. Its time limit starts now. `by`: the granting person. */
function completed(
  request: RequestRow,
  event: ActivityEvent,
  now: Date,
  by?: Actor,
): RequestTransition {
  const seconds = request.expirationInSeconds
  const expiresAt = seconds === null ? null : later(now, seconds * 1000)
  const { fulfilment, preExisting } = request
  return {
    writes: [
      {
        to: 'PROVISIONED',
        set: {
          ...NOT_FAILING,
          ...{ fulfilment, pendingOperation: null, expiresAt, wakeAt: expiresAt },
        },
      },
      { to: 'COMPLETED', set: {} },
    ],
    effects: [recordOf(request, event, { how: fulfilment, was_there: preExisting }, by)],
  }
}

const grantedEvent = ({ fulfilment }: RequestRow): ActivityEvent =>
  fulfilment === 'webhook'
    ? 'APP_STORE_INLINE_WEBHOOK_PROVISIONING_FOR_ACCESS_REQUEST'
    : 'APP_STORE_AUTOMATIC_PROVISIONING_FOR_ACCESS_REQUEST'

export const GRANTING: TransitionTable<
  'approved' | 'granted' | 'granted_by_hand' | 'grant_refused' | 'grant_retried'
> = {
  approved: {
    in: ['PENDING', 'PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL'],
    next(request, { preapproved, route, instructions, decision }, now) {
      const started = { ...NOT_FAILING, ...route, pendingOperation: 'grant', wakeAt: now } as const
      const byHand = grantByHand({ status: 'PENDING_PROVISIONING' }, instructions, null)
      const isManual = route.fulfilment === 'manual'
      const writes: RequestWrite[] = [
        ...managerApproval(request, decision),
        { to: 'APPROVED', note: preapproved, set: { wakeAt: null } },
        { to: 'PENDING_PROVISIONING', set: started },
        ...(isManual ? byHand.writes : []),
      ]
      const because = { because: preapproved }
      const event = 'APP_STORE_PRE_APPROVED_ACCESS_REQUEST'
      return {
        writes,
        effects: [
          ...(preapproved === null ? [] : [recordOf(request, event, because)]),
          ...(isManual ? byHand.effects : []),
          ...decisionRecord(request, decision, writes),
          ...(isManual ? [] : [{ kind: 'schedule' } as const]),
        ],
      }
    },
  },

  granted: {
    in: ['PENDING_PROVISIONING', 'PENDING_MANUAL_PROVISIONING'],
    next(request, { manualSteps }, now) {
      const { writes, effects } =
        manualSteps === null
          ? completed(request, grantedEvent(request), now)
          : grantByHand(request, manualSteps.instructions, null)
      return {
        writes,
        effects: [
          // People asked in the meantime no longer need to act.
          { kind: 'close_tasks', as: 'COMPLETED' },
          ...effects,
          { kind: 'recall_revocations' },
        ],
      }
    },
  },

  granted_by_hand: {
    in: ['PENDING_MANUAL_PROVISIONING'],
    next(request, { by }, now) {
      // Access granted by people has to be revoked by people.
      const fulfilment = request.problem === null ? request.fulfilment : 'manual'
      const event = 'APP_STORE_MANUAL_CONFIRM_PROVISIONING_FOR_ACCESS_REQUEST'
      const { writes, effects } = completed({ ...request, fulfilment }, event, now, by)
      return { writes, effects: [...effects, { kind: 'recall_revocations' }] }
    },
  },

  grant_refused: {
    in: ['PENDING_MANUAL_PROVISIONING'],
    next: (request, { by }, now) =>
      ended(request, { to: 'DENIED_PROVISIONING', set: {} }, now, [
        recordOf(request, 'APP_STORE_MANUAL_DENY_PROVISIONING_FOR_ACCESS_REQUEST', {}, by),
      ]),
  },

  grant_retried: {
    in: ['PENDING_MANUAL_PROVISIONING'],
    next: (_request, _event, now) => ({
      writes: [
        {
          to: 'PENDING_PROVISIONING',
          set: { ...NOT_FAILING, pendingOperation: 'grant', wakeAt: now },
        },
      ],
      effects: [{ kind: 'schedule' }],
    }),
  },
}

/** Ends a request that may be partly granted. Automatic grants are revoked in the background. */
export function ended(
  { fulfilment }: Pick<RequestRow, 'fulfilment'>,
  write: RequestWrite,
  now: Date,
  effects: readonly RequestEffect[],
): RequestTransition {
  const undoes = fulfilment !== 'manual'
  const rest = undoes ? ({ pendingOperation: 'remove', wakeAt: now } as const) : AT_REST
  return {
    writes: [{ ...write, set: { ...write.set, attempts: 0, ...rest } }],
    effects: [...effects, ...(undoes ? [{ kind: 'schedule' } as const] : [])],
  }
}
