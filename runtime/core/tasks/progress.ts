/** Progress of a task that other work depends on. */
import { eq } from 'drizzle-orm'
import { OPEN_TASKS, type TaskProgress } from '../../contract/models/task.ts'
import type { Db } from '../../database/database.ts'
import { tasks } from '../../database/schema/tasks.ts'

/** Returns the progress of a task, and the user who resolved it. */
export async function progressOf(
  db: Db,
  { taskId }: { taskId: string | null },
): Promise<{ task: TaskProgress; by: string | null }> {
  if (taskId === null) return { task: 'none', by: null }
  const { status, resolvedById } = tasks
  const [found] = await db.select({ status, resolvedById }).from(tasks).where(eq(tasks.id, taskId))
  const by = found?.resolvedById ?? null
  if (found && OPEN_TASKS.includes(found.status)) return { task: 'asked', by }
  if (found?.status === 'DISMISSED') return { task: 'declined', by }
  return { task: found?.status === 'COMPLETED' ? 'done' : 'none', by }
}
