/** Tasks of access requests, for decisions and for manual work. */
import { and, eq, inArray, notInArray, sql } from 'drizzle-orm'
import { OPEN_TASKS, type TaskCategory } from '../../contract/models/task.ts'
import { entriesOf } from '../../contract/schema/keys.ts'
import type { Db } from '../../database/database.ts'
import { prepared } from '../../database/prepared.ts'
import { apps } from '../../database/schema/apps.ts'
import { users } from '../../database/schema/people.ts'
import type { PeopleAndGroups, RequestRow } from '../../database/schema/requests.ts'
import { taskAssignees, tasks } from '../../database/schema/tasks.ts'
import { hasRow } from '../kernel/has-row.ts'
import { openTask } from '../tasks/open-task.ts'
import { systemOf } from './machine/request.ts'
import { type RequestTask, TASKS } from './machine/tasks.ts'

/** Types of tasks that stay open when the request ends or moves on. */
const OUTLIVING = entriesOf(TASKS).flatMap(([, { taskType, outlivesRequest }]) =>
  outlivesRequest ? [taskType] : [],
)

/** Opens a task of a request. Its description names the access, the app and the person. */
export async function openRequestTask(
  tx: Db,
  request: RequestRow,
  what: RequestTask,
  { users: userIds, groups: groupIds }: PeopleAndGroups,
  instructions: string | null,
): Promise<void> {
  const { taskType, verb, preposition } = TASKS[what]
  const [names] = await namesOf(tx, { appId: request.appId, userId: request.targetUserId })
  const thing = request.label === null ? 'access' : `“${request.label}”`
  const reason = what === 'revoke' ? whyRevoked(request) : request.notes['PENDING']
  const why = reason ? ` Reason: ${reason}` : ''
  await openTask(tx, systemOf(request), {
    taskType,
    productArea: 'APPSTORE',
    description: `${verb} ${thing} in ${names?.app ?? 'an app'} ${preposition} ${names?.email ?? ''}.${why}`,
    ...(instructions ? { instructions } : {}),
    appId: request.appId,
    targetUserId: request.targetUserId,
    accessRequestId: request.id,
    ...(request.permissionId === null ? {} : { requestablePermissionId: request.permissionId }),
    assignees: { userIds, groupIds },
  })
}

/** Returns why access is revoked, or null if no reason was given. */
const whyRevoked = ({ notes }: RequestRow): string | null =>
  Object.hasOwn(notes, 'REVERTING') ? (notes['REVERTING'] ?? null) : 'Its time is up'

const namesOf = prepared('names of app and user', (db) =>
  db
    .select({ app: apps.name, email: users.email })
    .from(apps)
    .leftJoin(users, eq(users.id, sql.placeholder('userId')))
    .where(eq(apps.id, sql.placeholder('appId'))),
)

/** Returns the assignees of the open tasks of a request. */
export async function askedByTasks(
  tx: Db,
  { id }: Pick<RequestRow, 'id'>,
): Promise<PeopleAndGroups> {
  const rows = await tx
    .select({ userId: taskAssignees.userId, groupId: taskAssignees.groupId })
    .from(taskAssignees)
    .innerJoin(tasks, eq(tasks.id, taskAssignees.taskId))
    .where(and(eq(tasks.accessRequestId, id), inArray(tasks.status, OPEN_TASKS)))
  return {
    users: rows.flatMap(({ userId }) => (userId === null ? [] : [userId])),
    groups: rows.flatMap(({ groupId }) => (groupId === null ? [] : [groupId])),
  }
}

/** Reports whether a request has an open task of a category. */
export async function hasOpenTask(
  tx: Db,
  request: RequestRow,
  category: TaskCategory,
): Promise<boolean> {
  return hasRow(
    tx,
    tasks,
    eq(tasks.accessRequestId, request.id),
    eq(tasks.taskCategory, category),
    inArray(tasks.status, OPEN_TASKS),
  )
}

/** Closes the open tasks of a request, which are no longer needed. Those that outlive it stay open. */
export async function closeTasks(
  tx: Db,
  request: RequestRow,
  status: 'DISMISSED' | 'EXPIRED' | 'COMPLETED',
): Promise<void> {
  await closing(tx, { status, requestId: request.id })
}

const closing = prepared('close tasks of access request', (db) =>
  db
    .update(tasks)
    .set({ status: sql`${sql.placeholder('status')}` })
    .where(
      and(
        eq(tasks.accessRequestId, sql.placeholder('requestId')),
        notInArray(tasks.taskType, OUTLIVING),
        inArray(tasks.status, OPEN_TASKS),
      ),
    ),
)
