/** Opening tasks: what somebody is asked to decide or to do. */
import { sql } from 'drizzle-orm'
import type { Task, TaskCategory } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import { taskAssignees, tasks } from '../../database/schema/tasks.ts'
import { type Actor, recordActivity } from '../activity/activity.ts'

/** A task to be opened; every id is one of the actor's domain, which whoever opens it has made sure of. */
export type NewTask = {
  taskType: string
  taskCategory: TaskCategory
  productArea: NonNullable<Task['product_area']>
  description: string
  instructions?: string
  appId?: string
  targetUserId?: string
  accessRequestId?: string
  requestablePermissionId?: string
  assignees: { userIds: readonly string[]; groupIds: readonly string[] }
}

/** Opens a task and answers its id. It is PENDING, and its assignees find it among theirs. */
export async function openTask(db: Db, actor: Actor, task: NewTask): Promise<string> {
  const { assignees, ...values } = task
  const { domainId } = actor
  const { userIds, groupIds } = assignees
  const given = [
    ...userIds.map((userId) => ({ userId })),
    ...groupIds.map((groupId) => ({ groupId })),
  ]
  return db.transaction(async (tx) => {
    const [row] = await tx
      .insert(tasks)
      // The moment, not the transaction's: tasks of one transaction have an order too.
      .values({ ...values, domainId, createdAt: sql`clock_timestamp()` })
      .returning({ id: tasks.id })
    const taskId = row?.id ?? ''
    if (given.length > 0)
      await tx.insert(taskAssignees).values(given.map((one) => ({ ...one, domainId, taskId })))
    await recordActivity(
      tx,
      actor,
      'TASK_OPENED',
      [{ target_type: 'Task', name: task.taskType, id: taskId }],
      { task_category: task.taskCategory, user_ids: userIds, group_ids: groupIds },
    )
    return taskId
  })
}
