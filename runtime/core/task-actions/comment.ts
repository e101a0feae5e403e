/** Comments on tasks. */
import { forbidden } from '../../contract/errors/problem.ts'
import { type Db, written } from '../../database/database.ts'
import { type TaskRow, taskComments } from '../../database/schema/tasks.ts'
import { findUser, toUser } from '../directory/users.ts'
import { recordActivity } from '../kernel/audit/activity.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { findTask, mayActOn, taskTarget } from '../tasks/tasks.ts'

/** Adds a comment to a task. @throws CoreError `forbidden` if the caller may only read it, `not_found` */
export async function commentOnTask(
  db: Db,
  principal: Principal,
  id: string,
  body: { comment: string },
) {
  return db.transaction(async (tx) => {
    const task = await findTask(tx, principal, id)
    if (!(await mayActOn(tx, principal, task)))
      throw forbidden('The task is not assigned to you: you may read it')
    const author = toUser(await findUser(tx, principal, principal.userId))
    const { createdAt } = await say(tx, principal, task, body.comment)
    return { body: body.comment, created_by: author, created_at: createdAt.toISOString() }
  })
}

/** Writes a comment by a user who may act on the task. */
export async function say(tx: Db, principal: Principal, task: TaskRow, body: string) {
  const { domainId, userId: createdById } = principal
  const [row] = await tx
    .insert(taskComments)
    .values({ domainId, taskId: task.id, body: body, createdById })
    .returning()
  const comment = written(row)
  // The text is kept with the task. The log cannot be changed, so it records only that a comment was written.
  await recordActivity(tx, principal, 'TASK_COMMENTED', [taskTarget(task)], {
    comment_id: comment.id,
  })
  return comment
}
