/** What has happened to an access request, what happens now and what will: as steps for who waits for it. */
import { html } from 'hono/html'
import type { AccessRequest, RequestStatus } from '../../contract/models/access-request.ts'
import { ACTIONABLE_TASKS, type Task } from '../../contract/models/task.ts'
import { type Icon, icon } from '../frame/icons.ts'
import type { Markup } from '../frame/layout.ts'
import { accessLength, moment, momentOf, nameOf } from '../frame/words.ts'
import type { Kind } from './states.ts'

export type Step = {
  /** `next`: it is still to come. */
  kind: Kind | 'next'
  icon: Icon
  title: string
  /** What stands below: moments and what was said. */
  parts: (Markup | string)[]
}

type Reader = { userId: string; now: Date }

/** The steps of a request, oldest first. */
export function stepsOf(request: AccessRequest, reader: Reader): Step[] {
  const tasks = request.tasks ?? []
  return [
    asked(request, reader),
    ...tasks.flatMap((task) => decided(task, request, reader)),
    ...ruled(request),
    ...tasks.flatMap((task) => byHand(task)),
    ...(NOW[request.status]?.(request, reader) ?? []),
  ]
}

const quoted = (text: string | null | undefined): string[] => (text ? [`“${text}”`] : [])

const note = ({ notes }: AccessRequest, status: RequestStatus): string | null =>
  notes[status] ?? null

function asked(request: AccessRequest, { userId, now }: Reader): Step {
  const { requester_user: requester, target_user: target } = request
  const who = requester.id === userId ? 'You' : nameOf(requester)
  const forTarget =
    requester.id === target.id ? '' : target.id === userId ? ' for you' : ` for ${nameOf(target)}`
  const at = request.requested_at ? [moment(momentOf(request.requested_at), now)] : []
  return {
    kind: 'good',
    icon: 'check',
    title: `${who} asked${forTarget}`,
    parts: [
      ...at,
      accessLength(request.expiration_in_seconds),
      ...quoted(note(request, 'PENDING')),
    ],
  }
}

/** Some names in a sentence, of many the first. */
export function oneOf(names: readonly string[]): string {
  if (names.length === 0) return 'Someone'
  const few = names.slice(0, 3)
  const more = names.length - few.length
  const last = more > 0 ? `${more} others` : few.pop()
  return few.length === 0 ? (last ?? '') : `${few.join(', ')} or ${last}`
}

const assignees = ({ assignees }: Task): string[] =>
  (assignees ?? []).map(({ name, email }) => name || email || 'Someone')

const standIns = ({ delegates }: Task): string[] =>
  delegates && delegates.length > 0
    ? [`or, as delegate, ${oneOf(delegates.map(({ name, email }) => name || email || 'Someone'))}`]
    : []

function decided(task: Task, request: AccessRequest, { userId, now }: Reader): Step[] {
  if (!task.task_category.endsWith('APPROVAL')) return []
  const isManager = task.task_category === 'MANAGER_APPROVAL'
  const by = task.resolved_by
  const decider = by ? (by.id === userId ? 'You' : nameOf(by)) : 'Someone'
  const who = task.resolved_for ? `${decider}, for ${nameOf(task.resolved_for)},` : decider
  const at = moment(momentOf(task.updated_at), now)
  if (task.status === 'COMPLETED') {
    const said = isManager ? note(request, 'MANAGER_APPROVED') : null
    return [{ kind: 'good', icon: 'check', title: `${who} said yes`, parts: [at, ...quoted(said)] }]
  }
  if (task.status === 'DISMISSED' && by) {
    const said = note(request, isManager ? 'MANAGER_DENIED' : 'DENIED')
    return [{ kind: 'bad', icon: 'x', title: `${who} said no`, parts: [at, ...quoted(said)] }]
  }
  if (task.status === 'EXPIRED')
    return [{ kind: '', icon: 'clock', title: 'Nobody decided in time', parts: [at] }]
  if (!ACTIONABLE_TASKS.includes(task.status)) return []
  const since = html`since ${moment(momentOf(task.created_at), now)}`
  return [
    {
      ...{ kind: 'wait', icon: 'clock', title: `${oneOf(assignees(task))} decides now` },
      parts: [since, ...standIns(task)],
    },
  ]
}

