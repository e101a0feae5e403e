/**
 * State table of access requests: permitted successors, and the meaning for the access itself. The states are
 * those of the public service (core-interface.md section 2.1). Where its sources leave a move open, a comment
 * gives our reason.
 */

import type { RequestStatus } from '../../../contract/models/access-request.ts'
import { isKeyOf, keysOf } from '../../../contract/schema/keys.ts'
import type { StateRow } from '../../machine/states.ts'

/**
 * Standing of the access in a state:
 * - `asked`: not approved yet; the third-party system is not touched
 * - `wanted`: the access exists or is to be granted
 * - `unwanted`: the access is to be revoked
 * - `over`: nothing is left to do
 */
export type RequestStanding = 'asked' | 'wanted' | 'unwanted' | 'over'

type RequestStateRow = StateRow<RequestStatus> & {
  standing: RequestStanding
  /**
   * Text for requesters in a state that a failure may lead to, in place of the note. The note contains the
   * failure with names and system answers, for people who may read the tasks of the app.
   */
  failed?: string
}

/** Meaning and permitted successors of each state. */
export const REQUEST_STATES = {
  PENDING: {
    standing: 'asked',
    next: ['PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL', 'APPROVED', 'DENIED', 'CANCELLED'],
    meaning: 'it was requested and is being checked',
  },
  PENDING_MANAGER_APPROVAL: {
    standing: 'asked',
    next: ['MANAGER_APPROVED', 'MANAGER_DENIED', 'CANCELLED', 'EXPIRED'],
    meaning: 'the manager has to decide',
    failed: 'It could not be checked automatically, so people decide.',
  },
  MANAGER_APPROVED: {
    standing: 'asked',
    next: ['PENDING_APPROVAL', 'APPROVED'],
    meaning: 'the manager approved',
  },
  MANAGER_DENIED: { standing: 'over', next: [], meaning: 'the manager denied' },
  PENDING_APPROVAL: {
    standing: 'asked',
    next: ['PENDING_APPROVAL', 'APPROVED', 'DENIED', 'CANCELLED', 'EXPIRED'],
    meaning: 'an approver of the current stage has to decide',
    failed: 'It could not be checked automatically, so people decide.',
  },
  APPROVED: {
    standing: 'wanted',
    next: ['PENDING_PROVISIONING'],
    meaning: 'every approver approved',
  },
  DENIED: { standing: 'over', next: [], meaning: 'an approver or a validation denied it' },
  EXPIRED: { standing: 'over', next: [], meaning: 'no one decided in time' },
  // A partial grant is revoked afterwards.
  CANCELLED: { standing: 'over', next: [], meaning: 'it was cancelled before it was carried out' },
  PENDING_PROVISIONING: {
    standing: 'wanted',
    next: ['PROVISIONED', 'PENDING_MANUAL_PROVISIONING', 'CANCELLED', 'REVERTING'],
    meaning: 'the access is being granted',
  },
  PENDING_MANUAL_PROVISIONING: {
    standing: 'wanted',
    next: ['PROVISIONED', 'PENDING_PROVISIONING', 'DENIED_PROVISIONING', 'CANCELLED', 'REVERTING'],
    meaning: 'a person has to grant the access by hand, unless a later try succeeds first',
    failed: 'It could not be granted automatically; a person was asked to do it by hand.',
  },
  // Not followed by COMPLETED, which clients take for success.
  DENIED_PROVISIONING: {
    standing: 'over',
    next: [],
    meaning: 'it was not granted, and will not be',
  },
  PROVISIONED: {
    standing: 'wanted',
    next: ['COMPLETED'],
    meaning: 'the access was granted',
  },
  COMPLETED: {
    standing: 'wanted',
    next: ['PENDING_DEPROVISIONING', 'REVERTING'],
    meaning: 'the access was granted and exists',
  },
  PENDING_DEPROVISIONING: {
    standing: 'unwanted',
    next: ['TIME_BASED_EXPIRED', 'PENDING_MANUAL_DEPROVISIONING'],
    meaning: 'its time is up; the access is being revoked',
  },
  PENDING_MANUAL_DEPROVISIONING: {
    standing: 'unwanted',
    next: [
      'TIME_BASED_EXPIRED',
      'TIME_BASED_EXPIRED_FAILED',
      'TIME_BASED_EXPIRED_CANCELLED',
      'REVERTED',
      'PENDING_DEPROVISIONING',
      'REVERTING',
    ],
    meaning: 'a person has to revoke the access by hand, unless a later try succeeds first',
    failed: 'It could not be revoked automatically; a person was asked to do it by hand.',
  },
  TIME_BASED_EXPIRED: {
    standing: 'over',
    next: [],
    meaning: 'its time was up; the access is revoked',
  },
  TIME_BASED_EXPIRED_FAILED: {
    standing: 'over',
    next: [],
    meaning: 'its time was up, but no one revoked the access in time',
  },
  TIME_BASED_EXPIRED_CANCELLED: {
    standing: 'over',
    next: [],
    meaning: 'its time was up, but a person decided to leave the access',
  },
  REVERTING: {
    standing: 'unwanted',
    next: ['REVERTED', 'PENDING_MANUAL_DEPROVISIONING'],
    meaning: 'the access is being revoked, because its reason no longer applies',
  },
  REVERTED: {
    standing: 'over',
    next: [],
    meaning: 'the access is revoked, because its reason no longer applies',
  },
} as const satisfies Record<RequestStatus, RequestStateRow>

const row = (status: RequestStatus): RequestStateRow => REQUEST_STATES[status]

/** Returns the text for requesters in place of a note about a failure, or null if they may read the note. */
export const failureMessage = (status: string): string | null =>
  isKeyOf(REQUEST_STATES, status) ? (row(status).failed ?? null) : null

/** Returns the standing of the access in a state. */
export const standingOf = (status: RequestStatus): RequestStanding => row(status).standing

/** Returns the states with one of the given standings. */
export const statesThatAre = (...standings: RequestStanding[]): RequestStatus[] =>
  keysOf(REQUEST_STATES).filter((status) => standings.includes(standingOf(status)))

/** States that clients poll and that can be cancelled. */
export const PENDING_STATES = [
  'PENDING',
  'PENDING_MANAGER_APPROVAL',
  'PENDING_MANUAL_PROVISIONING',
  'PENDING_APPROVAL',
  'PENDING_PROVISIONING',
] as const satisfies readonly RequestStatus[]

/** States with granted access, or access being granted, that can be revoked. */
export const REVOCABLE_STATES = [
  'PENDING_PROVISIONING',
  'PENDING_MANUAL_PROVISIONING',
  'COMPLETED',
] as const satisfies readonly RequestStatus[]
