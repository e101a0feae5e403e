/** Comments on tasks. */
import { CoreError } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { taskComments } from '../../database/schema/tasks.ts'
import { findUser, toUser } from '../directory/users.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { findTask, mayAct, taskTarget } from '../tasks/tasks.ts'

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