/** Where a rule said yes, or a check no, there is no task. */
function ruled(request: AccessRequest): Step[] {
  const people = (request.tasks ?? []).some((one) => one.task_category.endsWith('APPROVAL'))
  if (people) return []
  const yes = note(request, 'APPROVED')
  if (yes !== null)
    return [{ kind: 'rule', icon: 'rule', title: 'Approved by a rule', parts: quoted(yes) }]
  if (request.status !== 'DENIED') return []
  return [{ kind: 'bad', icon: 'x', title: 'Denied', parts: quoted(note(request, 'DENIED')) }]
}

const BY_HAND: Partial<Record<Task['task_category'], string>> = {
  PROVISIONING: 'gives it',
  DEPROVISIONING: 'takes it back',
}

function byHand(task: Task): Step[] {
  if (!ACTIONABLE_TASKS.includes(task.status)) return []
  const verb = BY_HAND[task.task_category]
  if (verb === undefined) return []
  return [
    { kind: 'wait', icon: 'hand', title: `${oneOf(assignees(task))} ${verb} by hand`, parts: [] },
  ]
}

const next = (title: string): Step => ({ kind: 'next', icon: 'clock', title, parts: [] })

const untilWhen = ({ expiration_in_seconds: seconds }: AccessRequest): string =>
  (seconds ?? null) === null ? 'Then yours, without an end' : `Then yours, ${accessLength(seconds)}`

const then = (request: AccessRequest): Step[] => [next(untilWhen(request))]

const busy = (title: string) => (): Step[] => [{ kind: 'busy', icon: 'sync', title, parts: [] }]

const ended =
  (kind: Kind, icon: Icon, title: string, status: RequestStatus) =>
  (request: AccessRequest): Step[] => [{ kind, icon, title, parts: quoted(note(request, status)) }]

/** NOW: state -> what happens in it and after it, where no task says so. */
const NOW: Partial<Record<RequestStatus, (request: AccessRequest, reader: Reader) => Step[]>> = {
  PENDING: (request) => [...busy('It is being checked')(), ...then(request)],
  PENDING_MANAGER_APPROVAL: then,
  MANAGER_APPROVED: then,
  PENDING_APPROVAL: then,
  APPROVED: then,
  PENDING_PROVISIONING: (request) => [...busy('Keyway is giving it')(), ...then(request)],
  PENDING_MANUAL_PROVISIONING: then,
  PROVISIONED: busy('It is being given'),
  COMPLETED: (request, { now }) => [
    {
      kind: 'good',
      icon: 'check',
      title: request.expires_at ? 'It is yours' : 'It is yours, without an end',
      parts: request.expires_at ? [html`until ${moment(momentOf(request.expires_at), now)}`] : [],
    },
  ],
  PENDING_DEPROVISIONING: busy('Its time is over; Keyway is taking it back'),
  REVERTING: (request) => [
    {
      kind: 'busy',
      icon: 'sync',
      title: 'Keyway is taking it back',
      parts: quoted(note(request, 'REVERTING')),
    },
  ],
  DENIED_PROVISIONING: ended('bad', 'x', 'It was not given', 'DENIED_PROVISIONING'),
  CANCELLED: ended('', 'minus', 'It was withdrawn', 'CANCELLED'),
  REVERTED: ended('', 'minus', 'It is gone', 'REVERTED'),
  TIME_BASED_EXPIRED: ended('', 'minus', 'Its time was over; it is gone', 'TIME_BASED_EXPIRED'),
  TIME_BASED_EXPIRED_FAILED: ended(
    'bad',
    'alert',
    'Its time was over, and nobody took it back in time',
    'TIME_BASED_EXPIRED_FAILED',
  ),
  TIME_BASED_EXPIRED_CANCELLED: ended(
    'wait',
    'alert',
    'Its time was over; a person decided to leave it',
    'TIME_BASED_EXPIRED_CANCELLED',
  ),
}

/** The steps as a list. */
export const timeline = (steps: readonly Step[]): Markup => html`<ol class="line">
${steps.map(
  ({ kind, icon: name, title, parts }) =>
    html`<li><span class="dot ${kind}">${kind === 'next' ? '' : icon(name)}</span><div class="wrap"><strong>${title}</strong>${parts.length > 0 ? html`<span class="sub">${parts.map((part, at) => html`${at > 0 ? ' · ' : ''}${part}`)}</span>` : ''}</div></li>`,
)}
</ol>`
