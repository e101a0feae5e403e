/** Events of a request. An event carries the facts for its transition: the machine reads nothing itself. */
import type { RequestStatus } from '../../../contract/models/access-request.ts'
import type { PeopleAndGroups, RequestRow } from '../../../database/schema/requests.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import type { FailureVerdict } from './failure.ts'
import type { RequestTransition } from './request.ts'

/** Step of a plan, which needs a decision: the manager's, or a stage, counted from 0. */
export type PlanStep = 'manager' | number

/** How a request is fulfilled, and in which system. */
export type FulfilmentRoute = Required<
  Pick<RequestRow, 'fulfilment' | 'entitlement' | 'carriedAppId'>
>

/** Decision of a person that led to an event, or null. `onBehalfOf` is the delegator of a delegate. */
export type WithDecision = {
  decision: { by: Actor; comment: string | null; onBehalfOf: string | null } | null
}

/**
 * Reason that access still exists although its request has ended: it existed before, another request grants
 * it, the account is needed for another request, or nothing had been granted.
 */
export type Kept = 'was_there' | 'other_request' | 'needed' | 'not_given'

/** Facts of each kind of event. */
type Events = {
  /** Webhooks are asked before people. */
  check_required: object
  /** A person has to decide. `approvers` is null if no one may; `failure` is why the check before failed. */
  decision_required: WithDecision & {
    step: PlanStep
    approvers: PeopleAndGroups | null
    failure: string | null
  }
  /** Daily check: some approver may still decide. */
  approvers_remain: object
  /** Daily check: all approvers have left. */
  approvers_left: { approvers: PeopleAndGroups | null }
  /** Every required decision is an approval, or `preapproved` is the reason that none is required. */
  approved: WithDecision & {
    preapproved: string | null
    route: FulfilmentRoute
    instructions: string | null
  }
  /**
   * `note` is visible to everyone who sees the request. `because` is the host's own reason, or null if a
   * person decides; it goes to the log, which must not contain a webhook's answer. `isBlocked`: a rule of
   * separation of duties currently denies a policy's request.
   */
  denied: WithDecision & { note: string | null; because: string | null; isBlocked?: boolean }
  /** A person took a break-glass permission. `reviewers` are all who otherwise decide on it. */
  glass_broken: {
    by: Actor
    reviewers: PeopleAndGroups
    route: FulfilmentRoute
    instructions: string | null
  }
  /** A reviewer has judged how it was used. */
  glass_reviewed: { by: Actor; wasRight: boolean; reason: string }
  decision_expired: object

  /** The system holds the access. `manualSteps` has instructions for a part that people must do. */
  granted: { manualSteps: { instructions: string | null } | null }
  granted_by_hand: { by: Actor }
  grant_refused: { by: Actor }
  grant_retried: object

  access_expired: object
  /** The reason for the access no longer applies. */
  reason_gone: { why: string }
  /** A person with authority over the app ends granted access immediately. */
  revocation_ordered: { by: Actor & { userId: string }; reason: string }
  /** `kept`: why the access still exists, or null if it was revoked. */
  revoked: { kept: Kept | null }
  revoked_by_hand: { by: Actor }
  revocation_declined: { by: Actor }
  /** It is tried or checked again although people were asked to do it. */
  revocation_retried: object
  revocation_expired: object
  /** A person dealt with access left over from a request that is over. */
  leftover_settled: object

  /** The pending operation failed. `asks`: people are asked now, with these `instructions`. */
  operation_failed: {
    verdict: FailureVerdict
    problem: string
    asks: boolean
    instructions: string | null
  }
  /** `by` is null if the host cancels it. */
  cancelled: { by: Actor | null; reason: string | null }
  nothing_due: object
}

/** Kind of an event. */
export type EventKind = keyof Events

/** Event of one of the given kinds, with its facts. */
export type RequestEvent<K extends EventKind = EventKind> = {
  [P in K]: { kind: P } & Events[P]
}[K]

/** Row of a transition table: the states in which an event is valid, and its consequences. */
type TransitionRow<K extends EventKind> = {
  in: readonly RequestStatus[]
  next(request: RequestRow, event: RequestEvent<K>, now: Date): RequestTransition
}

/** Table of transitions by kind of event. */
export type TransitionTable<K extends EventKind = EventKind> = { [P in K]: TransitionRow<P> }
