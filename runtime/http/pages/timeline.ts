/** Past, present and future steps of an access request, for people who wait for it. */
import { html } from 'hono/html'
import type { AccessRequest, RequestStatus } from '../../contract/models/access-request.ts'
import { GLASS_TASK } from '../../contract/models/break-glass.ts'
import { ACTIONABLE_TASKS, isDecision, type Task } from '../../contract/models/task.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import { GIVEN_BACK } from '../../core/asking/give-back.ts'
import type { LaterStep } from '../../core/asking/next-deciders.ts'
import { decisionEnd } from '../../core/requests/machine/deciding.ts'
import type { PlainWords } from '../../words/page-words.ts'
import { type Icon, icon } from '../frame/icons.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { nameOf, parseMoment } from '../frame/words.ts'
import { assigneesText } from './assignee-names.ts'
import { ifGivenToday } from './ends.ts'
import type { BadgeKind } from './states.ts'

export type TimelineStep = {
  /** `next` is a future step. */
  kind: BadgeKind | 'next'
  icon: Icon
  title: string
  /** Moments and comments below the title. */
  parts: (Markup | string)[]
}

type Reader = {
  t: PageLocale
  userId: string
  now: Date
  /** Approvers after the current ones. */
  toCome?: readonly LaterStep[] | undefined
  /** Requests that a policy made: id -> name of the policy (`askedByPolicy`). */
  byPolicy: ReadonlyMap<string, string | null>
}

/** Returns the steps of a request, oldest first. */
export function stepsOf(request: AccessRequest, reader: Reader): TimelineStep[] {
  const tasks = request.tasks ?? []
  return [
    asked(request, reader),
    ...tasks.flatMap((task) => decided(task, request, reader)),
    ...ruled(request, reader),
    ...tasks.filter(isGiving).flatMap((task) => byHand(task, reader)),
    ...gaveBack(request, reader),
    ...revoked(request, reader),
    ...tasks.filter((task) => !isGiving(task)).flatMap((task) => byHand(task, reader)),
    ...(reader.toCome ?? []).map((step) => decidesThen(step, reader)),
    ...(NOW[request.status]?.(request, reader) ?? []),
  ]
}

const isGiving = ({ task_category: category }: Task): boolean => category === 'PROVISIONING'

const decidesThen = ({ deciders, count }: LaterStep, { t }: Reader): TimelineStep => ({
  ...{ kind: 'next', icon: 'clock', parts: [] },
  title: t.w.decides_then(assigneesText(t, deciders, count)),
})

const quoted = ({ t }: Pick<Reader, 't'>, text: string | null | undefined): string[] =>
  text ? [t.w.quoted(text)] : []

/** Returns the note of a state, unless a step of its own shows it. */
const note = ({ notes, revoked_by: by }: AccessRequest, status: RequestStatus): string | null =>
  notes[status] === GIVEN_BACK || (status === 'REVERTING' && by) ? null : (notes[status] ?? null)

function asked(request: AccessRequest, reader: Reader): TimelineStep {
  const { t, userId, now, byPolicy } = reader
  const { requester_user: requester, target_user: target } = request
  const policy = byPolicy.get(request.id)
  const who = requester.id === userId ? null : nameOf(requester)
  const other = target.id === userId ? 'you' : { name: nameOf(target) }
  const at = request.requested_at ? [t.moment(parseMoment(request.requested_at), now)] : []
  return {
    kind: 'good',
    icon: 'check',
    title:
      policy === undefined
        ? t.w.asked_step(who, requester.id === target.id ? 'self' : other)
        : t.w.asked_step(t.w.a_policy(policy), other),
    parts: [
      ...at,
      t.accessLength(request.expiration_in_seconds),
      ...quoted(reader, note(request, 'PENDING')),
    ],
  }
}

const standIns = (t: PageLocale, { delegates }: Task): string[] =>
  delegates?.length ? [t.w.or_as_delegate(assigneesText(t, delegates))] : []

/** Formats the assignees of a task. */
const assigneesOf = (t: PageLocale, { assignees }: Task): string =>
  assigneesText(t, assignees ?? [])

/** Returns when an undecided request expires. */
const endOf = ({ requested_at: at }: AccessRequest): Date | null =>
  at ? decisionEnd({ createdAt: parseMoment(at) }) : null

