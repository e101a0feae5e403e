/**
 * The inbox: the open tasks of a person, one task with the grounds for its decision, and the forms that
 * decide.
 */
import { html } from 'hono/html'
import { badRequest, CoreError, nullIfNotFound } from '../../contract/errors/problem.ts'
import { ACTIONABLE_TASKS, isByHand, MAX_COMMENT, type Task } from '../../contract/models/task.ts'
import { earlierDecisions } from '../../core/asking/earlier-decisions.ts'
import { taskGrounds } from '../../core/asking/grounds.ts'
import { decidersNow, decidersToCome } from '../../core/asking/next-deciders.ts'
import { type RequestSubject, requestSubjects } from '../../core/asking/subjects.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { performTaskAction } from '../../core/task-actions/act.ts'
import { commentOnTask } from '../../core/task-actions/comment.ts'
import { listTaskActions } from '../../core/task-actions/offered.ts'
import { mayReassign, reassignTask } from '../../core/task-actions/reassign.ts'
import { getTask, listTasks } from '../../core/tasks/tasks.ts'
import { refusalOf } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { layout, type Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { initials, nameOf, parseMoment } from '../frame/words.ts'
import { pageNumber, searchText } from './access.ts'
import { assigneesText } from './assignee-names.ts'
import { inboxEvents, waitingTasks } from './inbox-live.ts'
import { personNamed } from './named.ts'
import { empty, note, pagesNav } from './parts.ts'
import { badge } from './states.ts'
import {
  isAction,
  isGlass,
  lineOf,
  NEEDS_REASON,
  type OpenTask,
  subjectOf,
  taskDetail,
} from './task-detail.ts'
import type { Refused } from './task-more.ts'
import { OPEN_TASKS_QUERY, type Visit } from './visit.ts'

async function show(
  visit: Visit,
  open: OpenTask | null,
  status: 200 | 400 | 404 | 409 | 422 = 200,
): Promise<Response> {
  const { c, db, now, t } = visit
  const tasks = await waitingTasks(visit, pageNumber(c.req.query('page')))
  const ids = tasks.items.flatMap(({ access_request_id: id }) => (id ? [id] : []))
  const subjects = await requestSubjects(db, ids)
  const events = inboxEvents(tasks, open?.task ?? null)
  const [visitor, flash] = [await visit.visitor(), await doneNote(visit, open)]
  const page = { t, now, tasks, subjects, open, events }
  const markup = layout({
    ...{ t, title: open ? `${whoOf(open.task)} · ${t.w.inbox}` : t.w.inbox, visitor },
    area: 'inbox',
    content: html`<div class="split${open ? ' open' : tasks.total === 0 ? ' clear' : ''}">
${list(page)}
${open ? taskDetail({ t, visitor, flash, now, events }, open) : nothingOpen(page, flash)}
</div>
${t.look.keys && keys(t)}`,
  })
  return c.html(markup, status)
}

type Shown = {
  t: PageLocale
  now: Date
  tasks: Awaited<ReturnType<typeof waitingTasks>>
  /** Subjects of requests, by the id of a request. */
  subjects: ReadonlyMap<string, RequestSubject>
  /** The displayed task, or null. */
  open: OpenTask | null
  /** Address of the stream that reports changes. */
  events: string
}

const whoOf = (task: Task): string => (task.target_user ? nameOf(task.target_user) : 'Keyway')

function list(page: Shown): Markup {
  const { t, tasks, open, events } = page
  const name = open
    ? html`<h2 id="h-list">${t.w.inbox}</h2>`
    : html`<h1 id="h-list">${t.w.inbox}</h1>`
  return html`<section class="list" id="list" aria-labelledby="h-list" data-events="${events}">
<header class="stack tight">
<div class="row">${name}<span class="count">${tasks.total}</span>${t.look.keys && html`<a class="small end wide-only" href="#keys" data-dialog data-key="?"><span>${t.w.keyboard}</span> <kbd>?</kbd></a>`}</div>
</header>
<ul>${tasks.items.map((one) => item(one, page))}</ul>
${pagesNav(t, tasks, t.w.of_tasks, (at) => `/inbox?page=${at}`)}
</section>`
}

const kindOf = ({ w }: PageLocale, { task_category: category }: Task): Markup | string => {
  if (category === 'ERROR') return badge(['bad', 'alert'], w.failed)
  return isByHand(category) ? badge(['', 'hand'], w.by_hand) : ''
}

const item = (task: Task, { t, subjects, open, now }: Shown): Markup => {
  const line = lineOf(t, task, subjects.get(task.access_request_id ?? ''))
  return html`
<li><span class="avatar busy" aria-hidden="true">${initials(whoOf(task))}</span><div class="fit"><a class="go over cut" href="/inbox/${task.id}" data-item${task.id === open?.task.id ? html` aria-current="true"` : ''}>${whoOf(task)}<span class="unseen">: ${line}</span></a><span class="sub wrap" aria-hidden="true">${line}</span>${kindOf(t, task)}</div><span class="small soft age">${t.age(parseMoment(task.created_at), now)}</span></li>`
}

const nothingOpen = ({ t, tasks, now, events }: Shown, flash: Markup | null): Markup => {
  const [oldest] = tasks.items
  return html`<div class="detail">${flash ?? ''}<div id="nothing-open" data-events="${events}"><div class="card">${
    oldest
      ? empty(
          'mail',
          t.w.choose_task,
          html`${t.w.choose_task_text(tasks.total, t.lasting(parseMoment(oldest.created_at), now))} ${t.look.keys ? t.w.choose_task_keys((key) => html`<kbd>${key}</kbd>`) : ''}`,
          'h2',
        )
      : empty('check', t.w.nothing_waits, t.w.nothing_waits_text, 'h2')
  }</div></div></div>`
}

const keys = ({
  w,
}: PageLocale): Markup => html`<dialog id="keys" aria-labelledby="h-keys"><form method="dialog">
<h2 id="h-keys">${w.keyboard}</h2>
<dl class="kv"><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>${w.key_next}</dd><dt><kbd>Enter</kbd></dt><dd>${w.key_open}</dd><dt><kbd>a</kbd></dt><dd>${w.key_first}</dd><dt><kbd>d</kbd></dt><dd>${w.key_no}</dd><dt><kbd>r</kbd></dt><dd>${w.key_reason}</dd><dt><kbd>/</kbd></dt><dd>${w.key_search}</dd></dl>
<p class="small soft">${w.key_note} <a href="/settings/personal">${w.key_off}</a></p>
<div class="row"><button class="btn main">${w.close}</button></div>
</form></dialog>`

/** Renders the last decision by name, because the task below may ask for the next one. */
async function doneNote(visit: Visit, open: OpenTask | null): Promise<Markup | null> {
  const said = visit.said()
  if (said === null) return null
  const { words, about } = said
  const done = about === null || open?.task.id === about ? null : await seenTask(visit, about)
  const title = done ? await doneWords(visit, words, done, open?.task ?? null) : words
  return note('good', 'check', title, '', 'status')
}

/** Formats the last action, the approvers that follow, and how the task below relates to it. */
async function doneWords(
  { db, principal, t }: Visit,
  words: string,
  done: Found,
  next: Task | null,
): Promise<string> {
  const { w } = t
  const requestId = done.task.access_request_id ?? null
  const isSame = requestId !== null && next?.access_request_id === requestId
  const then = requestId === null || isSame ? null : await decidersNow(db, principal, requestId)
  const isGiving = isSame && next.task_category === 'PROVISIONING'
  return [
    w.done_with(words, subjectOf(t, done)),
    ...(then ? [`${w.decides_then(assigneesText(t, then.deciders, then.count))}.`] : []),
    ...(next === null ? [] : [isGiving ? w.done_next_by_hand : w.done_next]),
  ].join(' ')
}

/** Returns a task if the caller still sees it. A delegate no longer does after the decision. */
const seenTask = (visit: Visit, id: string) => taskOf(visit, id).catch(nullIfNotFound)

export const showInbox = (visit: Visit): Promise<Response> => show(visit, null)

type Found = Awaited<ReturnType<typeof taskOf>>

/** Returns a task, by default that of the address. @throws CoreError `not_found` */
async function taskOf({ c, db, principal }: Visit, id = c.req.param('id') ?? '') {
  const found = await getTask(db, principal, id, ['assignees', 'comments'])
  const task = { ...found, actions: await listTaskActions(db, principal, id) }
  const grounds = await taskGrounds(db, principal, task.id).catch((error: unknown) => {
    if (error instanceof CoreError && error.kind === 'forbidden') return null
    throw error
  })
  const requestId = task.access_request_id ?? null
  const earlier = grounds === null ? [] : await earlierDecisions(db, task)
  const ids = grounds === null || requestId === null ? [] : [requestId]
  const toCome = [...(await decidersToCome(db, principal, ids)).values()].flat()
  return { task, grounds, earlier, toCome, canReassign: await mayReassign(db, principal, id) }
}

export async function showTask(visit: Visit): Promise<Response> {
  return show(visit, { ...(await taskOf(visit)), reason: '', problem: null })
}

/** Reports whether the task has been completed in the meantime, by another person or in another tab. */
const isOver = ({ task }: Found): boolean => !ACTIONABLE_TASKS.includes(task.status)

/** Actions that leave the task open. The page stays on it. */
const STAYS: readonly string[] = ['accept', 'release', 'unblock', 'reopen']

export async function act(visit: Visit, form: Form): Promise<Response> {
  const { c, db, principal, context, t } = visit
  const id = c.req.param('id') ?? ''
  const action = form.get('action_type') ?? ''
  const reason = (form.get('reason') ?? '').replaceAll('\r\n', '\n').trim()
  if (NEEDS_REASON.includes(action) && reason === '') {
    const problem = t.w.say_why
    return show(visit, { ...(await taskOf(visit)), reason, problem }, 422)
  }
  if (!isAction(action)) throw badRequest('The form names no action')
  try {
    const body = { action_type: action, transition_to: undefined, reason }
    await performTaskAction(db, principal, id, body, context)
  } catch (error) {
    // Another person acted first, or the task has changed. The page shows its current state.
    const { problem, status } = refusalOf(t, error, 'conflict', 'bad_request')
    const found = await taskOf(visit)
    const isOfReason = reason === '' && found.task.actions.length > 0 && isGlass(found.task)
    const said = {
      [isOfReason ? 'problem' : 'refusal']: isOver(found) ? t.w.over_already : problem,
    }
    return show(visit, { ...found, reason, problem: null, ...said }, status)
  }
  return visit.done(action, STAYS.includes(action) ? `/inbox/${id}` : await nextOf(visit, id), id)
}

/**
 * Returns the next address: the visitor's next task of the same request, otherwise the longest-waiting task.
 */
async function nextOf(visit: Visit, done: string): Promise<string> {
  const items = [...(await restOf(visit, done)), ...(await waitingTasks(visit, 1)).items]
  const next = items.find(({ id }) => id !== done)
  return next ? `/inbox/${next.id}` : '/inbox'
}

/** Returns the visitor's open tasks of the same request. */
async function restOf({ db, principal }: Visit, id: string): Promise<readonly Task[]> {
  const task = await getTask(db, principal, id, []).catch(nullIfNotFound)
  const requestId = task?.access_request_id ?? null
  if (requestId === null) return []
  const query = { ...OPEN_TASKS_QUERY, access_request_id: requestId, page: 1, size: 2 }
  return (await listTasks(db, principal, query)).items
}

/** Shows the page again with the input and the problem. */
async function again(visit: Visit, refused: Refused, status: 400 | 404 | 409 | 422) {
  const open = { ...(await taskOf(visit)), reason: '', problem: null, refused }
  return show(visit, open, status)
}

export async function comment(visit: Visit, form: Form): Promise<Response> {
  const { c, db, principal, t } = visit
  const id = c.req.param('id') ?? ''
  const given = (form.get('comment') ?? '').replaceAll('\r\n', '\n').trim()
  const text = keptText(given, MAX_COMMENT)
  if (text === '')
    return again(visit, { form: 'comment', text: given, problem: t.w.say_something }, 422)
  await commentOnTask(db, principal, id, { comment: text })
  return visit.done('commented', `/inbox/${id}`)
}

export async function reassign(visit: Visit, form: Form): Promise<Response> {
  const { c, db, principal, t } = visit
  const id = c.req.param('id') ?? ''
  const text = searchText(form.get('person'))
  const { task } = await taskOf(visit)
  const person = await personNamed(db, principal, text)
  if (!person) return again(visit, { form: 'reassign', text, problem: t.w.nobody_known }, 422)
  try {
    const body = { user_ids: [person.id], group_ids: undefined, replace: true }
    await reassignTask(db, principal, task.id, body)
  } catch (error) {
    const { problem, status } = refusalOf(t, error, 'conflict', 'bad_request')
    const said = isOver(await taskOf(visit)) ? t.w.over_already : problem
    return again(visit, { form: 'reassign', text, problem: said }, status)
  }
  return visit.done('reassigned', await nextOf(visit, id))
}
