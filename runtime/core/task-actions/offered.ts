/** Actions on a task that a caller can perform. */
import type { Db } from '../../database/database.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { canBeTried, mayDecide, requestOfTask } from '../requests/task-outcome.ts'
import { findTask, mayActOn, wireActions } from '../tasks/tasks.ts'

/**
 * Returns the actions available to the caller (service.md section 4.2). Leaves out actions that would be
 * refused: all of them for a read-only token or on the caller's own request, and `retry` if nothing can be
 * retried.
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
