/** The locks of an action on a task: its access request first, as in every place, then the task. */
import { forbidden } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { lockRequestOf } from '../requests/task-outcome.ts'
import { findTask, mayActOn } from '../tasks/tasks.ts'

/** @throws CoreError forbidden if the task is not the caller's, not_found */
export async function lockForAction(tx: Db, principal: Principal, id: string) {
  const request = isId(id) ? await lockRequestOf(tx, id) : null
  const task = await findTask(tx, principal, id, true)
  if (!(await mayActOn(tx, principal, task))) throw forbidden('The task is not assigned to you')
  return { request, task }
}
