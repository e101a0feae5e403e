/** What a task that somebody has dealt with means for the access request that it belongs to. */
import { and, eq } from 'drizzle-orm'
import { CoreError } from '../../contract/errors/problem.ts'
import type { TaskCategory } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import { accessRequests } from '../../database/schema/requests.ts'
import { tasks } from '../../database/schema/tasks.ts'
import { callNow } from '../catalogue/apps/outages.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { partiesOf } from './approvers.ts'
import { approverDecided, type Decision, managerDecided } from './decide.ts'
import { look, type RequestMeans } from './job-key.ts'
import { change, move, note, type RequestRow } from './move.ts'
import { recall } from './shared-account.ts'
import { standingOf } from './states.ts'
import { giveAnew, given, takeAnew, taken } from './transitions.ts'

/** The request of a task, locked until the transaction ends: before the task itself, in every place. */
export async function lockRequestOf(tx: Db, taskId: string): Promise<RequestRow | null> {
  const [row] = await tx
    .select({ request: accessRequests })
    .from(accessRequests)
    .innerJoin(tasks, eq(tasks.accessRequestId, accessRequests.id))
    .where(and(eq(tasks.id, taskId)))
    .for('update', { of: accessRequests })
  return row?.request ?? null
}

/** @throws CoreError 403 for those who ask for themselves. */
export function judge(
  request: RequestRow,
  principal: Principal,
  task: { taskCategory: string },
): void {
  if (!task.taskCategory.endsWith('APPROVAL')) return
  if (!partiesOf(request).includes(principal.userId)) return
  throw new CoreError(
    403,
    'This access is for you, or you asked for it: somebody else has to decide',
  )
}

type Step = (
  tx: Db,
  request: RequestRow,
  decision: Decision,
  means: RequestMeans,
) => Promise<RequestRow>

/** STEPS: category of a task -> the state in which it counts, and how the request goes on. */
const STEPS: Partial<Record<TaskCategory, { in: readonly RequestRow['status'][]; step: Step }>> = {
  MANAGER_APPROVAL: { in: ['PENDING_MANAGER_APPROVAL'], step: managerDecided },
  APPROVAL: { in: ['PENDING_APPROVAL'], step: approverDecided },
  PROVISIONING: { in: ['PENDING_MANUAL_PROVISIONING'], step: provisioned },
  DEPROVISIONING: { in: ['PENDING_MANUAL_DEPROVISIONING'], step: deprovisioned },
}

/** Goes on with a locked request after its task was settled; other moves of the task change nothing. */
export async function applyTaskOutcome(
  tx: Db,
  request: RequestRow,
  category: TaskCategory,
  decision: Decision,
  means: RequestMeans,
): Promise<void> {
  if (category === 'DEPROVISIONING' && standingOf(request.status) === 'over')
    return leftOver(tx, request, decision, means)
  const row = STEPS[category]
  if (!row?.in.includes(request.status)) return
  if (decision.to === 'RETRIED') return retried(tx, request, means)
  if (decision.to !== 'COMPLETED' && decision.to !== 'DISMISSED') return
  const moved = await row.step(tx, request, decision, means)
  if (category.endsWith('APPROVAL'))
    await note(
      tx,
      decision.actor,
      moved,
      decision.to === 'COMPLETED'
        ? 'APP_STORE_APPROVE_ACCESS_REQUEST'
        : 'APP_STORE_DENY_ACCESS_REQUEST',
      { stage: request.stage, status: moved.status },
    )
}

/**
 * Tries again now what people were asked to do by hand.
 *
 * @throws CoreError 409 where there is nothing that can be tried.
 */
async function retried(tx: Db, request: RequestRow, means: RequestMeans): Promise<void> {
  if (request.how === 'manual')
    throw new CoreError(
      409,
      'There is no connector or webhook that could do it; do it by hand and complete the task',
    )
  await callNow(tx, request.carriedAppId, await means.now(tx))
  const giving = request.status === 'PENDING_MANUAL_PROVISIONING'
  await (giving ? giveAnew(tx, request, means) : takeAnew(tx, request, means))
}

async function provisioned(
  tx: Db,
  request: RequestRow,
  { actor, to }: Decision,
  means: RequestMeans,
): Promise<RequestRow> {
  if (to === 'COMPLETED') {
    // Whoever gave it by hand has to take it back by hand.
    const byHand = request.problem === null ? request : await change(tx, request, { how: 'manual' })
    const event = 'APP_STORE_MANUAL_CONFIRM_PROVISIONING_FOR_ACCESS_REQUEST'
    const moved = await given(tx, byHand, means, event)
    await recall(tx, moved, means)
    return moved
  }
  await note(tx, actor, request, 'APP_STORE_MANUAL_DENY_PROVISIONING_FOR_ACCESS_REQUEST', {})
  const undo = request.how === 'manual' ? null : ('remove' as const)
  const wakeAt = undo === null ? null : await means.now(tx)
  const moved = await move(tx, request, 'DENIED_PROVISIONING', { todo: undo, wakeAt, attempts: 0 })
  if (undo !== null) await look(tx, moved, means)
  return moved
}

/** What a request that is over has left behind was dealt with, or is to be tried now. */
async function leftOver(tx: Db, request: RequestRow, { to }: Decision, means: RequestMeans) {
  if (to === 'RETRIED') return retried(tx, request, means)
  if (to !== 'COMPLETED' && to !== 'DISMISSED') return
  await change(tx, request, { todo: null, wakeAt: null, failingSince: null })
}

async function deprovisioned(
  tx: Db,
  request: RequestRow,
  { actor, to }: Decision,
): Promise<RequestRow> {
  if (to === 'COMPLETED')
    return taken(tx, request, 'APP_STORE_MANUAL_CONFIRM_DEPROVISIONING_FOR_ACCESS_REQUEST')
  await note(tx, actor, request, 'APP_STORE_MANUAL_DENY_DEPROVISIONING_FOR_ACCESS_REQUEST', {})
  return move(tx, request, 'TIME_BASED_EXPIRED_CANCELLED', { todo: null, wakeAt: null })
}
