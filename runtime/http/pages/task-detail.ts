/** One task of the inbox: what is asked, on what grounds, and the buttons that decide. */
import { html } from 'hono/html'
import type { TaskGrounds } from '../../contract/models/asking.ts'
import type { SeparationConflict } from '../../contract/models/separation.ts'
import { MAX_COMMENT, type Task } from '../../contract/models/task.ts'
import { reviewIn } from '../../core/reviews/asking.ts'
import type { TaskActionType } from '../../core/tasks/task-actions.ts'
import { type Icon, icon } from '../frame/icons.ts'
import { type Markup, proofField, type Visitor } from '../frame/layout.ts'
import {
  accessLength,
  age,
  counted,
  day,
  initials,
  moment,
  momentOf,
  nameOf,
} from '../frame/words.ts'
import { note } from './parts.ts'
import type { Kind } from './states.ts'

export type OpenTask = {
  task: Task
  /** Null for who may read the task and not act on it. */
  grounds: TaskGrounds | null
  /** What was typed into the form, and why it was not taken. */
  reason: string
  problem: string | null
}

/** The page around it. */
type Around = { visitor: Visitor; flash: Markup | null; now: Date }

/** BUTTONS: action -> its words, what it looks like, its key, and what is said once it is done. */
export const BUTTONS = {
  approve: { words: 'Approve', look: 'main', icon: 'check', key: 'a', done: 'Approved.' },
  deny: { words: 'Deny', look: 'danger', icon: 'x', key: 'd', done: 'Denied.' },
  confirm: { words: 'It is done', look: 'main', icon: 'check', key: 'a', done: 'Noted as done.' },
  decline: { words: 'It will not be done', look: 'danger', icon: 'x', key: 'd', done: 'Declined.' },
  complete: { words: 'It is settled', look: 'main', icon: 'check', key: 'a', done: 'Settled.' },
  dismiss: { words: 'Nothing to do', look: '', icon: 'minus', key: 'd', done: 'Dismissed.' },
  retry: { words: 'Try again now', look: '', icon: 'sync', key: '', done: 'Keyway tries again.' },
  accept: { words: 'I do it', look: '', icon: 'user', key: '', done: 'The task is yours.' },
  release: {
    words: 'I do not do it',
    look: '',
    icon: 'minus',
    key: '',
    done: 'The task is free again.',
  },
  unblock: { words: 'It may go on', look: '', icon: 'check', key: '', done: 'It goes on.' },
  reopen: { words: 'Open it again', look: '', icon: 'sync', key: '', done: 'Open again.' },
} as const satisfies Record<
  TaskActionType,
  { words: string; look: 'main' | 'danger' | ''; icon: Icon; key: string; done: string }
>

/** Actions that take something away from a person, who should read why. */
export const NEEDS_REASON: readonly string[] = ['deny', 'decline']

export const isAction = (name: string): name is TaskActionType => Object.hasOwn(BUTTONS, name)

export function taskDetail(page: Around, open: OpenTask): Markup {
  const { flash, now } = page
  const { task, grounds } = open
  return html`<article class="detail" aria-labelledby="h-task">
<div class="narrow-only"><a href="/inbox">‹ All tasks</a></div>
${flash ?? ''}
<header class="row top-edge keep">
<span class="avatar busy big" aria-hidden="true">${initials(task.target_user ? nameOf(task.target_user) : 'Keyway')}</span>
<div class="stack tight">
<h1 class="ask wrap" id="h-task">${question(open)}</h1>
<p class="soft small">${about(open, now)}</p>
</div>
</header>
${settled(task, now)}
${grounds?.business_justification && html`<blockquote class="quote"><p class="wrap">${grounds.business_justification}</p></blockquote>`}
${whatToDo(task)}
${grounds?.target_user && facts(grounds, now)}
${comments(task, now)}
${decide(page, open)}
</article>`
}

/** What is to be done; of a review the way to its lines. */
function whatToDo(task: Task): Markup | string {
  const review = reviewIn(task)
  if (review !== null)
    return html`<div class="row"><a class="btn main" href="/inbox/reviews/${review}">${icon('shield')}Decide the lines</a></div>`
  return task.instructions ? note('', 'info', 'What is to be done', task.instructions) : ''
}

const ASKED: Partial<Record<Task['task_category'], string>> = {
  MANAGER_APPROVAL: 'asks for',
  APPROVAL: 'asks for',
}

/** The task in a sentence: who asks for what, for which user, for how long. */
function question({ task, grounds }: OpenTask): Markup | string {
  const verb = ASKED[task.task_category]
  if (verb === undefined || !grounds?.target_user) return task.description ?? task.task_type
  const { requester_user: requester, target_user: target } = grounds
  const who = nameOf(requester ?? target)
  const forTarget =
    requester && requester.id !== target.id ? html` for <b>${nameOf(target)}</b>` : ''
  const what = grounds.permission_label ?? 'access'
  return html`${who} ${verb} <b>${what}</b> in <b>${grounds.app_name ?? 'an app'}</b>${forTarget} <b>${accessLength(grounds.expiration_in_seconds)}</b>`
}

function about({ task, grounds }: OpenTask, now: Date): Markup {
  const manager = grounds?.manager_user
  const end = grounds?.decide_until
  return html`Asked ${age(momentOf(task.created_at), now)} ago${manager && html` · manager: ${nameOf(manager)}`}${end && html` · not decided by ${day(momentOf(end), now)}: the request ends`}`
}

