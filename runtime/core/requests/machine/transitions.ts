/**
 * The machine of access requests: a state and an event make the next state and its effects. It is pure; which
 * state may follow which is in states.ts, and apply.ts beside this folder carries a transition out.
 */

import type { RequestRow } from '../../../database/schema/requests.ts'
import { GLASS } from './break-glass.ts'
import { DECIDING } from './deciding.ts'
import type { EventKind, RequestEvent, TransitionTable } from './events.ts'
import { GRANTING } from './granting.ts'
import type { RequestEffect, RequestTransition, RequestWrite } from './request.ts'
import { REVOKING } from './revoking.ts'
import { standingOf } from './states.ts'

/** TRANSITIONS: kind of an event -> the states in which it counts, and what follows. */
export const TRANSITIONS: TransitionTable = { ...DECIDING, ...GRANTING, ...REVOKING, ...GLASS }

/**
 * What follows from an event.
 *
 * @throws Error for an event that does not count in the state of the request: a defect of ours.
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

/** A reason to have something begins once it is granted, and ends once it is gone, or left for good. */
function reasonOf({ status }: RequestRow, writes: readonly RequestWrite[]): RequestEffect[] {
  const states = writes.flatMap(({ to }) => to ?? [])
  if (states.includes('PROVISIONED')) return [{ kind: 'begin_reason' }]
  const isOver = states.some((to) => standingOf(to) === 'over')
  return isOver && standingOf(status) === 'unwanted' ? [{ kind: 'end_reason' }] : []
}
