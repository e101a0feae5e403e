/** One task of the inbox: the question, its grounds, and the buttons that decide. */
import { html } from 'hono/html'
import type { TaskGrounds } from '../../contract/models/asking.ts'
import { GLASS_TASK } from '../../contract/models/break-glass.ts'
import type { SeparationConflict } from '../../contract/models/separation.ts'
import {
  ACTIONABLE_TASKS,
  isByHand,
  isDecision,
  MAX_COMMENT,
  type ManualTask,
  type Task,
} from '../../contract/models/task.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import type { LaterStep } from '../../core/asking/next-deciders.ts'
import type { RequestSubject } from '../../core/asking/subjects.ts'
import { keptText } from '../../core/kernel/kept-text.ts'
import { filePathIn, reviewIn } from '../../core/reviews/reviewer-tasks.ts'
import type { TaskActionType } from '../../core/tasks/task-actions.ts'
import { type Icon, icon } from '../frame/icons.ts'
import { type Markup, proofField, type Visitor } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { initials, nameOf, parseMoment } from '../frame/words.ts'
import { assigneesText } from './assignee-names.ts'
import { endWords } from './ends.ts'
import { note } from './parts.ts'
import type { BadgeKind } from './states.ts'
import { commentForm, commentsOn, type Refused, reassignForm } from './task-more.ts'

export type OpenTask = {
  task: Task
  /** Null for a visitor who may read the task but not act on it. */
  grounds: TaskGrounds | null
  /** Earlier decisions on the same request. */
  earlier: readonly Task[]
  /** Approvers after this decision. */
  toCome: readonly LaterStep[]
  /** Whether the visitor may reassign the task. */
  canReassign: boolean
  /** Input of the form, and why it was refused. */
  reason: string
  problem: Markup | string | null
  /** Why nothing was done, if it concerns no field. */
  refusal?: Markup | string | null
  refused?: Refused | null
}

/** Values of the page around the task. */
type Around = {
  t: PageLocale
  visitor: Visitor
  flash: Markup | null
  now: Date
  /** Address of the stream that reports changes. */
  events: string
}

/** BUTTONS: action -> look, icon and key. The texts are in `INBOX_WORDS`. */
export const BUTTONS = {
  approve: { look: 'main', icon: 'check', key: 'a' },
  deny: { look: 'danger', icon: 'x', key: 'd' },
  confirm: { look: 'main', icon: 'check', key: 'a' },
  decline: { look: 'danger', icon: 'x', key: 'd' },
  complete: { look: 'main', icon: 'check', key: 'a' },
  dismiss: { look: '', icon: 'minus', key: 'd' },
  retry: { look: '', icon: 'sync', key: '' },
  accept: { look: '', icon: 'user', key: '' },
  release: { look: '', icon: 'minus', key: '' },
  unblock: { look: '', icon: 'check', key: '' },
  reopen: { look: '', icon: 'sync', key: '' },
} as const satisfies Record<
  TaskActionType,
  { look: 'main' | 'danger' | ''; icon: Icon; key: string }
>

/** Actions that refuse or revoke something. The person concerned should read why. */
export const NEEDS_REASON: readonly string[] = ['deny', 'decline']

export const isAction = (name: string): name is TaskActionType => Object.hasOwn(BUTTONS, name)

export function taskDetail(page: Around, open: OpenTask): Markup {
  const { t, flash, now, events } = page
  const { task, grounds } = open
  return html`<article class="detail" aria-labelledby="h-task">
<div class="narrow-only"><a href="/inbox">‹ ${t.w.all_tasks}</a></div>
${flash ?? ''}
${open.refusal ? note('bad', 'alert', t.w.not_done, open.refusal, 'alert') : ''}
<header class="row top-edge keep">
<span class="avatar busy big" aria-hidden="true">${initials(task.target_user ? nameOf(task.target_user) : 'Keyway')}</span>
<div class="stack tight">
<h1 class="ask wrap" id="h-task">${question(t, open)}</h1>
<p class="soft small">${about(t, open, now)}</p>
</div>
</header>
<div id="settled" role="status" data-events="${events}">${settled(t, task, now)}</div>
${grounds?.business_justification && !takes(task) && html`<blockquote class="quote"><p class="wrap">${grounds.business_justification}</p></blockquote>`}
${whatToDo(t, open, now)}
${grounds?.target_user && facts(t, { ...open, grounds }, now)}
${commentsOn(t, task, now)}
<div id="decide" data-events="${events}">${decide(page, open)}</div>
${more(page, open)}
</article>`
}

