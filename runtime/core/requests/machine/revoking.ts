/** Transitions of ending access: cancelled, expired, or without its reason. */

import { REQUEST_STATUSES } from '../../../contract/models/access-request.ts'
import type { ActivityEvent } from '../../../contract/models/activity-event.ts'
import type { RequestRow } from '../../../database/schema/requests.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import type { Kept, TransitionTable } from './events.ts'
import { ended } from './granting.ts'
import {
  AT_REST,
  NOT_FAILING,
  type RequestEffect,
  type RequestTransition,
  type RequestWrite,
  recordOf,
  systemOf,
} from './request.ts'
import { PENDING_STATES, REVOCABLE_STATES, standingOf, statesThatAre } from './states.ts'
import { askMeanwhile, grantByHand, isOver, revokeByHand } from './work-by-hand.ts'

/** Starts to revoke the access. */
const leaving = (
  to: 'PENDING_DEPROVISIONING' | 'REVERTING',
  note: string | null,
  now: Date,
  more: RequestWrite['set'] = {},
): RequestTransition => ({
  writes: [{ to, note, set: { ...NOT_FAILING, pendingOperation: 'remove', wakeAt: now, ...more } }],
  effects: [{ kind: 'close_tasks', as: 'DISMISSED' }, { kind: 'schedule' }],
})

/** Reports whether the access ends because its reason no longer applies, not because its time is over. */
const isReverting = ({ notes }: RequestRow): boolean => Object.hasOwn(notes, 'REVERTING')

/** Notes of requests that are over, whose access still exists. Visible to everyone who sees the request. */
const KEPT_NOTES: Record<Kept, string> = {
  was_there: 'The access existed before this request and stays',
  other_request: 'Another request gives the same access, which stays until that request ends',
  needed: 'Another request needs the account, which stays until that request ends',
  not_given: 'Nothing had been granted yet',
}

/** Ends a request whose access was revoked or is kept. `by` is the revoking person, if any. */
function gone(
  request: RequestRow,
  event: ActivityEvent,
  kept: Kept | null,
  by?: Actor,
): RequestTransition {
  const set = { ...NOT_FAILING, ...AT_REST }
  const to = isReverting(request) ? 'REVERTED' : 'TIME_BASED_EXPIRED'
  const note = kept === null ? null : KEPT_NOTES[kept]
  const said = { how: request.fulfilment, ...(kept === null ? {} : { kept }) }
  return {
    writes: [isOver(request) ? { set } : { to, note, set }],
    effects: [recordOf(request, event, said, by)],
  }
}

const revokedEvent = ({ fulfilment }: RequestRow): ActivityEvent =>
  fulfilment === 'webhook'
    ? 'APP_STORE_INLINE_WEBHOOK_DEPROVISIONING_FOR_ACCESS_REQUEST'
    : 'APP_STORE_AUTOMATIC_DEPROVISIONING_FOR_ACCESS_REQUEST'

/** Cancels an uncompleted request, and revokes partial grants. `by` is null if the host cancels it. */
function cancelled(
  request: RequestRow,
  by: Actor | null,
  note: string | null,
  now: Date,
): RequestTransition {
  const from = { from: request.status }
  const said = by === null ? { ...from, because: note } : from
  const effects: RequestEffect[] = [
    recordOf(request, 'APP_STORE_CANCEL_ACCESS_REQUEST', said, by ?? systemOf(request)),
    { kind: 'close_tasks', as: 'DISMISSED' },
  ]
  const write: RequestWrite = { to: 'CANCELLED', note, set: { attempts: 0 } }
  if (standingOf(request.status) === 'wanted') return ended(request, write, now, effects)
  return { writes: [{ ...write, set: { ...write.set, ...AT_REST } }], effects }
}

export const REVOKING: TransitionTable<
  | 'access_expired'
  | 'reason_gone'
  | 'revocation_ordered'
  | 'revoked'
  | 'revoked_by_hand'
  | 'revocation_declined'
  | 'revocation_retried'
  | 'revocation_expired'
  | 'leftover_settled'
  | 'operation_failed'
  | 'cancelled'
  | 'nothing_due'
