/** What people do with tasks: act on them, reassign them, comment on them. */
import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import { CoreError, notFound } from '../../contract/endpoints/problem.ts'
import { isId } from '../../contract/id.ts'
import type { TaskCategory, TaskStatus } from '../../contract/models/task.ts'
import { actionsOf, type TaskActionType } from '../../contract/task-actions.ts'
import type { Db } from '../../database/database.ts'
import { groups } from '../../database/schema/people.ts'
import { taskAssignees, taskComments, tasks } from '../../database/schema/tasks.ts'
import { recordActivity } from '../activity/activity.ts'
import { callNow, OUTAGE_TASK } from '../apps/outages.ts'
import type { Principal } from '../callers/principal.ts'
import { retryStep } from '../offboarding/accounts.ts'
import { findUser, toUser } from '../people/users.ts'
import { acted, judge, lockRequestOf } from '../requests/acted.ts'
import { eligible, partiesOf } from '../requests/approvers.ts'
import type { RequestMeans } from '../requests/means.ts'
import { syncAgain } from '../sync/trigger.ts'
import { SYNC_TASK } from '../sync/trouble.ts'
import { findTask, mayAct, type TaskRow, taskTarget } from './tasks.ts'

/** What an action is asked for: by its name, or by where it leads. */
type Wanted =
  | { action_type: string; transition_to: string | undefined }
  | { leadsTo: 'COMPLETED' | 'DISMISSED' }

async function act(
  db: Db,
  principal: Principal,
  id: string,
  wanted: Wanted,
  means: RequestMeans,
): Promise<null> {
  await db.transaction(async (tx) => {
    const request = isId(id) ? await lockRequestOf(tx, id) : null
    const task = await findTask(tx, principal, id, true)
    if (!(await mayAct(tx, principal, task)))
      throw new CoreError(403, 'The task is not assigned to you')
    const { action, to } = choose(task, wanted)
    if (request) judge(request, principal, task)
    await tx
      .update(tasks)
      .set({
        status: to,
        resolvedById: to === 'COMPLETED' || to === 'DISMISSED' ? principal.userId : null,
      })
      .where(eq(tasks.id, task.id))
    await recordActivity(tx, principal, 'TASK_ACTION_PERFORMED', [taskTarget(task)], {
      action,
      from: task.status,
      to,
    })
    const decision = { actor: principal, to, comment: null }
    if (to === 'RETRIED') await retry(tx, principal, task, means)
    if (request) await acted(tx, request, task.taskCategory as TaskCategory, decision, means)
  })
  return null
}

/** Does now what a task says has failed; what an access request asks for is done by `acted`. */
async function retry(tx: Db, principal: Principal, task: TaskRow, means: RequestMeans) {
  const { id, appId, taskType, accessRequestId } = task
  if (appId === null || accessRequestId !== null) return
  const now = await means.now(tx)
  await retryStep(tx, id, now)
  if (taskType === OUTAGE_TASK) await callNow(tx, appId, now)
  if (taskType === SYNC_TASK) await syncAgain(tx, principal, appId, means)
}

/** @throws CoreError 400, 409 */
function choose(task: TaskRow, wanted: Wanted): { action: TaskActionType; to: TaskStatus } {
  const offered = actionsOf(task.taskCategory as TaskCategory, task.status as TaskStatus)
  if ('leadsTo' in wanted) {
    if (task.status === wanted.leadsTo)
      throw new CoreError(409, `The task is ${task.status} already`)
    const leading = offered.filter(({ to }) => to.includes(wanted.leadsTo))
    const [one] = leading
    if (!one)
      throw new CoreError(409, `A task that is ${task.status} cannot become ${wanted.leadsTo}`)
    if (leading.length > 1)
      throw new CoreError(400, 'Several actions lead there; use perform-action')
    return { action: one.action_type, to: wanted.leadsTo }
  }
  const { action_type, transition_to } = wanted
  if (transition_to !== undefined && transition_to === task.status)
    throw new CoreError(409, `The task is ${task.status} already`)
  const action = offered.find((one) => one.action_type === action_type)
  if (!action) {
    const names = offered.map((one) => one.action_type).join(', ')
    throw new CoreError(400, `The task does not offer this action; it offers ${names || 'none'}`)
  }
  const to =
    transition_to === undefined
      ? action.to.length === 1
        ? action.to[0]
        : undefined
      : action.to.find((one) => one === transition_to)
  if (to === undefined)
    throw new CoreError(
      400,
      `The action leads to ${action.to.join(', ')}; say which in transition_to`,
    )
  return { action: action.action_type, to }
}

