/** REQUEST_BADGES: state of an access request -> badge. The texts are in `STATE_WORDS`. */
import { html } from 'hono/html'
import {
  type AccessRequest,
  REQUEST_STATUSES,
  type RequestStatus,
} from '../../contract/models/access-request.ts'
import { statesThatAre } from '../../core/requests/machine/states.ts'
import { type Icon, icon } from '../frame/icons.ts'
import type { PageLocale } from '../frame/locale.ts'

/**
 * Meaning of a colour: it works, a person has to act, Keyway is working, it failed, a policy did it; empty:
 * it is over.
 */
export type BadgeKind = 'good' | 'wait' | 'busy' | 'bad' | 'rule' | ''

/** Colour and icon of a badge. */
export type BadgeLook = readonly [kind: BadgeKind, icon: Icon]

const REQUEST_BADGES = {
  PENDING: ['busy', 'sync'],
  PENDING_MANAGER_APPROVAL: ['wait', 'clock'],
  MANAGER_APPROVED: ['busy', 'check'],
  MANAGER_DENIED: ['bad', 'x'],
  PENDING_APPROVAL: ['wait', 'clock'],
  APPROVED: ['busy', 'check'],
  DENIED: ['bad', 'x'],
  EXPIRED: ['', 'clock'],
  CANCELLED: ['', 'minus'],
  PENDING_PROVISIONING: ['busy', 'sync'],
  PENDING_MANUAL_PROVISIONING: ['wait', 'hand'],
  DENIED_PROVISIONING: ['bad', 'x'],
  PROVISIONED: ['good', 'check'],
  COMPLETED: ['good', 'check'],
  PENDING_DEPROVISIONING: ['busy', 'sync'],
  PENDING_MANUAL_DEPROVISIONING: ['wait', 'hand'],
  TIME_BASED_EXPIRED: ['', 'minus'],
  TIME_BASED_EXPIRED_FAILED: ['bad', 'alert'],
  TIME_BASED_EXPIRED_CANCELLED: ['wait', 'alert'],
  REVERTING: ['busy', 'sync'],
  REVERTED: ['', 'minus'],
} as const satisfies Record<RequestStatus, BadgeLook>

/** Final states, and states that a person waits to end. */
export const OVER: readonly RequestStatus[] = statesThatAre('over')
export const ON_THE_WAY: readonly RequestStatus[] = REQUEST_STATUSES.filter(
  (status) => status !== 'COMPLETED' && !OVER.includes(status),
)

export const badge = ([kind, name]: BadgeLook, words: string) =>
  html`<span class="badge ${kind}">${icon(name)}${words}</span>`

export function requestBadge(
  { w }: PageLocale,
  { status, revoked_by: by }: Pick<AccessRequest, 'status' | 'revoked_by'>,
) {
  return badge(REQUEST_BADGES[status], status === 'REVERTED' && by ? w.revoked : w.states[status])
}
