/** List of a person's access: the reason, the end, and the possible actions. */
import { html } from 'hono/html'
import type { Access } from '../../contract/models/access.ts'
import type { AccessRequest } from '../../contract/models/access-request.ts'
import { ACTIONABLE_TASKS, isDecision } from '../../contract/models/task.ts'
import { GIVEN_BACK } from '../../core/asking/give-back.ts'
import { standingOf } from '../../core/requests/machine/states.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { initials, nameOf, parseMoment } from '../frame/words.ts'
import { assigneesText } from './assignee-names.ts'
import { ask } from './parts.ts'
import { requestBadge } from './states.ts'

/** One thing that a person has. */
export type Held = {
  title: string
  place: string
  why: Markup | string
  /** State while it is being revoked, or null. */
  leaving: Markup | null
  /** When it ends; null if it has no end. */
  endsAt: Date | null
  /** Length for which it was granted, in seconds; null if unknown. */
  seconds: number | null
  /**
   * The request that grants it longest, if it can be given back, or null. All requests that grant it are
   * given back with it.
   */
  giveBack: string | null
  /** Whether Keyway did not grant it. Then `why` names the source that revokes it. */
  isFound: boolean
  /** Address to request more time, or null. */
  extend: string | null
}

/**
 * Merges rows of the same thing, with the reasons of all. Each request whose grant no sync finds is a row of
 * its own, and an extension is a further request.
 */
export function asOne(items: readonly Access[]): Access[] {
  const all = new Map<string, Access>()
  items.forEach((one, at) => {
    const { app_id, label, entitlement_type, entitlement_id, resource_id } = one
    const thing = [app_id, label, entitlement_type, entitlement_id, resource_id]
    const key = JSON.stringify(one.kind === 'granted' ? thing : at)
    const before = all.get(key)
    all.set(key, before ? { ...before, reasons: [...before.reasons, ...one.reasons] } : one)
  })
  return [...all.values()]
}

/** Returns the longest-lasting reason that is still in force. */
function lasting(reasons: Access['reasons']): Access['reasons'][number] | undefined {
  const endOf = ({ ends_at: end }: Access['reasons'][number]): number =>
    end ? parseMoment(end).getTime() : Number.MAX_SAFE_INTEGER
  return reasons
    .filter(({ request_status: status }) => status === 'COMPLETED')
    .toSorted((a, b) => endOf(b) - endOf(a))[0]
}

/** Requests that granted access, and names of accounts, by id. */
type HeldWith = {
  requests: ReadonlyMap<string, AccessRequest>
  names: ReadonlyMap<string, string>
}

/** Converts a row of the core's list for display. */
export function heldOf(
  t: PageLocale,
  access: Access,
  { requests, names }: HeldWith,
  now: Date,
): Held {
  const { w } = t
  const titles = {
    account: w.account,
    group: access.label ?? w.group,
    entitlement: access.label ?? access.entitlement_id ?? w.permission,
    granted: access.label ?? w.access,
  } as const
  const account =
    access.kind === 'account'
      ? [names.get(access.account_id ?? '') ?? [], access.unique_identifier ?? []].flat()
      : []
  const asked = access.reasons.filter(({ kind }) => kind === 'request')
  // Access that one request or policy still grants stays, even if another ends.
  const reason =
    lasting(access.reasons.filter(({ kind }) => kind === 'policy')) ??
    lasting(asked) ??
    asked[0] ??
    access.reasons[0] ??
    null
  const request = requests.get(reason?.request_id ?? '')
  const byPolicy = access.reasons.some(({ kind }) => kind === 'policy')
  const isLeaving = request !== undefined && !byPolicy && standingOf(request.status) === 'unwanted'
  const own = reason?.kind === 'request' && reason.request_status === 'COMPLETED' && request
  const permission = request?.requestable_permissions[0]
  const query = new URLSearchParams({
    app_id: request?.app_id ?? '',
    ...(permission ? { permission: permission.id } : {}),
  })
  return {
    title: titles[access.kind],
    place: [...new Set([access.app_name ?? w.directory, ...account])].join(' · '),
    why: isLeaving ? leavingOf(t, request, now) : whyOf(t, access, reason, request, now),
    leaving: isLeaving ? requestBadge(t, request) : null,
    endsAt: reason?.ends_at && !isLeaving ? parseMoment(reason.ends_at) : null,
    seconds: request?.expiration_in_seconds ?? null,
    giveBack: own ? request.id : null,
    isFound: reason === null || reason.kind === 'found',
    extend: own && reason?.ends_at ? `/access/request?${query}` : null,
  }
}

