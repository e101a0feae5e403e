/** How a request comes to a yes or a no, in the database alone: each step within the transaction of what caused it. */
import type { TaskStatus } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import type { Approvers } from '../../database/schema/requests.ts'
import type { Actor } from '../kernel/audit/activity.ts'
import { openErrorTask } from '../tasks/error-task.ts'
import { type DecisionStep, decidersOf, eligible, stepsOf } from './approvers.ts'
import type { RequestMeans } from './job-key.ts'
import { change, later, move, note, type RequestRow, systemOf } from './move.ts'
import { ask, askedOf, closeTasks } from './tasks.ts'
import { approved } from './transitions.ts'

/** How long people may take to decide, in milliseconds. */
export const DECISION_MS = 30 * 24 * 3600 * 1000

/** What is said of a request on which nobody may decide. */
export const UNDECIDABLE =
  'Nobody may decide on it: who asks for access, or is to have it, does not, and there is no other approver or admin. Have an admin give somebody else the role Admin, or name approvers for the app (PATCH /appstore/apps/{app_id}/settings), and ask again'

/**
 * Begins with a request that nothing forbids: the manager, the first stage, or yes at once.
 *
 * @param preapproved Why nobody needs to be asked; null where somebody does.
 * @param begun `failure`: why the pre-check failed; null if it succeeded or is not needed. `first`: who makes the first
 *   decision, if already known.
 */
export async function begin(
  tx: Db,
  request: RequestRow,
  preapproved: string | null,
  means: RequestMeans,
  begun: Begun = {},
): Promise<RequestRow> {
  if (preapproved !== null) {
    await note(tx, systemOf(request), request, 'APP_STORE_PRE_APPROVED_ACCESS_REQUEST', {
      because: preapproved,
    })
    return approved(tx, request, preapproved, means)
  }
  if (!request.plan.manager) return openStage(tx, request, 0, means, begun)
  const wakeAt = nextLook(request, await means.now(tx))
  const values = { ...READY, wakeAt, failure: begun.failure ?? null }
  const moved = await move(tx, request, 'PENDING_MANAGER_APPROVAL', values)
  return askFor(tx, moved, 'manager', begun.first)
}

type Begun = { failure?: string | null; first?: Approvers | null }

/** Asks the approvers of a stage; behind the last one it is a yes. */
async function openStage(
  tx: Db,
  request: RequestRow,
  stage: number,
  means: RequestMeans,
  { failure = null, first = null }: Begun = {},
): Promise<RequestRow> {
  if (!stepsOf(request.plan).includes(stage)) return approved(tx, request, null, means)
  const wakeAt = nextLook(request, await means.now(tx))
  const values = { ...READY, stage, wakeAt, failure }
  return askFor(tx, await move(tx, request, 'PENDING_APPROVAL', values), stage, first)
}

const READY = { todo: null, attempts: 0, problem: null } as const

/** Asks those who make a decision; where nobody may, the request is over, and says what to do. */
async function askFor(
  tx: Db,
  request: RequestRow,
  step: DecisionStep,
  known: Approvers | null = null,
): Promise<RequestRow> {
  const who = known ?? (await decidersOf(tx, request, step))
  if (who !== null) {
    const what = step === 'manager' ? 'manager' : 'approval'
    await ask(tx, request, what, who, request.plan.message)
    return request
  }
  const event = 'APP_STORE_CANCEL_ACCESS_REQUEST'
  await note(tx, systemOf(request), request, event, { because: 'nobody may decide' })
  await openErrorTask(tx, request.domainId, {
    taskType: 'ACCESS_REQUEST_ERROR',
    productArea: 'APPSTORE',
    description: `Nobody may decide on a request for ${request.label === null ? 'access' : `“${request.label}”`}; it was cancelled.`,
    instructions: `${UNDECIDABLE}.`,
    targetUserId: request.targetUserId,
  })
  return move(tx, request, 'CANCELLED', { note: UNDECIDABLE, wakeAt: null })
}

/** How often is looked whether somebody is left who may decide, in milliseconds. */
const LOOK_MS = 24 * 3600 * 1000

/** When nobody has decided in time. */
export const decisionEnd = ({ createdAt }: RequestRow): Date => later(createdAt, DECISION_MS)

const nextLook = (request: RequestRow, now: Date): Date =>
  new Date(Math.min(later(now, LOOK_MS).getTime(), decisionEnd(request).getTime()))

/**
 * Looks whether somebody is left who may decide on a locked request that waits for it. Where everybody who
 * was asked has left, those are asked who decide now.
 */
export async function lookForDeciders(tx: Db, request: RequestRow, now: Date): Promise<RequestRow> {
  const looked = await change(tx, request, { wakeAt: nextLook(request, now) })
  const step = { PENDING_MANAGER_APPROVAL: 'manager', PENDING_APPROVAL: request.stage } as const
  const { status } = request
  if (status !== 'PENDING_MANAGER_APPROVAL' && status !== 'PENDING_APPROVAL') return looked
  if ((await eligible(tx, request, await askedOf(tx, request))) !== null) return looked
  await closeTasks(tx, request, 'DISMISSED')
  return askFor(tx, looked, step[status])
}

/** What was decided in a task, in whose name. */
export type Decision = { actor: Actor; to: TaskStatus; comment: string | null }

/** Goes on after the manager decided. */
export async function managerDecided(
  tx: Db,
  request: RequestRow,
  { to, comment }: Decision,
  means: RequestMeans,
): Promise<RequestRow> {
  if (to === 'DISMISSED')
    return move(tx, request, 'MANAGER_DENIED', { note: comment, wakeAt: null })
  const moved = await move(tx, request, 'MANAGER_APPROVED', { note: comment })
  return openStage(tx, moved, 0, means)
}

/** Goes on after an approver of the current stage decided. */
export async function approverDecided(
  tx: Db,
  request: RequestRow,
  { to, comment }: Decision,
  means: RequestMeans,
): Promise<RequestRow> {
  if (to === 'DISMISSED') return move(tx, request, 'DENIED', { note: comment, wakeAt: null })
  return openStage(tx, request, request.stage + 1, means)
}

/** A check that was made before anybody was asked said no. */
export async function refused(tx: Db, request: RequestRow, why: string): Promise<RequestRow> {
  return move(tx, request, 'DENIED', { note: why, todo: null, wakeAt: null })
}
