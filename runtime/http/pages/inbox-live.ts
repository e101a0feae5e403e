/** What the inbox follows: which tasks wait, and how far the open one is, with decisions on other hosts too. */
import { nullIfNotFound } from '../../contract/errors/problem.ts'
import type { Task } from '../../contract/models/task.ts'
import { getTask, listTasks } from '../../core/tasks/tasks.ts'
import { followQuery } from '../edge/following.ts'
import { pageNumber } from './access.ts'
import { OPEN_TASKS_QUERY, type Visit } from './visit.ts'

/** Where it is followed. */
export const INBOX_EVENTS = '/inbox/events'
/** How often it is looked at: more people have an inbox than a console, in milliseconds. */
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

/** The address of the stream of a page that shows this. */
export const inboxEvents = (tasks: Waiting, task: Task | null): string =>
  `${INBOX_EVENTS}?${followQuery(
    { page: String(tasks.page), ...(task && { task: task.id }) },
    stateOf(tasks, task),
  )}`

/** What the stream tells now. */
export async function inboxState(visit: Visit): Promise<unknown> {
  const { c, db, principal } = visit
  const id = c.req.query('task')
  const tasks = await waitingTasks(visit, pageNumber(c.req.query('page')))
  // A task that has disappeared is a change, too.
  const task = id === undefined ? null : await getTask(db, principal, id, []).catch(nullIfNotFound)
  return stateOf(tasks, task)
}