> = {
  access_expired: {
    in: ['COMPLETED'],
    next: (_request, _event, now) => leaving('PENDING_DEPROVISIONING', null, now),
  },

  reason_gone: {
    in: [...PENDING_STATES, 'COMPLETED'],
    next: (request, { why }, now) =>
      standingOf(request.status) === 'asked'
        ? cancelled(request, null, why, now)
        : leaving('REVERTING', why, now),
  },

  revocation_ordered: {
    in: REVOCABLE_STATES,
    next(request, { by, reason }, now) {
      const { writes, effects } = leaving('REVERTING', reason, now, { revokedById: by.userId })
      const said = { from: request.status, reason }
      const record = recordOf(request, 'APP_STORE_REVOKE_ACCESS', said, by)
      return { writes, effects: [record, ...effects] }
    },
  },

  revoked: {
    in: statesThatAre('unwanted', 'over'),
    next(request, { kept }) {
      const { writes, effects } = gone(request, revokedEvent(request), kept)
      return {
        writes,
        effects: [
          { kind: 'close_tasks', as: 'COMPLETED' },
          ...effects,
          { kind: 'close_shared_account' },
        ],
      }
    },
  },

  revoked_by_hand: {
    in: ['PENDING_MANUAL_DEPROVISIONING'],
    next: (request, { by }) =>
      gone(request, 'APP_STORE_MANUAL_CONFIRM_DEPROVISIONING_FOR_ACCESS_REQUEST', null, by),
  },

  revocation_declined: {
    in: ['PENDING_MANUAL_DEPROVISIONING'],
    next: (request, { by }) => ({
      writes: [{ to: 'TIME_BASED_EXPIRED_CANCELLED', set: AT_REST }],
      effects: [
        recordOf(request, 'APP_STORE_MANUAL_DENY_DEPROVISIONING_FOR_ACCESS_REQUEST', {}, by),
      ],
    }),
  },

  revocation_retried: {
    in: ['PENDING_MANUAL_DEPROVISIONING', ...statesThatAre('over')],
    next: (request, _event, now) =>
      isOver(request)
        ? {
            writes: [{ set: { ...NOT_FAILING, pendingOperation: 'remove', wakeAt: now } }],
            effects: [{ kind: 'close_tasks', as: 'DISMISSED' }],
          }
        : isReverting(request)
          ? leaving('REVERTING', request.notes['REVERTING'] ?? null, now)
          : leaving('PENDING_DEPROVISIONING', null, now),
  },

  revocation_expired: {
    in: ['PENDING_MANUAL_DEPROVISIONING'],
    next: (request) => ({
      writes: [
        {
          to: 'TIME_BASED_EXPIRED_FAILED',
          note: 'No one revoked the access in time',
          set: { wakeAt: null },
        },
      ],
      effects: [
        { kind: 'close_tasks', as: 'EXPIRED' },
        recordOf(request, 'APP_STORE_DEPROVISIONING_EXPIRED_FOR_ACCESS_REQUEST', {}),
      ],
    }),
  },

  leftover_settled: {
    in: statesThatAre('over'),
    next: () => ({ writes: [{ set: { ...AT_REST, failingSince: null } }], effects: [] }),
  },

  operation_failed: {
    in: [
      'PENDING_PROVISIONING',
      'PENDING_MANUAL_PROVISIONING',
      ...statesThatAre('unwanted', 'over'),
    ],
    next(request, { verdict, problem, asks, instructions }, now) {
      if (verdict.kind === 'manual')
        return request.pendingOperation === 'grant'
          ? grantByHand(request, instructions, problem)
          : revokeByHand(request, problem, now)
      const { attempts, failingSince, wakeAt } = verdict
      const failing: RequestWrite = { set: { attempts, failingSince, wakeAt, problem } }
      const asked = asks ? askMeanwhile(request, instructions, problem) : NOTHING
      return { writes: [failing, ...asked.writes], effects: asked.effects }
    },
  },

  cancelled: {
    in: PENDING_STATES,
    next: (request, { by, reason }, now) => cancelled(request, by, reason, now),
  },

  nothing_due: {
    in: REQUEST_STATUSES,
    next: () => ({ writes: [{ set: { wakeAt: null } }], effects: [] }),
  },
}

const NOTHING: RequestTransition = { writes: [], effects: [] }