/** Renders the instructions of a task. For a review, the link to its lines. */
function whatToDo(t: PageLocale, open: OpenTask, now: Date): Markup | string {
  const { w } = t
  const { task } = open
  const review = reviewIn(task)
  if (review !== null)
    return html`<div class="row"><a class="btn main" href="/inbox/reviews/${review}">${icon('shield')}${w.decide_lines}</a></div>`
  const byHand = workByHand(t, open, now)
  const lines = [byHand, task.instructions].filter((one) => one !== null)
  if (lines.length === 0) return ''
  const text = html`${lines.map((one, at) => html`${at > 0 ? html`<br>` : ''}${one}`)}`
  const file = filePathIn(task)
  return html`${note('', 'info', w.what_to_do, text)}${file === null ? '' : html`<div class="row"><a class="btn" href="${file}">${w.attach_file}</a></div>`}`
}

/** HAND_WORDS: category of manual work -> key of the text that describes it. */
const HAND_WORDS: Record<ManualTask, 'give_by_hand' | 'take_by_hand'> = {
  PROVISIONING: 'give_by_hand',
  DEPROVISIONING: 'take_by_hand',
}

/** Reports whether the task is to revoke something. The reason of the request no longer applies then. */
const takes = ({ task_category: category }: Task): boolean => category === 'DEPROVISIONING'

/** Renders the manual work for a request, and the button to press afterwards; null for other tasks. */
function workByHand(t: PageLocale, { task, grounds }: OpenTask, now: Date): Markup | string | null {
  const { task_category: category, status, access_request_id: requestId } = task
  const isOpen = ACTIONABLE_TASKS.includes(status)
  if (!isByHand(category) || !isOpen || requestId === null || !grounds?.target_user) return null
  const key = HAND_WORDS[category]
  const [done] = t.w.actions.confirm
  const thing = thingOf(t, grounds)
  const who = nameOf(grounds.target_user)
  if (takes(task)) return t.w[key](thing, who, done)
  const length = t.accessLength(grounds.expiration_in_seconds)
  return grounds.held_now
    ? t.w.extend_by_hand(thing, who, untilOf(t, grounds.held_now, now), length, done)
    : t.w[key](t.w.thing_long(thing, length), who, done)
}

/** Formats the end of existing access. */
const untilOf = (
  t: PageLocale,
  { until }: NonNullable<TaskGrounds['held_now']>,
  now: Date,
): Markup | string =>
  until ? t.w.until(endWords(t, parseMoment(until), now)) : t.accessLength(null)

const thingOf = (
  { w }: PageLocale,
  { permission_label: label, app_name: app }: Pick<TaskGrounds, 'permission_label' | 'app_name'>,
): string => w.thing_in(label ?? w.plain_access, app ?? w.an_app)

/**
 * Formats a task in one line. For a request: the requested access and its length. For other tasks: their own
 * text.
 */
export function lineOf(t: PageLocale, task: Task, subject: RequestSubject | undefined): string {
  const category = task.task_category
  const isWork = isByHand(category)
  if (subject === undefined || isGlass(task) || !(isWork || isDecision(category))) return gist(task)
  const thing = thingOf(t, subject)
  if (takes(task)) return t.w.take_line(thing)
  const what = `${thing}, ${t.accessLength(subject.expiration_in_seconds)}`
  return isWork ? t.w.give_line(what) : what
}

/** Returns the first sentence of a task's text, without the reason. */
const gist = ({ description, task_type }: Task): string =>
  (description ?? task_type).split(' Reason: ')[0] ?? ''

const MAX_SUBJECT = 200

/** Formats in a few words what a task is about, and for whom. */
export function subjectOf(t: PageLocale, { task, grounds }: Pick<OpenTask, 'task' | 'grounds'>) {
  if (task.access_request_id === null || !grounds?.target_user)
    return keptText(gist(task).replace(/\.$/, ''), MAX_SUBJECT)
  return t.w.thing_for(thingOf(t, grounds), nameOf(grounds.target_user))
}

/** Reports whether the task reviews break-glass access, which has already been granted. */
export const isGlass = ({ task_type }: Task): boolean => task_type === GLASS_TASK