function decided(task: Task, request: AccessRequest, reader: Reader): TimelineStep[] {
  if (task.task_type === GLASS_TASK) return [reviewed(task, reader)]
  const { t, userId, now } = reader
  if (!isDecision(task.task_category)) return []
  const isManager = task.task_category === 'MANAGER_APPROVAL'
  const by = task.resolved_by
  const other = by ? nameOf(by) : t.w.someone
  const who = by?.id === userId ? null : other
  const forWhom = task.resolved_for ? nameOf(task.resolved_for) : null
  const at = t.moment(parseMoment(task.updated_at), now)
  if (task.status === 'COMPLETED') {
    const said = quoted(reader, isManager ? note(request, 'MANAGER_APPROVED') : null)
    return [
      { kind: 'good', icon: 'check', title: t.w.said_yes(who, forWhom), parts: [at, ...said] },
    ]
  }
  if (task.status === 'DISMISSED' && by) {
    const said = quoted(reader, note(request, isManager ? 'MANAGER_DENIED' : 'DENIED'))
    return [{ kind: 'bad', icon: 'x', title: t.w.said_no(who, forWhom), parts: [at, ...said] }]
  }
  if (task.status === 'EXPIRED')
    return [{ kind: '', icon: 'clock', title: t.w.nobody_in_time, parts: [at] }]
  if (!ACTIONABLE_TASKS.includes(task.status)) return []
  const since = t.w.since(t.moment(parseMoment(task.created_at), now))
  const title = t.w.decides_now(assigneesOf(t, task))
  const end = endOf(request)
  const parts = [since, ...standIns(t, task), ...(end ? [t.w.ends_undecided(t.day(end, now))] : [])]
  return [{ kind: 'wait', icon: 'clock', title, parts }]
}

/** Returns the step for break-glass access: the open review, or its outcome. */
function reviewed(task: Task, { t, now }: Reader): TimelineStep {
  const { w } = t
  const isOpen = ACTIONABLE_TASKS.includes(task.status)
  if (isOpen) {
    const parts = [w.since(t.moment(parseMoment(task.created_at), now))]
    return {
      kind: 'wait',
      icon: 'clock',
      title: w.glass_review_waits(assigneesOf(t, task)),
      parts,
    }
  }
  const kind = task.status === 'COMPLETED' ? 'good' : 'bad'
  const who = task.resolved_by ? nameOf(task.resolved_by) : w.someone
  const parts = [t.moment(parseMoment(task.updated_at), now)]
  return { kind, icon: kind === 'good' ? 'check' : 'x', title: w.glass_found(who), parts }
}

/** Returns the step for a request that a rule approved or a check refused. There is no task for it. */
function ruled(request: AccessRequest, reader: Reader): TimelineStep[] {
  const { w } = reader.t
  const people = (request.tasks ?? []).some((one) => isDecision(one.task_category))
  if (people) return []
  const yes = note(request, 'APPROVED')
  if (yes !== null)
    return [{ kind: 'rule', icon: 'rule', title: w.by_a_rule, parts: quoted(reader, yes) }]
  if (request.status !== 'DENIED') return []
  const no = quoted(reader, note(request, 'DENIED'))
  return [{ kind: 'bad', icon: 'x', title: w.denied, parts: no }]
}

/** BY_HAND: category of a task -> keys of its texts while it is open, and when it is done. */
const BY_HAND = {
  PROVISIONING: ['by_hand_gives', 'gave_by_hand'],
  DEPROVISIONING: ['by_hand_takes', 'took_by_hand'],
} as const satisfies Partial<Record<Task['task_category'], readonly [string, string]>>

function byHand(task: Task, { t, userId, now }: Reader): TimelineStep[] {
  const { task_category: category, status, resolved_by: by } = task
  if (!isKeyOf(BY_HAND, category)) return []
  const [waits, done] = BY_HAND[category]
  if (ACTIONABLE_TASKS.includes(status))
    return [{ kind: 'wait', icon: 'hand', title: t.w[waits](assigneesOf(t, task)), parts: [] }]
  if (status !== 'COMPLETED' || !by) return []
  const title = t.w[done](by.id === userId ? null : nameOf(by))
  const parts = [t.moment(parseMoment(task.updated_at), now)]
  return [{ kind: 'good', icon: 'hand', title, parts }]
}

