/** Opening tasks, and completing those that are no longer needed. */

import { randomUUID } from 'node:crypto'
import { and, eq, inArray, sql } from 'drizzle-orm'
import { OPEN_TASKS, type Task } from '../../contract/models/task.ts'
import { TASK_TYPES, type TaskType } from '../../contract/models/task-type.ts'
import type { Db } from '../../database/database.ts'
import { taskAssignees, tasks } from '../../database/schema/tasks.ts'
import { type Actor, recordActivity } from '../kernel/audit/activity.ts'

/** A task to open. Its type determines its category. The caller has checked that every id belongs to the actor's domain. */
export type NewTask = {
  taskType: TaskType
  productArea: NonNullable<Task['product_area']>
  description: string
  instructions?: string
  appId?: string
  targetUserId?: string
  accessRequestId?: string
  requestablePermissionId?: string
  assignees: { userIds: readonly string[]; groupIds: readonly string[] }
}

/** Creates a PENDING task. @returns its id */
export async function openTask(tx: Db, actor: Actor, task: NewTask): Promise<string> {
  const { assignees, ...values } = task
  const { domainId } = actor
  const { userIds, groupIds } = assignees
  const taskId = randomUUID()
  const { category: taskCategory } = TASK_TYPES[task.taskType]
  const made = tx
    .insert(tasks)
    // Not now(): tasks opened in one transaction need an order too.
    .values({ ...values, taskCategory, id: taskId, domainId, createdAt: sql`clock_timestamp()` })
  const { domain_id, task_id, user_id, group_id } = ASSIGNEE
  await tx.execute(sql`with made as (${made.getSQL()})
    insert into ${taskAssignees} (${domain_id}, ${task_id}, ${user_id}, ${group_id})
    select ${domainId}::uuid, ${taskId}::uuid, given, null from unnest(${sql.param([...userIds])}::uuid[]) given
    union all
    select ${domainId}::uuid, ${taskId}::uuid, null, given from unnest(${sql.param([...groupIds])}::uuid[]) given`)
  await recordActivity(
    tx,
    actor,
    'TASK_OPENED',
    [{ target_type: 'Task', name: task.taskType, id: taskId }],
    { task_category: taskCategory, user_ids: userIds, group_ids: groupIds },
  )
  return taskId
}

/** Completes a task that is no longer needed. @returns whether it was open */
export async function completeOpenTask(tx: Db, taskId: string): Promise<boolean> {
  const done = await tx
    .update(tasks)
    .set({ status: 'COMPLETED' })
    .where(and(eq(tasks.id, taskId), inArray(tasks.status, OPEN_TASKS)))
    .returning({ id: tasks.id })
  return done.length > 0
}

const ASSIGNEE = {
  domain_id: sql.identifier(taskAssignees.domainId.name),
  task_id: sql.identifier(taskAssignees.taskId.name),
  user_id: sql.identifier(taskAssignees.userId.name),
  group_id: sql.identifier(taskAssignees.groupId.name),
}