/** Renders the task as a sentence: the requester, the access, the length. */
function question({ w, accessLength }: PageLocale, { task, grounds }: OpenTask): Markup | string {
  const asks = isDecision(task.task_category) && !isGlass(task)
  // A task without a request contains its own question.
  if (!asks || task.access_request_id === null || !grounds?.target_user)
    // The reason is shown below it.
    return grounds?.business_justification && !takes(task)
      ? gist(task)
      : (task.description ?? task.task_type)
  const { requester_user: requester, target_user: target } = grounds
  return w.asks_for(
    requester ? nameOf(requester) : w.some_policy,
    html`<b>${grounds.permission_label ?? w.plain_access}</b>`,
    html`<b>${grounds.app_name ?? w.an_app}</b>`,
    requester?.id === target.id ? null : html`<b>${nameOf(target)}</b>`,
    html`<b>${accessLength(grounds.expiration_in_seconds)}</b>`,
  )
}

function about({ w, ago, day }: PageLocale, { task, grounds }: OpenTask, now: Date): Markup {
  const manager = grounds?.manager_user
  const end = grounds?.decide_until
  const asked = grounds?.asked_at ?? task.created_at
  return html`${w.asked_ago(ago(parseMoment(takes(task) ? task.created_at : asked), now))}${manager && html` · ${w.manager(nameOf(manager))}`}${end && html` · ${w.not_decided_by(day(parseMoment(end), now))}`}`
}

/** SETTLED: state of a decided task -> key of its text. */
const SETTLED: Partial<Record<Task['status'], 'settled_yes' | 'settled_no'>> = {
  COMPLETED: 'settled_yes',
  DISMISSED: 'settled_no',
}

/** Renders the outcome for a visitor who comes after the decision. */
function settled({ w, ago }: PageLocale, task: Task, now: Date): Markup | string {
  const { status, resolved_by, updated_at, task_category } = task
  if (status === 'EXPIRED') return note('', 'clock', w.nobody_in_time, w.request_has_ended)
  const key = SETTLED[status]
  if (key === undefined) return ''
  const who = resolved_by ? nameOf(resolved_by) : 'Keyway'
  const said = isDecision(task_category) && !isGlass(task) ? key : 'settled'
  return note('', 'info', w[said](who), w.settled_text(ago(parseMoment(updated_at), now)))
}

const fact = (
  kind: BadgeKind,
  name: Icon,
  title: Markup | string,
  text: Markup | string = '',
): Markup =>
  html`<li><span class="dot ${kind}">${icon(name)}</span><div class="wrap"><strong>${title}</strong>${text === '' ? '' : html`<span class="sub">${text}</span>`}</div></li>`

const dutyFact = ({ w }: PageLocale, { name, on_request, holds }: SeparationConflict): Markup => {
  const then = on_request === 'EXCEPTION' ? w.needs_exception : w.nobody_both
  const together = holds.length > 0 ? html`${w.together_with(holds.join(', '))} ` : ''
  return fact('bad', 'alert', w.breaks(name), html`${together}${then}`)
}

/** Renders an earlier decision: the person, the time, and the comments. */
function earlierFact(t: PageLocale, one: Task, now: Date): Markup {
  const { w } = t
  const { resolved_by: by, resolved_for: inPlaceOf, comments } = one
  const isYes = one.status === 'COMPLETED'
  const said = (isYes ? w.said_yes : w.said_no)(
    by ? nameOf(by) : w.someone,
    inPlaceOf ? nameOf(inPlaceOf) : null,
  )
  const own = (comments ?? []).filter(({ created_by }) => by && created_by?.id === by.id)
  const text = html`${t.moment(parseMoment(one.updated_at), now)}${own.map(({ body }) => ` · ${w.quoted(body)}`)}`
  return fact(isYes ? 'good' : 'bad', isYes ? 'check' : 'x', said, text)
}

/** Renders that the person already has access and asks for more time; null for a new request. */
function extension(t: PageLocale, grounds: TaskGrounds, now: Date): Markup | null {
  const { held_now: held, expiration_in_seconds: seconds } = grounds
  if (!held) return null
  return fact('', 'clock', t.w.has_it_now(untilOf(t, held, now), t.accessLength(seconds)))
}

