/** Decisions on a request: finds the next approvers, in the transaction of the event that caused it. */
import { conflict } from '../../contract/errors/problem.ts'
import type { TaskStatus } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import type { PeopleAndGroups, RequestRow } from '../../database/schema/requests.ts'
import type { Actor } from '../kernel/audit/activity.ts'
import { mayAct } from '../kernel/identity/principal.ts'
import { eligible } from './active-people.ts'
import { apply } from './apply.ts'
import { allDeciders, readDeciders, stepsOfPlan } from './approvers.ts'
import type { PlanStep, WithDecision } from './machine/events.ts'
import type { RequestDeps } from './request-deps.ts'
import { fulfilmentOf } from './subject.ts'
import { askedByTasks } from './tasks.ts'

/**
 * Starts the decisions on a request that nothing forbids: the manager, the first stage, or immediate
 * approval.
 *
 * @param preapproved why no approval is needed, or null if people decide
 * @param begun `failure`: why the pre-check failed, or null if it succeeded or was not needed. `first`: the
 * approvers of the first decision, if already known
 */
export const beginDecisions = (
  tx: Db,
  request: RequestRow,
  preapproved: string | null,
  deps: RequestDeps,
  begun: Omit<NextDecision, 'decision'> = {},
): Promise<RequestRow> =>
  preapproved === null
    ? askNextDeciders(tx, request, request.plan.manager ? 'manager' : 0, begun, deps)
    : approve(tx, request, preapproved, null, deps)

/** Facts about the next decision that are already known. */
type NextDecision = {
  failure?: string | null
  first?: PeopleAndGroups | null
  decision?: WithDecision['decision']
}

/** Asks for a decision. After the last one, approves the request. */
async function askNextDeciders(
  tx: Db,
  request: RequestRow,
  step: PlanStep,
  { failure = null, first = null, decision = null }: NextDecision,
  deps: RequestDeps,
): Promise<RequestRow> {
  if (!stepsOfPlan(request.plan).includes(step)) return approve(tx, request, null, decision, deps)
  const approvers = first ?? (await readDeciders(tx, request, step))
  const event = { kind: 'decision_required', step, approvers, failure, decision } as const
  return apply(tx, request, event, deps)
}

/**
 * Approves a request. A target user who may not act gets nothing: the request is denied.
 *
 * @throws CoreError `conflict`, instead of denying it, if a person made the decision
 */
async function approve(
  tx: Db,
  request: RequestRow,
  preapproved: string | null,
  decision: WithDecision['decision'],
  deps: RequestDeps,
): Promise<RequestRow> {
  const { facts, targetStatus } = await fulfilmentOf(tx, request)
  if (targetStatus === null || !mayAct(targetStatus)) {
    if (decision !== null)
      throw conflict(
        `The person to receive the access is ${targetStatus} and gets nothing until they are ACTIVE: deny the request, or approve it then`,
      )
    const because = `the person to receive it is ${targetStatus}`
    const note = `The person to receive the access is ${targetStatus}`
    return apply(tx, request, { kind: 'denied', note, because, decision }, deps)
  }
  return apply(tx, request, { kind: 'approved', preapproved, decision, ...facts }, deps)
}

/**
 * Grants break-glass access at once. Tells everyone who otherwise decides on it; one of them reviews it.
 *
 * @throws CoreError `conflict` if no one could review it
 */
export async function grantBreakGlass(
  tx: Db,
  request: RequestRow,
  by: Actor,
  deps: RequestDeps,
): Promise<RequestRow> {
  const reviewers = await allDeciders(tx, request)
  if (reviewers === null)
    throw conflict(
      'No one could review this: there is no other approver or admin. Ask an admin to name approvers for the app (PATCH /appstore/apps/{app_id}/settings)',
    )
  const { facts } = await fulfilmentOf(tx, request)
  return apply(tx, request, { kind: 'glass_broken', by, reviewers, ...facts }, deps)
}

/** Checks whether an approver of a locked request can still decide. If all have left, asks current ones. */
export async function ensureDeciders(
  tx: Db,
  request: RequestRow,
  now: Date,
  deps: RequestDeps,
): Promise<RequestRow> {
  const { status, stage } = request
  const isWaiting = status === 'PENDING_MANAGER_APPROVAL' || status === 'PENDING_APPROVAL'
  if (!isWaiting || (await eligible(tx, request, await askedByTasks(tx, request))) !== null)
    return apply(tx, request, { kind: 'approvers_remain' }, deps, now)
  const step = status === 'PENDING_APPROVAL' ? stage : 'manager'
  const approvers = await readDeciders(tx, request, step)
  return apply(tx, request, { kind: 'approvers_left', approvers }, deps, now)
}

/** Outcome of a task, and the person who resolved it. */
export type Decision = {
  actor: Actor
  to: TaskStatus
  comment: string | null
  /** Delegator, if the actor is a delegate. */
  onBehalfOf: string | null
}

/** Advances a request after a person decided on the current step. */
export async function decided(
  tx: Db,
  request: RequestRow,
  { actor, to, comment, onBehalfOf }: Decision,
  deps: RequestDeps,
): Promise<RequestRow> {
  const decision = { by: actor, comment, onBehalfOf }
  if (to === 'DISMISSED')
    return apply(tx, request, { kind: 'denied', note: comment, because: null, decision }, deps)
  const next = request.status === 'PENDING_MANAGER_APPROVAL' ? 0 : request.stage + 1
  return askNextDeciders(tx, request, next, { decision }, deps)
}
