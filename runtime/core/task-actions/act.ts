/** Acting on tasks: completing, dismissing, approving, retrying. */
import { eq } from 'drizzle-orm'
import { badRequest, conflict } from '../../contract/errors/problem.ts'
import { SYNC_TASK } from '../../contract/models/sync.ts'
import { MAX_COMMENT, type TaskStatus } from '../../contract/models/task.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import type { Db } from '../../database/database.ts'
import { type TaskRow, tasks } from '../../database/schema/tasks.ts'
import { callNow, OUTAGE_TASK } from '../catalogue/apps/outages.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { keptText } from '../kernel/kept-text.ts'
import { wakeStep } from '../offboarding/accounts.ts'
import { partiesOf } from '../requests/active-people.ts'
import type { RequestDeps } from '../requests/request-deps.ts'
import { applyTaskOutcome, authoriseOutcome } from '../requests/task-outcome.ts'
import { reopenManualTask } from '../reviews/manual-removals.ts'
import { judgeReviewTask } from '../reviews/reviewer-tasks.ts'
import { syncAgain } from '../sync/trigger.ts'
import { actionsOf, TASK_ACTIONS, type TaskActionType } from '../tasks/task-actions.ts'
import { decidesFor, taskTarget } from '../tasks/tasks.ts'
import { say } from './comment.ts'
import { lockForAction } from './lock.ts'

/** Selection of an action, by its name or by the state it leads to. */
type Wanted =
  | { action_type: string; transition_to: string | undefined; reason?: string | undefined }
  | { leadsTo: 'COMPLETED' | 'DISMISSED' }

async function act(
  db: Db,
  principal: Principal,
  id: string,
  wanted: Wanted,
  deps: RequestDeps,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { request, task } = await lockForAction(tx, principal, id)
    const { action, to } = choose(task, wanted)
    if (request) authoriseOutcome(request, principal, task)
    const isEnd = to === 'COMPLETED' || to === 'DISMISSED'
    const onBehalfOf =
      request && isEnd ? await decidesFor(tx, principal, task, partiesOf(request)) : null
    await judgeReviewTask(tx, task, to)
    await tx
      .update(tasks)
      .set({
        status: to,
        resolvedById: isEnd ? principal.userId : null,
        resolvedForId: onBehalfOf,
      })
      .where(eq(tasks.id, task.id))
    await recordActivity(tx, principal, 'TASK_ACTION_PERFORMED', [taskTarget(task)], {
      action,
      from: task.status,
      to,
      ...(onBehalfOf === null ? {} : { on_behalf_of: onBehalfOf }),
    })
    const given = 'reason' in wanted ? wanted.reason?.trim() : ''
    const reason = given ? keptText(given, MAX_COMMENT) : null
    if (reason !== null) await say(tx, principal, task, reason)
    const decision = { actor: principal, to, comment: reason, onBehalfOf }
    if (to === 'RETRIED') await retry(tx, principal, task, deps)
    if (task.productArea === 'ACCESS_REVIEWS') await reopenManualTask(tx, task.id, deps)
    if (task.productArea === 'OFFBOARDING' && isEnd)
      await wakeStep(tx, task.id, 'dealt_with', await deps.now(tx))
    if (request) await applyTaskOutcome(tx, request, task, decision, deps)
  })
}

/** Retries the failed operation of a task at once. For access requests, `applyTaskOutcome` does this. */
async function retry(tx: Db, principal: Principal, task: TaskRow, deps: RequestDeps) {
  const { id, appId, taskType, accessRequestId } = task
  if (appId === null || accessRequestId !== null) return
  const now = await deps.now(tx)
  await wakeStep(tx, id, 'retried', now)
  if (taskType === OUTAGE_TASK) await callNow(tx, appId, now)
  if (taskType === SYNC_TASK) await syncAgain(tx, principal, appId, deps)
}

/** Returns the selected action and the state it leads to. @throws CoreError bad_request, conflict */
function choose(task: TaskRow, wanted: Wanted): { action: TaskActionType; to: TaskStatus } {
  const offered = actionsOf(task.taskCategory, task.status)
  if ('leadsTo' in wanted) {
    if (task.status === wanted.leadsTo) throw conflict(`The task is already ${task.status}`)
    const leading = offered.filter(({ to }) => to.includes(wanted.leadsTo))
    const [one] = leading
    if (!one) throw conflict(`A task that is ${task.status} cannot become ${wanted.leadsTo}`)
    if (leading.length > 1)
      throw badRequest('Several actions lead to this status; use perform-action')
    return { action: one.action_type, to: wanted.leadsTo }
  }
  const { action_type, transition_to } = wanted
  if ((transition_to ?? onlyTarget(task, action_type)) === task.status)
    throw conflict(`The task is already ${task.status}`)
  const action = offered.find((one) => one.action_type === action_type)
  if (!action) {
    if (offered.length === 0)
      throw badRequest(`The task is already ${task.status} and offers no more actions`)
    const names = offered.map((one) => one.action_type).join(', ')
    throw badRequest(`The task does not offer this action; it offers ${names}`)
  }
  const to =
    transition_to === undefined
      ? action.to.length === 1
        ? action.to[0]
        : undefined
      : action.to.find((one) => one === transition_to)
  if (to === undefined)
    throw badRequest(`The action leads to ${action.to.join(', ')}; name one in transition_to`)
  return { action: action.action_type, to }
}

/** Returns the single state an action leads to for tasks of this category, or undefined if there is none. */
function onlyTarget({ taskCategory }: TaskRow, name: string): TaskStatus | undefined {
  const row = isKeyOf(TASK_ACTIONS, name) ? TASK_ACTIONS[name] : null
  const categories: readonly string[] = row?.categories ?? []
  const to: readonly TaskStatus[] = row?.to ?? []
  return categories.includes(taskCategory) && to.length === 1 ? to[0] : undefined
}

/** Performs a named action on a task. @throws CoreError bad_request, conflict, forbidden, not_found */
export const performTaskAction = (
  db: Db,
  principal: Principal,
  id: string,
  body: { action_type: string; transition_to: string | undefined; reason?: string | undefined },
  deps: RequestDeps,
) => act(db, principal, id, body, deps)

/** Performs the only action that leads to COMPLETED. Throws like `performTaskAction`. */
export const completeTask = (db: Db, principal: Principal, id: string, deps: RequestDeps) =>
  act(db, principal, id, { leadsTo: 'COMPLETED' }, deps)

/** Performs the only action that leads to DISMISSED. Throws like `performTaskAction`. */
export const dismissTask = (db: Db, principal: Principal, id: string, deps: RequestDeps) =>
  act(db, principal, id, { leadsTo: 'DISMISSED' }, deps)