/** Returns the step for access that was given back. Its note adds nothing. */
function gaveBack(request: AccessRequest, reader: Reader): TimelineStep[] {
  if (request.notes['REVERTING'] !== GIVEN_BACK) return []
  const title = reader.t.w.gave_back(holderOf(request, reader))
  return [{ kind: '', icon: 'minus', title, parts: [] }]
}

/** Returns the step for a revocation: the person and the reason. */
function revoked({ revoked_by: by, notes }: AccessRequest, reader: Reader): TimelineStep[] {
  if (!by) return []
  const title = reader.t.w.revoked_by(by.id === reader.userId ? null : nameOf(by))
  return [{ kind: 'bad', icon: 'x', title, parts: quoted(reader, notes['REVERTING']) }]
}

type Now = (request: AccessRequest, reader: Reader) => TimelineStep[]
/** Returns the name of the person who gets the access; null for the reader. */
const holderOf = ({ target_user: target }: AccessRequest, { userId }: Reader): string | null =>
  target.id === userId ? null : nameOf(target)

const then: Now = (request, reader) => {
  const { t, now } = reader
  const seconds = request.expiration_in_seconds
  const title = t.w.then_yours(holderOf(request, reader), t.accessLength(seconds))
  return [{ kind: 'next', icon: 'clock', title, parts: ifGivenToday(t, seconds, now) }]
}

const busy =
  (key: PlainWords, ...more: Now[]): Now =>
  (request, reader) => [
    { kind: 'busy', icon: 'sync', title: reader.t.w[key], parts: [] },
    ...more.flatMap((step) => step(request, reader)),
  ]

const ended =
  (kind: BadgeKind, icon: Icon, key: PlainWords, status: RequestStatus): Now =>
  (request, reader) => [
    { kind, icon, title: reader.t.w[key], parts: quoted(reader, note(request, status)) },
  ]

/** NOW: state -> its current and next steps, if no task shows them. */
const NOW: Partial<Record<RequestStatus, Now>> = {
  PENDING: busy('being_checked', then),
  PENDING_MANAGER_APPROVAL: then,
  MANAGER_APPROVED: then,
  PENDING_APPROVAL: then,
  APPROVED: then,
  PENDING_PROVISIONING: busy('giving', then),
  PENDING_MANUAL_PROVISIONING: then,
  PROVISIONED: busy('being_given'),
  COMPLETED: (request, reader) => {
    const { t, now } = reader
    const { expires_at: end } = request
    const title = (end ? t.w.yours : t.w.yours_for_good)(holderOf(request, reader))
    const parts = end ? [t.w.until(t.moment(parseMoment(end), now))] : []
    return [{ kind: 'good', icon: 'check', title, parts }]
  },
  PENDING_DEPROVISIONING: busy('over_taking'),
  REVERTING: ended('busy', 'sync', 'taking', 'REVERTING'),
  DENIED_PROVISIONING: ended('bad', 'x', 'not_given', 'DENIED_PROVISIONING'),
  CANCELLED: ended('', 'minus', 'was_withdrawn', 'CANCELLED'),
  REVERTED: ended('', 'minus', 'is_gone', 'REVERTED'),
  TIME_BASED_EXPIRED: ended('', 'minus', 'over_gone', 'TIME_BASED_EXPIRED'),
  TIME_BASED_EXPIRED_FAILED: ended('bad', 'alert', 'over_not_gone', 'TIME_BASED_EXPIRED_FAILED'),
  TIME_BASED_EXPIRED_CANCELLED: ended('wait', 'alert', 'over_left', 'TIME_BASED_EXPIRED_CANCELLED'),
}

/** Renders the steps as a list. */
export const timeline = (steps: readonly TimelineStep[]): Markup => html`<ol class="line">
${steps.map(
  ({ kind, icon: name, title, parts }) =>
    html`<li><span class="dot ${kind}">${kind === 'next' ? '' : icon(name)}</span><div class="wrap"><strong>${title}</strong>${parts.length > 0 ? html`<span class="sub">${parts.map((part, at) => html`${at > 0 ? ' · ' : ''}${part}`)}</span>` : ''}</div></li>`,
)}
</ol>`
