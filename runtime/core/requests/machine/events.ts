/** What can happen to a request. An event brings the facts that its transition needs: the machine reads nothing itself. */
import type { RequestStatus } from '../../../contract/models/access-request.ts'
import type { Approvers, RequestRow } from '../../../database/schema/requests.ts'
import type { Actor } from '../../kernel/audit/activity.ts'
import type { FailureVerdict } from './failure.ts'
import type { RequestTransition } from './request.ts'

/** A decision that a request needs: the manager's, or that of a stage, from 0. */
export type DecidedStep = 'manager' | number

/** How a request is fulfilled, and in which system. */
export type FulfilmentRoute = Required<
  Pick<RequestRow, 'fulfilment' | 'entitlement' | 'carriedAppId'>
>

/** The decision of a person that led to an event; null if none did. `onBehalfOf`: whose delegate that was. */
export type Decided = {
  decision: { by: Actor; comment: string | null; onBehalfOf: string | null } | null
}

/**
 * Why access is in its system still although its request has ended: it was there before, or another request holds it, or
 * the account is needed for one, or nothing had been given.
 */
export type Kept = 'was_there' | 'other_request' | 'needed' | 'not_given'

/** EVENTS: kind -> its facts. */
type Events = {
  /** Webhooks are asked before people. */
  check_required: object
  /** A person has to decide; `approvers` is null if nobody may. `failure`: why the check before it failed. */
  decision_required: Decided & {
    step: DecidedStep
    approvers: Approvers | null
    failure: string | null
  }
  /** The daily look: a person is left who may decide. */
  approvers_remain: object
  /** The daily look: all who were asked have left. */
  approvers_left: { approvers: Approvers | null }
  /** Every decision is a yes, or `preapproved` says why none is needed. */
  approved: Decided & {
    preapproved: string | null
    route: FulfilmentRoute
    instructions: string | null
  }
  /**
   * `note` is read by everybody who sees the request. `because`: why the host itself says no; null where a person does.
   * It is for the log, which takes no answer of a webhook. `isBlocked`: what a policy asks for breaks a rule today.
   */
  denied: Decided & { note: string | null; because: string | null; isBlocked?: boolean }
  /** A person took a break-glass permission; `reviewers` are all who decide on it otherwise. */
  glass_broken: {
    by: Actor
    reviewers: Approvers
    route: FulfilmentRoute
    instructions: string | null
  }
  /** A reviewer found out what it was used for. */
  glass_reviewed: { by: Actor; wasRight: boolean; reason: string }
  decision_expired: object

  /** The system has it. `manualSteps`: their instructions, where people have to do a part by hand. */
  granted: { manualSteps: { instructions: string | null } | null }
  granted_by_hand: { by: Actor }
  grant_refused: { by: Actor }
  grant_retried: object

  access_expired: object
  /** The reason of the access is gone. */
  reason_gone: { why: string }
  /** A person with authority over the app ends what was granted, at once. */
  revocation_ordered: { by: Actor & { userId: string }; reason: string }
  /** `kept`: why the access is there still; null where it was taken away. */
  revoked: { kept: Kept | null }
  revoked_by_hand: { by: Actor }
  revocation_declined: { by: Actor }
  /** It is tried, or looked at, again although people were asked to do it. */
  revocation_retried: object
  revocation_expired: object
  /** What a request that is over has left was dealt with by a person. */
  leftover_settled: object

  /** The pending operation failed. `asks`: people are asked now; `instructions` are for them. */
  operation_failed: {
    verdict: FailureVerdict
    problem: string
    asks: boolean
    instructions: string | null
  }
  /** `by` is null where the host cancels it. */
  cancelled: { by: Actor | null; reason: string | null }
  nothing_due: object
}

export type EventKind = keyof Events

export type RequestEvent<K extends EventKind = EventKind> = {
  [P in K]: { kind: P } & Events[P]
}[K]

/** One row of a table of transitions: the states in which an event counts, and what follows from it. */
type TransitionRow<K extends EventKind> = {
  in: readonly RequestStatus[]
  next(request: RequestRow, event: RequestEvent<K>, now: Date): RequestTransition
}

export type TransitionTable<K extends EventKind = EventKind> = { [P in K]: TransitionRow<P> }
