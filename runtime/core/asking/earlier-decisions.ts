/** Earlier decisions by other people on the same access request. */
import { and, asc, eq, inArray, isNotNull, ne } from 'drizzle-orm'
import { DECISION_TASKS, type Task } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import { tasks } from '../../database/schema/tasks.ts'
import { toTasks } from '../tasks/tasks.ts'

/** Maximum number of decisions returned for a request. */
const MAX_EARLIER = 20

/**
 * Returns the other decisions by people on the request of a task, oldest first, with their comments. Only for
 * people who may act on the task: the caller must check that.
 */
export async function earlierDecisions(db: Db, task: Task): Promise<Task[]> {
  const requestId = task.access_request_id ?? null
  if (requestId === null) return []
  const rows = await db
    .select()
    .from(tasks)
    .where(
      and(
        eq(tasks.accessRequestId, requestId),
        ne(tasks.id, task.id),
        inArray(tasks.taskCategory, DECISION_TASKS),
        inArray(tasks.status, ['COMPLETED', 'DISMISSED']),
        isNotNull(tasks.resolvedById),
      ),
    )
    .orderBy(asc(tasks.createdAt), asc(tasks.id))
    .limit(MAX_EARLIER)
  return toTasks(db, rows, ['comments'])
}
