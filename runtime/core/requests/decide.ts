/** How a request comes to a yes or a no, in the database alone: each step within the transaction of what caused it. */
import type { TaskStatus } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import type { Actor } from '../activity/activity.ts'
import { admins, eligible, managerOf } from './approvers.ts'
import { approved } from './carried.ts'
import type { RequestMeans } from './means.ts'
import { later, move, note, type RequestRow, systemOf } from './move.ts'
import { ask } from './tasks.ts'

/** How long people may take to decide, in milliseconds. */
export const DECISION_MS = 30 * 24 * 3600 * 1000

/**
 * Begins with a request that nothing forbids: the manager, the first stage, or yes at once.
 *
 * @param preapproved Why nobody needs to be asked; null where somebody does.
 * @param failure Why it could not be checked before; null where it was, or need not be.
 */
export async function begin(
  tx: Db,
  request: RequestRow,
  preapproved: string | null,
  means: RequestMeans,
  failure: string | null = null,
): Promise<RequestRow> {
  const wakeAt = later(request.createdAt, DECISION_MS)
  const looked = { todo: null, attempts: 0, problem: null, wakeAt } as const
  if (preapproved !== null) {
    await note(tx, systemOf(request), request, 'APP_STORE_PRE_APPROVED_ACCESS_REQUEST', {
      because: preapproved,
    })
    return approved(tx, request, preapproved, means)
  }
  if (!request.plan.manager) return openStage(tx, request, 0, means, failure)
  const manager = await managerOf(tx, request)
  const who = manager ? { users: [manager], groups: [] } : await admins(tx, request)
  const moved = await move(tx, request, 'PENDING_MANAGER_APPROVAL', { ...looked, failure })
  await ask(tx, moved, 'manager', who, request.plan.message)
  return moved
}

/**
 * Asks the approvers of a stage; behind the last one it is a yes. Where nobody is named at all, and no
 * manager was asked, the admins are the one stage: nothing is given without anybody's yes.
 */
async function openStage(
  tx: Db,
  request: RequestRow,
  stage: number,
  means: RequestMeans,
  failure: string | null = null,
): Promise<RequestRow> {
  const { stages, manager, message } = request.plan
  const count = stages.length > 0 || manager ? stages.length : 1
  if (stage >= count) return approved(tx, request, null, means)
  const named = stages[stage] ?? { users: [], groups: [] }
  const who = (await eligible(tx, request, named)) ?? (await admins(tx, request))
  const wakeAt = later(request.createdAt, DECISION_MS)
  const values = { stage, todo: null, attempts: 0, problem: null, wakeAt } as const
  const moved = await move(tx, request, 'PENDING_APPROVAL', { ...values, failure })
  await ask(tx, moved, 'approval', who, message)
  return moved
}

/** What was decided in a task, in whose name. */
export type Decision = { actor: Actor; to: TaskStatus; comment: string | null }

/** Goes on after the manager decided. */
export async function managerDecided(
  tx: Db,
  request: RequestRow,
  { to }: Decision,
  means: RequestMeans,
): Promise<RequestRow> {
  if (to === 'DISMISSED') return move(tx, request, 'MANAGER_DENIED', { wakeAt: null })
  const moved = await move(tx, request, 'MANAGER_APPROVED')
  return openStage(tx, moved, 0, means)
}

/** Goes on after an approver of the current stage decided. */
export async function approverDecided(
  tx: Db,
  request: RequestRow,
  { to }: Decision,
  means: RequestMeans,
): Promise<RequestRow> {
  if (to === 'DISMISSED') return move(tx, request, 'DENIED', { wakeAt: null })
  return openStage(tx, request, request.stage + 1, means)
}

/** A check that was made before anybody was asked said no. */
export async function refused(tx: Db, request: RequestRow, why: string): Promise<RequestRow> {
  return move(tx, request, 'DENIED', { note: why, todo: null, wakeAt: null })
}
