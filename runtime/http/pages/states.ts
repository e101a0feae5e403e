/** REQUEST_BADGES: state of an access request -> what a person would say. */
import { html } from 'hono/html'
import { REQUEST_STATUSES, type RequestStatus } from '../../contract/models/access-request.ts'
import { statesThatAre } from '../../core/requests/machine/states.ts'
import { type Icon, icon } from '../frame/icons.ts'

/** What a colour means: it works, a person has to act, Keyway is at it, it failed, a policy did it; none: it is over. */
export type Kind = 'good' | 'wait' | 'busy' | 'bad' | 'rule' | ''

export const REQUEST_BADGES = {
  PENDING: ['busy', 'sync', 'Being checked'],
  PENDING_MANAGER_APPROVAL: ['wait', 'clock', 'Waits for manager'],
  MANAGER_APPROVED: ['busy', 'check', 'Manager approved'],
  MANAGER_DENIED: ['bad', 'x', 'Denied by manager'],
  PENDING_APPROVAL: ['wait', 'clock', 'Waits for approver'],
  APPROVED: ['busy', 'check', 'Approved'],
  DENIED: ['bad', 'x', 'Denied'],
  EXPIRED: ['', 'clock', 'Not decided in time'],
  CANCELLED: ['', 'minus', 'Withdrawn'],
  PENDING_PROVISIONING: ['busy', 'sync', 'Being given'],
  PENDING_MANUAL_PROVISIONING: ['wait', 'hand', 'Waits to be given by hand'],
  DENIED_PROVISIONING: ['bad', 'x', 'Not given'],
  PROVISIONED: ['good', 'check', 'Given'],
  COMPLETED: ['good', 'check', 'Active'],
  PENDING_DEPROVISIONING: ['busy', 'sync', 'Being removed'],
  PENDING_MANUAL_DEPROVISIONING: ['wait', 'hand', 'Waits to be removed by hand'],
  TIME_BASED_EXPIRED: ['', 'minus', 'Ended'],
  TIME_BASED_EXPIRED_FAILED: ['bad', 'alert', 'Ended, not removed'],
  TIME_BASED_EXPIRED_CANCELLED: ['wait', 'alert', 'Ended, left in place'],
  REVERTING: ['busy', 'sync', 'Being removed'],
  REVERTED: ['', 'minus', 'Removed'],
} as const satisfies Record<RequestStatus, readonly [kind: Kind, icon: Icon, words: string]>

/** States whose end a person waits for, and those in which nothing happens any more. */
export const OVER: readonly RequestStatus[] = statesThatAre('over')
export const ON_THE_WAY: readonly RequestStatus[] = REQUEST_STATUSES.filter(
  (status) => status !== 'COMPLETED' && !OVER.includes(status),
)

export const badge = (kind: Kind, name: Icon, words: string) =>
  html`<span class="badge ${kind}">${icon(name)}${words}</span>`

export function requestBadge(status: RequestStatus) {
  const [kind, name, words] = REQUEST_BADGES[status]
  return badge(kind, name, words)
}
