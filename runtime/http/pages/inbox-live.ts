/**
 * State that the inbox follows: the open tasks, and the progress of the displayed one, including decisions on
 * other hosts.
 */
import { nullIfNotFound } from '../../contract/errors/problem.ts'
import type { Task } from '../../contract/models/task.ts'
import { getTask, listTasks } from '../../core/tasks/tasks.ts'
import { followQuery } from '../edge/followed-lists.ts'
import { pageNumber } from './access.ts'
import { OPEN_TASKS_QUERY, type Visit } from './visit.ts'

/** Path of the stream. */
export const INBOX_EVENTS = '/inbox/events'
/** Query interval, in milliseconds. It is longer than the console's, because more people use the inbox. */
export const INBOX_PACE = { everyMs: 2000 }

const SIZE = 50

export const waitingTasks = ({ db, principal }: Visit, page: number) =>
  listTasks(db, principal, { ...OPEN_TASKS_QUERY, page, size: SIZE })

type Waiting = { items: readonly Task[]; total: number; page: number }

const stateOf = ({ items, total }: Waiting, task: Task | null) => ({
  total,
  tasks: items.map(({ id }) => id),
  task: task && { status: task.status, updated_at: task.updated_at },
})

/** Returns the address of the stream for a page with this content. */
export const inboxEvents = (tasks: Waiting, task: Task | null): string =>
  `${INBOX_EVENTS}?${followQuery(
    { page: String(tasks.page), ...(task && { task: task.id }) },
    stateOf(tasks, task),
  )}`

/** Returns the current state for the stream. */
export async function inboxState(visit: Visit): Promise<unknown> {
  const { c, db, principal } = visit
  const id = c.req.query('task')
  const tasks = await waitingTasks(visit, pageNumber(c.req.query('page')))
  // A task that has disappeared is a change, too.
  const task = id === undefined ? null : await getTask(db, principal, id, []).catch(nullIfNotFound)
  return stateOf(tasks, task)
}
