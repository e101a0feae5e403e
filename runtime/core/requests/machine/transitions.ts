/**
 * State machine of access requests: maps a state and an event to the next state and its effects. Pure.
 * Permitted moves are in states.ts; ../apply.ts carries a transition out.
 */

import type { RequestRow } from '../../../database/schema/requests.ts'
import { GLASS } from './break-glass.ts'
import { DECIDING } from './deciding.ts'
import type { EventKind, RequestEvent, TransitionTable } from './events.ts'
import { GRANTING } from './granting.ts'
import type { RequestEffect, RequestTransition, RequestWrite } from './request.ts'
import { REVOKING } from './revoking.ts'
import { standingOf } from './states.ts'

/** Transition of each kind of event, with the states in which the event is valid. */
export const TRANSITIONS: TransitionTable = { ...DECIDING, ...GRANTING, ...REVOKING, ...GLASS }

/**
 * Returns the consequences of an event.
 *
 * @throws Error if the event is not valid in the state of the request, which is a bug in Keyway
 */
export function transition<K extends EventKind>(
  request: RequestRow,
  event: RequestEvent<K>,
  now: Date,
): RequestTransition {
  const row = TRANSITIONS[event.kind]
  if (!row.in.includes(request.status))
    throw new Error(`an access request that is ${request.status} knows no ${event.kind}`)
  const { writes, effects } = row.next(request, event, now)
  return { writes, effects: [...reasonOf(request, writes), ...effects] }
}

/** Begins the reason of the access once it is granted, and ends it once it is revoked or left for good. */
function reasonOf({ status }: RequestRow, writes: readonly RequestWrite[]): RequestEffect[] {
  const states = writes.flatMap(({ to }) => to ?? [])
  if (states.includes('PROVISIONED')) return [{ kind: 'begin_reason' }]
  const isOver = states.some((to) => standingOf(to) === 'over')
  return isOver && standingOf(status) === 'unwanted' ? [{ kind: 'end_reason' }] : []
}
