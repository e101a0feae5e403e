/** Reassigning approval tasks to other people or groups. */
import { and, eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import { badRequest, conflict, forbidden, notFound } from '../../contract/errors/problem.ts'
import { isDecision, type ReassignTaskInput } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import { groups } from '../../database/schema/people.ts'
import { taskAssignees } from '../../database/schema/tasks.ts'
import { findUser } from '../directory/users.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import { distinctIds, isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { eligible, partiesOf } from '../requests/active-people.ts'
import { authoriseOutcome } from '../requests/task-outcome.ts'
import { actionsOf } from '../tasks/task-actions.ts'
import { actsInOwnName, findTask, taskTarget } from '../tasks/tasks.ts'
import { lockForAction } from './lock.ts'

/** Reassigns an approval task. @throws CoreError bad_request, conflict, forbidden, not_found */
export async function reassignTask(
  db: Db,
  principal: Principal,
  id: string,
  body: ReassignTaskInput,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { request, task } = await lockForAction(tx, principal, id)
    if (!isDecision(task.taskCategory)) throw badRequest('Only approval tasks can be reassigned')
    if (actionsOf(task.taskCategory, task.status).length === 0)
      throw conflict(`The task is already ${task.status}`)
    // Choosing who decides is part of deciding.
    if (request) authoriseOutcome(request, principal, task)
    // A delegate's reassignment would outlast the delegation.
    if (!(await actsInOwnName(tx, principal, task)))
      throw forbidden(
        'As a delegate you can decide on this task but not reassign it: the person you stand in for can, and an admin',
      )
    const to = distinctIds(body.user_ids ?? [])
    const teams = distinctIds(body.group_ids ?? [])
    if (request && to.some((userId) => partiesOf(request).includes(userId)))
      throw badRequest('The requester and the person to receive the access cannot decide on it')
    if (to.length + teams.length === 0) throw badRequest('Name at least one user or group')
    for (const userId of to) await findUser(tx, principal, userId)
    await knownGroups(tx, principal, teams)
    const chosen = { users: to, groups: teams }
    if (request && body.replace && (await eligible(tx, request, chosen)) === null)
      throw badRequest(
        'None of them can decide on it: they have left, or their groups contain only the requester and the person to receive the access',
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
}

/** Reports whether a caller may reassign a task; a delegate may only decide. @throws CoreError not_found */
export const mayReassign = async (db: Db, principal: Principal, id: string): Promise<boolean> =>
  actsInOwnName(db, principal, await findTask(db, principal, id))

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
