/** How a request comes to a yes or a no: finds who decides next, within the transaction of what caused it. */
import { conflict } from '../../contract/errors/problem.ts'
import type { TaskStatus } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import type { Approvers, RequestRow } from '../../database/schema/requests.ts'
import type { Actor } from '../kernel/audit/activity.ts'
import { mayAct } from '../kernel/identity/principal.ts'
import { eligible } from './able.ts'
import { apply } from './apply.ts'
import { allDeciders, decidedSteps, decidersOf } from './approvers.ts'
import type { RequestMeans } from './job-key.ts'
import type { Decided, DecidedStep } from './machine/events.ts'
import { fulfilmentOf } from './subject.ts'
import { askedByTasks } from './tasks.ts'

/**
 * Begins with a request that nothing forbids: the manager, the first stage, or yes at once.
 *
 * @param preapproved Why nobody needs to be asked; null if people are.
 * @param begun `failure`: why the pre-check failed; null if it succeeded or is not needed. `first`: who makes the first
 *   decision, if already known.
 */
export const beginDecisions = (
  tx: Db,
  request: RequestRow,
  preapproved: string | null,
  means: RequestMeans,
  begun: Omit<Known, 'decision'> = {},
): Promise<RequestRow> =>
  preapproved === null
    ? goOn(tx, request, request.plan.manager ? 'manager' : 0, begun, means)
    : approve(tx, request, preapproved, null, means)

/** What is known already of a decision that is asked for. */
type Known = { failure?: string | null; first?: Approvers | null; decision?: Decided['decision'] }

/** Asks for a decision; behind the last one it is a yes. */
async function goOn(
  tx: Db,
  request: RequestRow,
  step: DecidedStep,
  { failure = null, first = null, decision = null }: Known,
  means: RequestMeans,
): Promise<RequestRow> {
  if (!decidedSteps(request.plan).includes(step)) return approve(tx, request, null, decision, means)
  const approvers = first ?? (await decidersOf(tx, request, step))
  const event = { kind: 'decision_required', step, approvers, failure, decision } as const
  return apply(tx, request, event, means)
}

/**
 * Says yes; who may not act gets nothing.
 *
 * @throws CoreError conflict where a person decided for somebody who may not act now: without one the request is denied
 */
async function approve(
  tx: Db,
  request: RequestRow,
  preapproved: string | null,
  decision: Decided['decision'],
  means: RequestMeans,
): Promise<RequestRow> {
  const { facts, targetStatus } = await fulfilmentOf(tx, request)
  if (targetStatus === null || !mayAct(targetStatus)) {
    if (decision !== null)
      throw conflict(
        `Who is to have the access is ${targetStatus}, and gets nothing until they are ACTIVE: deny it, or approve it then`,
      )
    const because = `who is to have it is ${targetStatus}`
    const note = `Who is to have the access is ${targetStatus}`
    return apply(tx, request, { kind: 'denied', note, because, decision }, means)
  }
  return apply(tx, request, { kind: 'approved', preapproved, decision, ...facts }, means)
}

/**
 * Gives break-glass access at once; all who decide on it otherwise are told, and one of them reviews it.
 *
 * @throws CoreError conflict where nobody could review it
 */
export async function grantBreakGlass(
  tx: Db,
  request: RequestRow,
  by: Actor,
  means: RequestMeans,
): Promise<RequestRow> {
  const reviewers = await allDeciders(tx, request)
  if (reviewers === null)
    throw conflict(
      'Nobody could review this: there is no other approver or admin. Have an admin name approvers for the app (PATCH /appstore/apps/{app_id}/settings)',
    )
  const { facts } = await fulfilmentOf(tx, request)
  return apply(tx, request, { kind: 'glass_broken', by, reviewers, ...facts }, means)
}

/**
 * Looks whether a person is left who may decide on a locked request that waits for it. If all who were asked
 * have left, those are asked who decide now.
 */
export async function lookForDeciders(
  tx: Db,
  request: RequestRow,
  now: Date,
  means: RequestMeans,
): Promise<RequestRow> {
  const { status, stage } = request
  const isWaiting = status === 'PENDING_MANAGER_APPROVAL' || status === 'PENDING_APPROVAL'
  if (!isWaiting || (await eligible(tx, request, await askedByTasks(tx, request))) !== null)
    return apply(tx, request, { kind: 'approvers_remain' }, means, now)
  const step = status === 'PENDING_APPROVAL' ? stage : 'manager'
  const approvers = await decidersOf(tx, request, step)
  return apply(tx, request, { kind: 'approvers_left', approvers }, means, now)
}

/** What became of a task, and who did it. */
export type Decision = {
  actor: Actor
  to: TaskStatus
  comment: string | null
  /** In whose place, where the actor is a delegate. */
  onBehalfOf: string | null
}

/** Goes on after a person decided on the current step. */
export async function decided(
  tx: Db,
  request: RequestRow,
  { actor, to, comment, onBehalfOf }: Decision,
  means: RequestMeans,
): Promise<RequestRow> {
  const decision = { by: actor, comment, onBehalfOf }
  if (to === 'DISMISSED')
    return apply(tx, request, { kind: 'denied', note: comment, because: null, decision }, means)
  const next = request.status === 'PENDING_MANAGER_APPROVAL' ? 0 : request.stage + 1
  return goOn(tx, request, next, { decision }, means)
}
