/** The inbox: what waits for a person, and one task of it with what a decision can rest on. */
import { html } from 'hono/html'
import type { Task } from '../../contract/models/task.ts'
import { layout, type Markup, type Visitor } from '../frame/layout.ts'
import { age, initials, momentOf, nameOf } from '../frame/words.ts'
import { empty, pagesNav } from './parts.ts'
import { badge } from './states.ts'
import { type OpenTask, taskDetail } from './task-detail.ts'

export type InboxPage = {
  visitor: Visitor
  userId: string
  flash: Markup | null
  tasks: { items: readonly Task[]; total: number; page: number; pages: number }
  /** The task that is open; null for none. */
  open: OpenTask | null
  now: Date
}

export function inboxPage(page: InboxPage): Markup {
  const { visitor, open } = page
  return layout({
    title: open ? `${whoOf(open.task)} · Inbox` : 'Inbox',
    visitor,
    area: 'inbox',
    content: html`<div class="split${open ? ' open' : ''}">
${list(page)}
${open ? taskDetail(page, open) : nothingOpen(page)}
</div>
${keys()}`,
  })
}

export const whoOf = (task: Task): string =>
  task.target_user ? nameOf(task.target_user) : 'Keyway'

function list(page: InboxPage): Markup {
  const { tasks, open } = page
  const name = open
    ? html`<h2 id="h-list">Inbox</h2>`
    : html`<h1 class="ask" id="h-list">Inbox</h1>`
  return html`<section class="list" id="list" aria-labelledby="h-list">
<header class="stack tight">
<div class="row">${name}<span class="count">${tasks.total}</span><a class="small end" href="#keys" data-dialog data-key="?">Keyboard <kbd>?</kbd></a></div>
</header>
<ul>${tasks.items.map((one) => item(one, page))}</ul>
${pagesNav(tasks, 'tasks', (at) => `/inbox?page=${at}`)}
</section>`
}

const KINDS: Partial<Record<Task['task_category'], Markup>> = {
  PROVISIONING: badge('', 'hand', 'By hand'),
  DEPROVISIONING: badge('', 'hand', 'By hand'),
  ERROR: badge('bad', 'alert', 'Failed'),
}

/** The first sentence of what a task says, without why. */
const gist = ({ description, task_type }: Task): string =>
  (description ?? task_type).split(' Reason: ')[0] ?? ''

const item = (task: Task, { open, now }: InboxPage): Markup => html`
<li><span class="avatar busy" aria-hidden="true">${initials(whoOf(task))}</span><div class="fit"><a class="go over cut" href="/inbox/${task.id}" data-item${task.id === open?.task.id ? html` aria-current="true"` : ''}>${whoOf(task)}<span class="unseen">: ${gist(task)}</span></a><span class="sub wrap" aria-hidden="true">${gist(task)}</span>${KINDS[task.task_category] ?? ''}</div><span class="small soft age">${age(momentOf(task.created_at), now)}</span></li>`

const nothingOpen = ({ tasks, flash, now }: InboxPage): Markup => {
  const [oldest] = tasks.items
  return html`<div class="detail">${flash ?? ''}<div class="card">${
    oldest
      ? empty(
          'mail',
          'Choose a task',
          html`The oldest of ${tasks.total} has waited for ${age(momentOf(oldest.created_at), now)}. Go through them with <kbd>j</kbd> and <kbd>k</kbd>, open one with <kbd>Enter</kbd>.`,
          'h2',
        )
      : empty(
          'check',
          'Nothing waits for you',
          'What you have to decide, or to do by hand, appears here.',
          'h2',
        )
  }</div></div>`
}

const keys = (): Markup => html`<dialog id="keys" aria-labelledby="h-keys"><form method="dialog">
<h2 id="h-keys">Keyboard</h2>
<dl class="kv"><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous task</dd><dt><kbd>Enter</kbd></dt><dd>open it</dd><dt><kbd>a</kbd></dt><dd>go to the first button; Enter presses it</dd><dt><kbd>d</kbd></dt><dd>go to the one that says no</dd><dt><kbd>r</kbd></dt><dd>write a reason</dd><dt><kbd>/</kbd></dt><dd>search</dd></dl>
<p class="small soft">No single key decides.</p>
<div class="row"><button class="btn main">Close</button></div>
</form></dialog>`