export const performTaskAction = (
  db: Db,
  principal: Principal,
  id: string,
  body: { action_type: string; transition_to: string | undefined },
  means: RequestMeans,
) => act(db, principal, id, body, means)

export const completeTask = (db: Db, principal: Principal, id: string, means: RequestMeans) =>
  act(db, principal, id, { leadsTo: 'COMPLETED' }, means)

export const dismissTask = (db: Db, principal: Principal, id: string, means: RequestMeans) =>
  act(db, principal, id, { leadsTo: 'DISMISSED' }, means)

type Reassignment = {
  user_ids: string[] | undefined
  group_ids: string[] | undefined
  replace: boolean
}

export async function reassignTask(
  db: Db,
  principal: Principal,
  id: string,
  body: Reassignment,
): Promise<null> {
  await db.transaction(async (tx) => {
    const request = isId(id) ? await lockRequestOf(tx, id) : null
    const task = await findTask(tx, principal, id, true)
    if (!(await mayAct(tx, principal, task)))
      throw new CoreError(403, 'The task is not assigned to you')
    if (!task.taskCategory.endsWith('APPROVAL'))
      throw new CoreError(400, 'Only approval tasks can be reassigned')
    // Choosing who decides is half of deciding.
    if (request) judge(request, principal, task)
    const to = distinct(body.user_ids)
    const teams = distinct(body.group_ids)
    if (request && to.some((userId) => partiesOf(request).includes(userId)))
      throw new CoreError(400, 'Whoever asked, or is to have the access, cannot decide on it')
    if (to.length + teams.length === 0) throw new CoreError(400, 'Name at least one user or group')
    for (const userId of to) await findUser(tx, principal, userId)
    await knownGroups(tx, principal, teams)
    const chosen = { users: to, groups: teams }
    if (request && body.replace && (await eligible(tx, request, chosen)) === null)
      throw new CoreError(
        400,
        'None of them can decide on it: they have left, or their groups hold nobody but who asked and who is to have the access',
      )
    const values = [...to.map((userId) => ({ userId })), ...teams.map((groupId) => ({ groupId }))]
    await tx
      .delete(taskAssignees)
      .where(
        body.replace
          ? eq(taskAssignees.taskId, task.id)
          : and(
              eq(taskAssignees.taskId, task.id),
              or(
                inArrayOrNone(taskAssignees.userId, to),
                inArrayOrNone(taskAssignees.groupId, teams),
              ),
            ),
      )
    await tx
      .insert(taskAssignees)
      .values(values.map((one) => ({ domainId: principal.domainId, taskId: task.id, ...one })))
    await recordActivity(tx, principal, 'TASK_REASSIGNED', [taskTarget(task)], {
      user_ids: to,
      group_ids: teams,
      replace: body.replace,
    })
  })
  return null
}

/** Ids each once: their letters may be capital ones. */
const distinct = (ids: string[] = []): string[] => [...new Set(ids.map((id) => id.toLowerCase()))]

type AssigneeColumn = typeof taskAssignees.userId | typeof taskAssignees.groupId

const inArrayOrNone = (column: AssigneeColumn, ids: string[]): SQL =>
  ids.length > 0 ? inArray(column, ids) : sql`false`

async function knownGroups(db: Db, { domainId }: Principal, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  const known = ids.every(isId)
    ? await db
        .select({ id: groups.id })
        .from(groups)
        .where(and(eq(groups.domainId, domainId), inArray(groups.id, ids)))
    : []
  if (known.length !== ids.length) throw notFound('Group')
}

export async function commentOnTask(
  db: Db,
  principal: Principal,
  id: string,
  body: { comment: string },
) {
  return db.transaction(async (tx) => {
    const task = await findTask(tx, principal, id)
    if (!(await mayAct(tx, principal, task)))
      throw new CoreError(403, 'The task is not assigned to you: you may read it')
    const author = toUser(await findUser(tx, principal, principal.userId))
    const { domainId, userId: createdById } = principal
    const [row] = await tx
      .insert(taskComments)
      .values({ domainId, taskId: task.id, body: body.comment, createdById })
      .returning()
    const { id: comment_id, createdAt } = row as typeof taskComments.$inferSelect
    // Its words are in the task: the log, which cannot be changed, says only that they were written.
    await recordActivity(tx, principal, 'TASK_COMMENTED', [taskTarget(task)], { comment_id })
    return { body: body.comment, created_by: author, created_at: createdAt.toISOString() }
  })
}