const SETTLED: Partial<Record<Task['status'], string>> = {
  COMPLETED: 'settled this with yes',
  DISMISSED: 'settled this with no',
}

/** Who comes late sees who was first. */
function settled(
  { status, resolved_by, updated_at, task_category }: Task,
  now: Date,
): Markup | string {
  if (status === 'EXPIRED')
    return note('', 'clock', 'Nobody decided in time', 'The request has ended.')
  const words = SETTLED[status]
  if (words === undefined) return ''
  const who = resolved_by ? nameOf(resolved_by) : 'Keyway'
  const said = task_category.endsWith('APPROVAL') ? words : 'settled this'
  return note(
    '',
    'info',
    `${who} ${said}`,
    html`${age(momentOf(updated_at), now)} ago. Nothing is left to do.`,
  )
}

const fact = (kind: Kind, name: Icon, title: Markup | string, text: Markup | string = ''): Markup =>
  html`<li><span class="dot ${kind}">${icon(name)}</span><div class="wrap"><strong>${title}</strong>${text === '' ? '' : html`<span class="sub">${text}</span>`}</div></li>`

const dutyFact = ({ name, on_request, holds }: SeparationConflict): Markup =>
  fact(
    'bad',
    'alert',
    `Breaks “${name}”`,
    html`${holds.length > 0 ? html`Together with ${holds.join(', ')}. ` : ''}${
      on_request === 'EXCEPTION'
        ? 'It needs an exception, which the last decision is about.'
        : 'Nobody should hold both.'
    }`,
  )

function facts(grounds: TaskGrounds, now: Date): Markup {
  const { colleagues, held_before: before, holds } = grounds
  const what = grounds.permission_label ?? 'an account'
  const [latest] = before
  return html`<section class="card" aria-labelledby="h-grounds"><header><h2 id="h-grounds">Grounds</h2><p>Facts, not advice. You decide.</p></header>
<ul class="lines">
${grounds.separation_of_duties.map(dutyFact)}
${
  colleagues.count === 0
    ? fact('', 'user', 'Nobody else has the same manager')
    : fact(
        '',
        'user',
        `${colleagues.holding} of ${colleagues.count} others with the same manager ${colleagues.holding === 1 ? 'has' : 'have'} ${what}`,
      )
}
${
  latest
    ? fact(
        '',
        'clock',
        `Had it ${counted(before.length, 'time')} before`,
        html`Last from ${day(momentOf(latest.since), now)} to ${day(momentOf(latest.until), now)}.`,
      )
    : fact('', 'clock', 'Has not had it before')
}
${holds.length === 0 ? fact('', 'info', html`Has nothing in ${grounds.app_name ?? 'this app'} now`) : fact('', 'info', html`Has ${counted(holds.length, 'thing')} in ${grounds.app_name ?? 'this app'} now`, html`${holds.map((one, at) => html`${at > 0 ? ', ' : ''}${one.label ?? (one.kind === 'account' ? `the account ${one.unique_identifier ?? ''}` : one.kind)}`)}`)}
</ul></section>`
}

function comments({ comments }: Task, now: Date): Markup | string {
  if (!comments || comments.length === 0) return ''
  return html`<details class="more" open><summary>Comments (${comments.length})</summary>
${comments.map(
  ({ body, created_by, created_at }) =>
    html`<p class="small wrap"><strong>${created_by ? nameOf(created_by) : 'Someone'}</strong> <span class="soft">${moment(momentOf(created_at), now)}</span><br>${body}</p>`,
)}</details>`
}

function decide(
  { visitor }: Around,
  { task, grounds, reason, problem }: OpenTask,
): Markup | string {
  if (grounds === null)
    return note(
      '',
      'info',
      'You may read this task',
      'It is not assigned to you, so you cannot act on it.',
    )
  const actions = (task.actions ?? []).map(({ action_type }) => action_type).filter(isAction)
  if (actions.length === 0) return ''
  const mustSay = actions.some((one) => NEEDS_REASON.includes(one))
  return html`<form class="decide" method="post" action="/inbox/${task.id}">
${proofField(visitor.proof)}
<div class="field"><label for="why">Reason ${mustSay ? html`<span class="soft">(required for a no)</span>` : html`<span class="soft">(optional)</span>`}</label>
<textarea id="why" name="reason" rows="1" maxlength="${MAX_COMMENT}" data-key="r" aria-invalid="${problem ? 'true' : 'false'}"${problem ? html` aria-describedby="why-problem" autofocus` : ''}>
${reason}</textarea>
${problem && html`<p class="error" id="why-problem" role="alert">${icon('alert')}${problem}</p>`}</div>
<div class="row">${actions.map((name) => {
    const { words, look, icon: shape, key } = BUTTONS[name]
    const forHowLong =
      name === 'approve' && typeof grounds.expiration_in_seconds === 'number'
        ? ` ${accessLength(grounds.expiration_in_seconds)}`
        : ''
    return html`<button class="btn ${look}" name="action_type" value="${name}"${key === '' ? '' : html` data-key="${key}"`}>${icon(shape)}${words}${forHowLong}</button>`
  })}</div>
</form>`
}