function whyOf(
  { w, day }: PageLocale,
  access: Access,
  reason: Access['reasons'][number] | null,
  request: AccessRequest | undefined,
  now: Date,
): Markup | string {
  if (reason?.kind === 'policy') return w.given_by_policy(reason.policy_name ?? null)
  if (access.kind === 'group') return w.you_are_a_member
  if (reason?.kind !== 'request' || !request) return w.found_in(access.app_name ?? null)
  const by = (request.tasks ?? [])
    .filter((one) => isDecision(one.task_category) && one.status === 'COMPLETED')
    .flatMap(({ resolved_by }) => (resolved_by ? [nameOf(resolved_by)] : []))
  const asked = request.requested_at ? day(parseMoment(request.requested_at), now) : null
  const yes = by.length > 0 ? w.approved_by([...new Set(by)].join(', ')) : w.pre_approved
  return w.requested_and(asked, yes)
}

/** Formats why access is being revoked, and by whom. */
function leavingOf(t: PageLocale, request: AccessRequest, now: Date): Markup | string {
  const { w } = t
  const note = request.notes['REVERTING']
  const by = request.revoked_by
  const why = by
    ? w.revoked_by(nameOf(by))
    : note === GIVEN_BACK
      ? w.leaves_given_back
      : note
        ? w.leaves_no_reason
        : w.leaves_time_over
  const task = (request.tasks ?? []).find(
    (one) => one.task_category === 'DEPROVISIONING' && ACTIONABLE_TASKS.includes(one.status),
  )
  if (task === undefined) return w.leaves_by_keyway(why)
  const since = t.moment(parseMoment(task.created_at), now)
  return w.leaves_by_hand(why, assigneesText(t, task.assignees ?? []), since)
}

/** Returns the share of its time that is left, from 0 to 100. */
const leftOf = ({ endsAt, seconds }: Held, now: Date): number =>
  endsAt === null || !seconds
    ? 100
    : Math.max(0, Math.min(100, (endsAt.getTime() - now.getTime()) / 10 / seconds))

/** A grant ends soon at most a week before its end, however long it lasts. */
const SOON_MS = 7 * 86_400_000

/** Returns the urgency: `bad` within an hour of the end, `wait` in the last fifth of its time, at most a week. */
function urgency(held: Held, now: Date): 'busy' | 'wait' | 'bad' {
  const leftMs = (held.endsAt?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime()
  if (leftMs < 3_600_000) return 'bad'
  return leftMs < SOON_MS && leftOf(held, now) < 20 ? 'wait' : 'busy'
}

/** Returns the access that ends first among those that end soon, or null. */
export function endingSoon(held: readonly Held[], now: Date): Held | null {
  const soon = held
    .filter((one) => one.endsAt !== null && urgency(one, now) !== 'busy')
    .sort((a, b) => (a.endsAt?.getTime() ?? 0) - (b.endsAt?.getTime() ?? 0))
  return soon[0] ?? null
}

function lifeOf(t: PageLocale, held: Held, now: Date): Markup {
  const { endsAt, leaving } = held
  if (leaving !== null) return leaving
  if (endsAt === null) return html`<span class="small soft">${t.w.no_end}</span>`
  const kind = urgency(held, now)
  const left = Math.max(0, (endsAt.getTime() - now.getTime()) / 1000)
  return html`<span class="row small"><span class="${kind === 'busy' ? '' : `t ${kind}`}">${t.w.left(t.length(left))}</span><span class="soft end">${t.w.ends(t.day(endsAt, now))}</span></span>
<svg class="life" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="m0" width="100" height="6"/><rect class="f ${kind}" width="${Math.round(leftOf(held, now))}" height="6"/></svg>`
}

const actionsOf = ({ w }: PageLocale, held: Held): Markup => {
  const { title, place, giveBack, extend, leaving, isFound } = held
  if (leaving !== null || isFound) return html``
  const which = html`<span class="unseen">${w.of_thing(title, place)}</span>`
  return html`${extend && html`<a class="btn less" href="${extend}">${w.ask_to_extend}${which}</a>`}${
    giveBack
      ? html`<a class="btn less plain" href="#give-back-${giveBack}" data-dialog>${w.give_back}${which}</a>`
      : html`<span class="soft small wide-only">${w.cannot_give_back}</span>`
  }`
}

export const heldItem = (t: PageLocale, held: Held, now: Date): Markup => html`<li>
<span class="who"><span class="avatar app" aria-hidden="true">${initials(held.place)}</span><span><strong class="wrap">${held.title}</strong><span class="sub wrap">${held.place}</span></span></span>
<p class="soft small wrap">${held.why}</p>
<div class="stack tight">${lifeOf(t, held, now)}</div>
<div class="row">${actionsOf(t, held)}</div>
</li>`

export const giveBackQuestion = (
  { w }: PageLocale,
  { title, place, giveBack }: Held,
  proof: string,
): Markup | string =>
  giveBack === null
    ? ''
    : ask({
        id: `give-back-${giveBack}`,
        title: w.give_back_question(title, place),
        text: w.give_back_text,
        action: `/access/requests/${giveBack}/give-back`,
        proof,
        button: w.give_back,
        keep: w.keep_it,
      })