function facts(
  t: PageLocale,
  { task, grounds, earlier, toCome }: OpenTask & { grounds: TaskGrounds },
  now: Date,
): Markup {
  const { w, day } = t
  const decides = isDecision(task.task_category) && ACTIONABLE_TASKS.includes(task.status)
  const { colleagues, held_before: before, holds } = grounds
  const what = grounds.permission_label ?? w.an_account
  const app = grounds.app_name ?? null
  const [latest] = before
  const extended = takes(task) ? null : extension(t, grounds, now)
  const holdsIt = holds.some(({ label }) => label && label === grounds.permission_label)
  return html`<section class="card" aria-labelledby="h-grounds"><header><h2 id="h-grounds">${w.grounds}</h2><p>${decides ? w.grounds_lead : w.grounds_decided}</p></header>
<ul class="lines">
${earlier.map((one) => earlierFact(t, one, now))}
${decides ? toCome.map(({ deciders, count }) => fact('', 'clock', w.decides_then(assigneesText(t, deciders, count)))) : ''}
${grounds.separation_of_duties.map((one) => dutyFact(t, one))}
${grounds.findings.map(({ kind, label, opened_at: since }) => fact('wait', 'alert', html`${label === null ? '' : html`${label}: `}${w.finding_kinds[kind]}`, w.found_on(day(parseMoment(since), now))))}
${
  colleagues.count === 0
    ? fact('', 'user', w.no_peers)
    : fact('', 'user', w.peers(colleagues.holding, colleagues.count, what))
}
${extended ?? ''}
${
  latest
    ? fact(
        '',
        'clock',
        w.had_before(before.length),
        html`${w.last_from_to(day(parseMoment(latest.since), now), day(parseMoment(latest.until), now))}${latest.revoked_by_user_id ? html` ${w.was_revoked(latest.end_reason ?? null)}` : ''}`,
      )
    : takes(task) || extended
      ? ''
      : fact('', 'clock', holdsIt ? w.has_it : w.not_before)
}
${holds.length === 0 ? fact('', 'info', w.has_nothing(app)) : fact('', 'info', w.has_things(holds.length, app), html`${holds.map((one, at) => html`${at > 0 ? ', ' : ''}${one.label ?? (one.kind === 'account' ? w.the_account(one.unique_identifier ?? '') : one.kind)}`)}`)}
</ul></section>`
}

/** Renders further forms for visitors who may act. */
const more = (
  { t, visitor }: Around,
  { task, grounds, canReassign, refused = null }: OpenTask,
): Markup | string =>
  grounds === null
    ? ''
    : html`${commentForm({ t, proof: visitor.proof, task, refused })}${reassignForm({ t, proof: visitor.proof, task, refused, canReassign })}`

function decide(
  { t, visitor }: Around,
  { task, grounds, reason, problem }: OpenTask,
): Markup | string {
  const { w } = t
  if (grounds === null) return note('', 'info', w.may_read, w.may_read_text)
  // The lines of a review are decided one by one. The task closes with the last of them.
  if (reviewIn(task) !== null) return ''
  const actions = (task.actions ?? []).map(({ action_type }) => action_type).filter(isAction)
  if (actions.length === 0) return ''
  const mustSay = actions.some((one) => NEEDS_REASON.includes(one))
  const forNo = actions.includes('decline') ? w.required_for_decline : w.required_for_no
  const needed = isGlass(task) ? w.required : mustSay ? forNo : w.optional
  const readers = actions.includes('deny') && !isGlass(task) ? w.reason_readers : null
  return html`<form class="decide" method="post" action="/inbox/${task.id}">
${proofField(visitor.proof)}
<div class="field"><label for="why">${w.reason} <span class="soft">${needed}</span></label>
${readers && html`<p class="help" id="why-help">${readers}</p>`}
<textarea id="why" name="reason" rows="1" maxlength="${MAX_COMMENT}" data-key="r" aria-invalid="${problem ? 'true' : 'false'}"${problem || readers ? html` aria-describedby="${[readers && 'why-help', problem && 'why-problem'].filter(Boolean).join(' ')}"` : ''}${problem ? html` autofocus` : ''}>
${reason}</textarea>
${problem && html`<p class="error" id="why-problem" role="alert">${icon('alert')}${problem}</p>`}</div>
<div class="row">${actions.map((name) => {
    const { look, icon: shape, key } = BUTTONS[name]
    const [words] = w.actions[name]
    const forHowLong =
      name === 'approve' && !isGlass(task) && typeof grounds.expiration_in_seconds === 'number'
        ? ` ${t.accessLength(grounds.expiration_in_seconds)}`
        : ''
    return html`<button class="btn ${look}" name="action_type" value="${name}"${key === '' ? '' : html` data-key="${key}"`}>${icon(shape)}${words}${forHowLong}</button>`
  })}</div>
${hints(t, actions)}
</form>`
}

/** Renders the meaning of the buttons of manual work and failures. A yes and a no need no explanation. */
function hints({ w }: PageLocale, actions: readonly TaskActionType[]): Markup | string {
  const told = actions.filter((name) => isKeyOf(w.action_hints, name))
  if (told.length === 0) return ''
  return html`<ul class="hints small soft">${told.map((name) => html`<li><b>${w.actions[name][0]}</b>: ${w.action_hints[name]}</li>`)}</ul>`
}
