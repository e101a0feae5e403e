/**
 * How access requests move: which state may follow which, and what each means for the access itself. The
 * states are those of the public service (core-interface.md section 2.1); where its sources leave a move
 * open, the reason for ours stands beside it.
 */

import type { RequestStatus } from '../../../contract/models/access-request.ts'
import { isKeyOf, keysOf } from '../../../contract/schema/keys.ts'
import type { StateRow } from '../../machine/states.ts'

/**
 * What a state says of the access:
 * - `asked`: nobody has said yes; the third-party system is not touched;
 * - `wanted`: it is to be there, or is;
 * - `unwanted`: it is to go away;
 * - `over`: nothing is left to do.
 */
export type RequestStanding = 'asked' | 'wanted' | 'unwanted' | 'over'

type RequestStateRow = StateRow<RequestStatus> & {
  standing: RequestStanding
  /**
   * In a state that something may lead to that failed: what requesters read of it. The note itself says what
   * failed, with names and answers of systems, and is for those who may read the tasks of the app.
   */
  failed?: string
}

/** REQUEST_STATES: state -> what it means and what may follow. */
export const REQUEST_STATES = {
  PENDING: {
    standing: 'asked',
    next: ['PENDING_MANAGER_APPROVAL', 'PENDING_APPROVAL', 'APPROVED', 'DENIED', 'CANCELLED'],
    meaning: 'it was asked for and is being looked at',
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
    meaning: 'the manager said yes',
  },
  MANAGER_DENIED: { standing: 'over', next: [], meaning: 'the manager said no' },
  PENDING_APPROVAL: {
    standing: 'asked',
    next: ['PENDING_APPROVAL', 'APPROVED', 'DENIED', 'CANCELLED', 'EXPIRED'],
    meaning: 'an approver of the current stage has to decide',
    failed: 'It could not be checked automatically, so people decide.',
  },
  APPROVED: {
    standing: 'wanted',
    next: ['PENDING_PROVISIONING'],
    meaning: 'everybody said yes',
  },
  DENIED: { standing: 'over', next: [], meaning: 'an approver, or a validation, said no' },
  EXPIRED: { standing: 'over', next: [], meaning: 'nobody decided in time' },
  // What was half given by then is taken back behind it.
  CANCELLED: { standing: 'over', next: [], meaning: 'it was taken back before it was carried out' },
  PENDING_PROVISIONING: {
    standing: 'wanted',
    next: ['PROVISIONED', 'PENDING_MANUAL_PROVISIONING', 'CANCELLED', 'REVERTING'],
    meaning: 'the access is being given',
  },
  PENDING_MANUAL_PROVISIONING: {
    standing: 'wanted',
    next: ['PROVISIONED', 'PENDING_PROVISIONING', 'DENIED_PROVISIONING', 'CANCELLED', 'REVERTING'],
    meaning: 'a person has to grant the access by hand, unless a further try grants it first',
    failed: 'It could not be given automatically; a person was asked to give it by hand.',
  },
  // Not followed by COMPLETED: clients take that for success.
  DENIED_PROVISIONING: { standing: 'over', next: [], meaning: 'it was not given, and will not be' },
  PROVISIONED: {
    standing: 'wanted',
    next: ['COMPLETED'],
    meaning: 'the access was given',
  },
  COMPLETED: {
    standing: 'wanted',
    next: ['PENDING_DEPROVISIONING', 'REVERTING'],
    meaning: 'the access was given, and is there',
  },
  PENDING_DEPROVISIONING: {
    standing: 'unwanted',
    next: ['TIME_BASED_EXPIRED', 'PENDING_MANUAL_DEPROVISIONING'],
    meaning: 'its time is over; the access is being taken back',
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
    meaning: 'a person has to revoke the access by hand, unless a further try revokes it first',
    failed: 'It could not be taken back automatically; a person was asked to do it by hand.',
  },
  TIME_BASED_EXPIRED: { standing: 'over', next: [], meaning: 'its time was over; it is gone' },
  TIME_BASED_EXPIRED_FAILED: {
    standing: 'over',
    next: [],
    meaning: 'its time was over, and nobody took it back in time',
  },
  TIME_BASED_EXPIRED_CANCELLED: {
    standing: 'over',
    next: [],
    meaning: 'its time was over, and a person decided to leave it',
  },
  REVERTING: {
    standing: 'unwanted',
    next: ['REVERTED', 'PENDING_MANUAL_DEPROVISIONING'],
    meaning: 'what it gave is being taken back, because its reason is gone',
  },
  REVERTED: { standing: 'over', next: [], meaning: 'what it gave is gone, as its reason is' },
} as const satisfies Record<RequestStatus, RequestStateRow>

const row = (status: RequestStatus): RequestStateRow => REQUEST_STATES[status]

/** What requesters read in place of a note that says what failed; null where the note is for everybody. */
export const failedWords = (status: string): string | null =>
  isKeyOf(REQUEST_STATES, status) ? (row(status).failed ?? null) : null

/** What a state says of the access. */
export const standingOf = (status: RequestStatus): RequestStanding => row(status).standing

/** States with a standing. */
export const statesThatAre = (...standings: RequestStanding[]): RequestStatus[] =>
  keysOf(REQUEST_STATES).filter((status) => standings.includes(standingOf(status)))

/** Those that clients poll, and that may be cancelled. */
export const PENDING_STATES = [
  'PENDING',
  'PENDING_MANAGER_APPROVAL',
  'PENDING_MANUAL_PROVISIONING',
  'PENDING_APPROVAL',
  'PENDING_PROVISIONING',
] as const satisfies readonly RequestStatus[]

/** Those in which something was granted, or is being granted, that can be revoked. */
export const REVOCABLE_STATES = [
  'PENDING_PROVISIONING',
  'PENDING_MANUAL_PROVISIONING',
  'COMPLETED',
] as const satisfies readonly RequestStatus[]
