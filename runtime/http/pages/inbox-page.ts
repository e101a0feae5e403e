/** The inbox: what waits for a person, and one task of it with what a decision can rest on. */
import { html } from 'hono/html'
import type { Task } from '../../contract/models/task.ts'
import type { RequestSubject } from '../../core/asking/subjects.ts'
import { layout, type Markup, type Visitor } from '../frame/layout.ts'
import type { Tongue } from '../frame/tongue.ts'
import { initials, nameOf, parseMoment } from '../frame/words.ts'
import { inboxEvents } from './inbox-live.ts'
import { empty, pagesNav } from './parts.ts'
import { badge } from './states.ts'
import { lineOf, type OpenTask, taskDetail } from './task-detail.ts'

type InboxPage = {
  t: Tongue
  visitor: Visitor
  userId: string
  flash: Markup | null
  tasks: { items: readonly Task[]; total: number; page: number; pages: number }
  /** What the tasks of requests are about, by the id of a request. */
  subjects: ReadonlyMap<string, RequestSubject>
  /** The task that is open; null for none. */
  open: OpenTask | null
  now: Date
}

export function inboxPage(page: InboxPage): Markup {
  const { t, visitor, open, tasks } = page
  const events = inboxEvents(tasks, open?.task ?? null)
  return layout({
    t,
    title: open ? `${whoOf(open.task)} · ${t.w.inbox}` : t.w.inbox,
    visitor,
    area: 'inbox',
    content: html`<div class="split${open ? ' open' : tasks.total === 0 ? ' clear' : ''}">
${list(page, events)}
${open ? taskDetail({ ...page, events }, open) : nothingOpen(page, events)}
</div>
${t.look.keys && keys(t)}`,
  })
}

const whoOf = (task: Task): string => (task.target_user ? nameOf(task.target_user) : 'Keyway')

function list(page: InboxPage, events: string): Markup {
  const { t, tasks, open } = page
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

const kindOf = ({ w }: Tongue, { task_category: category }: Task): Markup | string => {
  if (category === 'ERROR') return badge('bad', 'alert', w.failed)
  const isByHand = category === 'PROVISIONING' || category === 'DEPROVISIONING'
  return isByHand ? badge('', 'hand', w.by_hand) : ''
}

const item = (task: Task, { t, subjects, open, now }: InboxPage): Markup => {
  const line = lineOf(t, task, subjects.get(task.access_request_id ?? ''))
  return html`
<li><span class="avatar busy" aria-hidden="true">${initials(whoOf(task))}</span><div class="fit"><a class="go over cut" href="/inbox/${task.id}" data-item${task.id === open?.task.id ? html` aria-current="true"` : ''}>${whoOf(task)}<span class="unseen">: ${line}</span></a><span class="sub wrap" aria-hidden="true">${line}</span>${kindOf(t, task)}</div><span class="small soft age">${t.age(parseMoment(task.created_at), now)}</span></li>`
}

const nothingOpen = ({ t, tasks, flash, now }: InboxPage, events: string): Markup => {
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
}: Tongue): Markup => html`<dialog id="keys" aria-labelledby="h-keys"><form method="dialog">
<h2 id="h-keys">${w.keyboard}</h2>
<dl class="kv"><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>${w.key_next}</dd><dt><kbd>Enter</kbd></dt><dd>${w.key_open}</dd><dt><kbd>a</kbd></dt><dd>${w.key_first}</dd><dt><kbd>d</kbd></dt><dd>${w.key_no}</dd><dt><kbd>r</kbd></dt><dd>${w.key_reason}</dd><dt><kbd>/</kbd></dt><dd>${w.key_search}</dd></dl>
<p class="small soft">${w.key_note} <a href="/settings/personal">${w.key_off}</a></p>
<div class="row"><button class="btn main">${w.close}</button></div>
</form></dialog>`
