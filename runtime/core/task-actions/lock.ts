/** Locks for an action on a task: the access request first, as everywhere, then the task. */
import { forbidden } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'
import { isId } from '../kernel/by-id.ts'
import type { Principal } from '../kernel/identity/principal.ts'
import { lockRequestOf } from '../requests/task-outcome.ts'
import { findTask, mayActOn } from '../tasks/tasks.ts'

/** Locks a task and its request. @throws CoreError `not_found`, `forbidden` if not the caller's task */
export async function lockForAction(tx: Db, principal: Principal, id: string) {
  const request = isId(id) ? await lockRequestOf(tx, id) : null
  const task = await findTask(tx, principal, id, true)
  if (!(await mayActOn(tx, principal, task))) throw forbidden('The task is not assigned to you')
  return { request, task }
}
