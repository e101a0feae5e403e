/** Tasks: who may see and act on them, and how they are read. */

import { and, asc, desc, eq, getTableColumns, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { QueryOf } from '../../contract/endpoints/table.ts'
import { notFound } from '../../contract/errors/problem.ts'
import {
  ACTIONABLE_TASKS,
  DECISION_TASKS,
  isDecision,
  type Task,
} from '../../contract/models/task.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import { type Db, one } from '../../database/database.ts'
import { apps } from '../../database/schema/apps.ts'
import { groupMembers, groups, users } from '../../database/schema/people.ts'
import { type TaskRow, taskAssignees, taskComments, tasks } from '../../database/schema/tasks.ts'
import { delegatorsOf, standInsOn, standsInFor } from '../delegation/stand-in.ts'
import { toUser, usersOf } from '../directory/users.ts'
import { idEquals, isId } from '../kernel/by-id.ts'
import { hasRow } from '../kernel/has-row.ts'
import { reach } from '../kernel/identity/app-reach.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { selectPage } from '../kernel/list/page.ts'
import { hasPart } from '../kernel/list/search.ts'
import { actionsOf } from './task-actions.ts'

/**
 * Condition on `tasks`: those that a permission reaches beyond the assigned ones, or undefined if it reaches
 * all. An App Admin's permission reaches the tasks of their apps.
 *
 * @throws CoreError forbidden
 */
function reached(db: Db, principal: Principal, permission: 'tasks.read' | 'tasks.write') {
  const ofApps = reach(principal, permission)
  return ofApps && inArray(tasks.appId, db.select({ id: apps.id }).from(apps).where(ofApps))
}

/** Reports whether the caller reaches more tasks than those assigned to them. */
const reachesMore = ({ permissions, roles }: Principal, permission: 'tasks.read' | 'tasks.write') =>
  permissions.has(permission) || roles.includes('App Admin')

/** Condition on `tasks`: those assigned to the caller, and those that a permission reaches. */
async function within(db: Db, principal: Principal, permission: 'tasks.read' | 'tasks.write') {
  if (!reachesMore(principal, permission)) return assignedTasks(db, principal.userId)
  const more = reached(db, principal, permission)
  return more && or(await assignedTasks(db, principal.userId), more)
}

/** Condition on `tasks`: those assigned to a user, and those they may decide on as a delegate. */
export async function assignedTasks(db: Db, userId: string): Promise<SQL | undefined> {
  const own = assignedTo(db, userId)
  const delegators = await delegatorsOf(db, userId)
  return delegators.length === 0 ? own : or(own, delegatedTo(userId, delegators))
}

/** Open decisions that a user may make for a delegator, except on requests by or for either of them. */
const delegatedTo = (userId: string, delegators: readonly string[]): SQL => {
  const ids = sql`${sql.param([...delegators])}::uuid[]`
  const { taskCategory, status, accessRequestId } = tasks
  return sql`(${inArray(taskCategory, DECISION_TASKS)} and ${inArray(status, [...ACTIONABLE_TASKS])} and exists (
    select from access_requests r
    join unnest(${ids}) given on given is distinct from r.requester_id and given <> r.target_user_id
    join task_assignees a on a.task_id = ${tasks.id} and (a.user_id = given
      or a.group_id in (select m.group_id from group_members m where m.user_id = given))
    where r.id = ${accessRequestId} and r.target_user_id <> ${userId}
      and r.requester_id is distinct from ${userId}::uuid))`
}

/** Condition on `tasks`: those assigned to a user, directly or through a group. Each kind uses an index. */
function assignedTo(db: Db, userId: string): SQL {
  const ids = db
    .select({ id: taskAssignees.taskId })
    .from(taskAssignees)
    .where(eq(taskAssignees.userId, userId))
  const ofGroups = db
    .select({ id: taskAssignees.taskId })
    .from(taskAssignees)
    .innerJoin(groupMembers, eq(groupMembers.groupId, taskAssignees.groupId))
    .where(eq(groupMembers.userId, userId))
  return inArray(tasks.id, ids.unionAll(ofGroups))
}

/**
 * Like `assignedTo` for one task. Starts from the task's assignees, since a user may have 100,000 tasks.
 * Plain SQL, because drizzle would write `id` without its table.
 */
const isAssigned = (userId: string): SQL<boolean> => sql`exists (
  select from task_assignees a where a.task_id = tasks.id and (a.user_id = ${userId}
    or a.group_id in (select m.group_id from group_members m where m.user_id = ${userId})))`

/** Returns a task as a target in the log. */
export const taskTarget = ({ taskType, id }: TaskRow) => ({
  target_type: 'Task',
  name: taskType,
  id,
})

type TaskQuery = QueryOf<'list_tasks'>

const SORTS = {
  createdat: tasks.createdAt,
  tasktype: tasks.taskType,
  app: tasks.appId,
  targetuser: tasks.targetUserId,
}

/** Condition that a column equals a text, which need not be one of its values. No condition for null. */
const isText = (column: PgColumn, text: string | null): SQL | undefined =>
  text === null ? undefined : sql`${column} = ${text}`

/** Lists the tasks that the caller may see. */
export async function listTasks(db: Db, principal: Principal, query: TaskQuery) {
  const where = and(
    eq(tasks.domainId, principal.domainId),
    query.show_all_tasks
      ? reached(db, principal, 'tasks.read')
      : await assignedTasks(db, principal.userId),
    query.task_type === null ? undefined : eq(tasks.taskType, query.task_type),
    isText(tasks.taskCategory, query.task_category),
    isText(tasks.status, query.status),
    query.open ? inArray(tasks.status, ACTIONABLE_TASKS) : undefined,
    isText(tasks.productArea, query.product_area),
    query.search === null ? undefined : hasPart(tasks.description, query.search),
    query.access_request_id === null
      ? undefined
      : idEquals(tasks.accessRequestId, query.access_request_id),
    assignees(db, query.assigned_identity_ids, query.assigned_group_ids),
  )
  const direction = query.sort_direction?.toLowerCase() === 'asc' ? asc : desc
  const order = [direction(sortColumn(query.sort_by)), direction(tasks.id)]
  const expand = query.expand.filter((name) => name !== 'comments')
  return selectPage(db, tasks, { where, order }, query, (rows) => toTasks(db, rows, expand))
}

/** Returns the column to sort by. Unknown names sort by age, as does no name. */
function sortColumn(name: string | null) {
  const wanted = (name ?? '').toLowerCase()
  return isKeyOf(SORTS, wanted) ? SORTS[wanted] : tasks.createdAt
}

function assignees(db: Db, userIds: string[], groupIds: string[]): SQL | undefined {
  const [people, teams] = [userIds.filter(isId), groupIds.filter(isId)]
  if (userIds.length === 0 && groupIds.length === 0) return undefined
  const wanted = or(
    people.length > 0 ? inArray(taskAssignees.userId, people) : undefined,
    teams.length > 0 ? inArray(taskAssignees.groupId, teams) : undefined,
  )
  // No id is well-formed, so nothing can match.
  if (!wanted) return sql`false`
  return inArray(
    tasks.id,
    db.select({ id: taskAssignees.taskId }).from(taskAssignees).where(wanted),
  )
}

/** Converts rows to their wire format with everything they refer to, in a fixed number of queries. */
export async function toTasks(db: Db, rows: TaskRow[], expand: readonly string[]): Promise<Task[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const people = rows
    .flatMap((row) => [row.targetUserId, row.resolvedById, row.resolvedForId])
    .filter((id) => id !== null)
  const found =
    people.length > 0 ? await db.select().from(users).where(inArray(users.id, people)) : []
  const byId = new Map(found.map((user) => [user.id, toUser(user)]))
  const assigned = expand.includes('assignees') ? await assigneesOf(db, ids) : null
  const standIns = assigned && (await standInsOf(db, rows))
  const said = expand.includes('comments') ? await commentsOf(db, ids) : null
  return rows.map((row) => ({
    id: row.id,
    task_type: row.taskType,
    task_category: row.taskCategory,
    status: row.status,
    description: row.description,
    instructions: row.instructions,
    product_area: row.productArea,
    app: row.appId === null ? null : { id: row.appId },
    target_user: row.targetUserId === null ? null : (byId.get(row.targetUserId) ?? null),
    resolved_by: row.resolvedById === null ? null : (byId.get(row.resolvedById) ?? null),
    resolved_for: row.resolvedForId === null ? null : (byId.get(row.resolvedForId) ?? null),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    assignees:
      assigned?.filter(({ taskId }) => taskId === row.id).map(({ taskId, ...one }) => one) ?? null,
    delegates: standIns?.get(row.id) ?? (standIns && []),
    actions: expand.includes('actions') ? wireActions(row) : null,
    comments:
      said?.filter(({ taskId }) => taskId === row.id).map(({ taskId, ...one }) => one) ?? null,
    access_request_id: row.accessRequestId,
    requestable_permission_id: row.requestablePermissionId,
  }))
}

async function assigneesOf(db: Db, ids: string[]) {
  const rows = await db
    .select({ taskId: taskAssignees.taskId, user: users, group: groups })
    .from(taskAssignees)
    .leftJoin(users, eq(users.id, taskAssignees.userId))
    .leftJoin(groups, eq(groups.id, taskAssignees.groupId))
    .where(inArray(taskAssignees.taskId, ids))
  return rows.map(({ taskId, user, group }) => ({
    taskId,
    id: user?.id ?? group?.id ?? '',
    type: user ? ('USER' as const) : ('GROUP' as const),
    name: user ? `${user.givenName} ${user.familyName}`.trim() : (group?.name ?? null),
    email: user?.email ?? null,
  }))
}

/** Returns, by task, the people who may decide open tasks as delegates of the assignees. */
async function standInsOf(db: Db, rows: readonly TaskRow[]) {
  const open = rows.filter(
    ({ taskCategory, status }) =>
      isDecision(taskCategory) && ACTIONABLE_TASKS.some((one) => one === status),
  )
  const ids = open.map(({ id }) => id)
  const pairs = await standInsOn(db, ids)
  const people = await usersOf(db, [...new Set(pairs.map(({ delegateId }) => delegateId))])
  const named = people.map(({ id, givenName, familyName, email }) => ({
    ...{ id, type: 'USER' as const, email },
    name: `${givenName} ${familyName}`.trim(),
  }))
  return new Map(
    ids.map((taskId) => {
      const mine = pairs.filter((one) => one.taskId === taskId).map((one) => one.delegateId)
      return [taskId, named.filter(({ id }) => mine.includes(id))] as const
    }),
  )
}

async function commentsOf(db: Db, ids: string[]) {
  const rows = await db
    .select({ comment: taskComments, user: users })
    .from(taskComments)
    .leftJoin(users, eq(users.id, taskComments.createdById))
    .where(inArray(taskComments.taskId, ids))
    .orderBy(asc(taskComments.createdAt), asc(taskComments.id))
  return rows.map(({ comment, user }) => ({
    taskId: comment.taskId,
    body: comment.body,
    created_by: user ? toUser(user) : null,
    created_at: comment.createdAt.toISOString(),
  }))
}

/** Returns the actions that a task offers in its state, in their wire format. */
export const wireActions = ({ taskCategory, status }: TaskRow) =>
  actionsOf(taskCategory, status).map(({ action_type, to }) => ({
    action_type,
    transitions: to.map((transition_to) => ({ transition_to })),
  }))

/**
 * Returns a task that the caller may see: one assigned to them (`isOwn`), or any task for admins.
 *
 * @throws CoreError not_found, also for a task of others
 */
export async function findTask(
  db: Db,
  principal: Principal,
  id: string,
  lock = false,
): Promise<TaskRow & { isOwn: boolean }> {
  const isOwn = isAssigned(principal.userId)
  const question = db
    .select({ ...getTableColumns(tasks), isOwn })
    .from(tasks)
    .where(
      and(
        idEquals(tasks.id, id),
        eq(tasks.domainId, principal.domainId),
        await within(db, principal, 'tasks.read'),
      ),
    )
  const [row] = await (lock ? question.for('update') : question)
  if (!row) throw notFound('Task')
  return row
}

/** Returns a task in its wire format. @throws CoreError not_found */
export async function getTask(db: Db, principal: Principal, id: string, expand: string[]) {
  return one(await toTasks(db, [await findTask(db, principal, id)], expand))
}

/** Reports whether the caller may act on a task that they can see. */
export async function mayActOn(db: Db, principal: Principal, task: TaskRow): Promise<boolean> {
  const mine = await within(db, principal, 'tasks.write')
  // The permission covers all tasks, so also this one.
  if (mine === undefined) return true
  return hasRow(db, tasks, eq(tasks.id, task.id), mine)
}

/** Reports whether a caller may act on a task in their own name, not just as a delegate. */
export async function actsInOwnName(
  db: Db,
  principal: Principal,
  task: TaskRow & { isOwn: boolean },
): Promise<boolean> {
  if (task.isOwn) return true
  if (!reachesMore(principal, 'tasks.write')) return false
  const more = reached(db, principal, 'tasks.write')
  if (more === undefined) return true
  return hasRow(db, tasks, eq(tasks.id, task.id), more)
}

/** Returns the delegator for whom the caller decides a task, or null if they decide as assignee or admin. */
export async function decidesFor(
  db: Db,
  { userId }: Principal,
  task: TaskRow & { isOwn: boolean },
  parties: readonly string[],
): Promise<string | null> {
  if (!isDecision(task.taskCategory) || task.isOwn) return null
  const delegators = await delegatorsOf(db, userId)
  if (delegators.length === 0) return null
  const isTheirs = (id: string) => hasRow(db, tasks, eq(tasks.id, task.id), isAssigned(id))
  const asked: string[] = []
  for (const id of delegators) if (await isTheirs(id)) asked.push(id)
  return standsInFor(userId, { asked, delegators, parties })
}
