/** What can be done with a task by a caller. */
import type { Db } from '../../database/database.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { canBeTried, mayDecide, requestOfTask } from '../requests/task-outcome.ts'
import { findTask, mayActOn, wireActions } from '../tasks/tasks.ts'

/**
 * service.md section 4.2: the actions available for the task, to this caller. What they would be refused is not among
 * them: with a token that only reads, of what they ask for themselves, and a try of what nothing can do.
 *
 * @throws CoreError not_found
 */
export async function listTaskActions(db: Db, principal: Principal, id: string) {
  const task = await findTask(db, principal, id)
  if (principal.readOnly || !(await mayActOn(db, principal, task))) return []
  const request = await requestOfTask(db, task.accessRequestId)
  if (request === null) return wireActions(task)
  if (!mayDecide(request, principal, task)) return []
  const all = wireActions(task)
  return canBeTried(request) ? all : all.filter(({ action_type }) => action_type !== 'retry')
}
