/** What a person has, as a list: why, until when, and what can be done about it. */
import { html } from 'hono/html'
import type { Access } from '../../contract/models/access.ts'
import type { AccessRequest } from '../../contract/models/access-request.ts'
import type { Markup } from '../frame/layout.ts'
import { day, initials, lengthOf, momentOf, nameOf } from '../frame/words.ts'
import { ask } from './parts.ts'

/** Something that a person has. */
export type Held = {
  title: string
  place: string
  why: Markup | string
  /** When it ends; null for no end. */
  endsAt: Date | null
  /** How long it was given for, in seconds; null where nobody said. */
  seconds: number | null
  /** The request that gave it, where it can be given back. */
  giveBack: string | null
  /** Where more time can be asked for. */
  extend: string | null
}

/** What a row of the core's list is for its reader; `requests` are those that gave something, by id. */
export function heldOf(
  access: Access,
  requests: ReadonlyMap<string, AccessRequest>,
  now: Date,
): Held {
  const titles = {
    account: 'Account',
    group: access.label ?? 'Group',
    entitlement: access.label ?? access.entitlement_id ?? 'Permission',
    granted: access.label ?? 'Access',
  } as const
  const reason = access.reasons.find(({ kind }) => kind === 'request') ?? access.reasons[0] ?? null
  const request = requests.get(reason?.request_id ?? '')
  const own = reason?.kind === 'request' && reason.request_status === 'COMPLETED' && request
  const permission = request?.requestable_permissions[0]
  const query = new URLSearchParams({
    app_id: request?.app_id ?? '',
    ...(permission ? { permission: permission.id } : {}),
  })
  return {
    title: titles[access.kind],
    place: [
      access.app_name ?? 'Directory',
      access.kind === 'account' ? access.unique_identifier : null,
    ]
      .filter((one) => one !== null)
      .join(' · '),
    why: whyOf(access, reason, request, now),
    endsAt: reason?.ends_at ? momentOf(reason.ends_at) : null,
    seconds: request?.expiration_in_seconds ?? null,
    giveBack: own ? request.id : null,
    extend: own && reason?.ends_at ? `/access/request?${query}` : null,
  }
}

function whyOf(
  access: Access,
  reason: Access['reasons'][number] | null,
  request: AccessRequest | undefined,
  now: Date,
): Markup | string {
  if (reason?.kind === 'policy') return `Given by policy “${reason.policy_name ?? 'deleted since'}”`
  if (access.kind === 'group') return 'You are a member'
  if (reason?.kind !== 'request' || !request)
    return `Found in ${access.app_name ?? 'the app'}; no request or policy gave it`
  const by = (request.tasks ?? [])
    .filter((one) => one.task_category.endsWith('APPROVAL') && one.status === 'COMPLETED')
    .flatMap(({ resolved_by }) => (resolved_by ? [nameOf(resolved_by)] : []))
  const asked = request.requested_at ? html` ${day(momentOf(request.requested_at), now)}` : ''
  const yes = by.length > 0 ? `approved by ${[...new Set(by)].join(', ')}` : 'pre-approved'
  return html`Requested${asked}, ${yes}`
}

/** How much of its time is left: from 0 to 100. */
export const leftOf = ({ endsAt, seconds }: Held, now: Date): number =>
  endsAt === null || !seconds
    ? 100
    : Math.max(0, Math.min(100, (endsAt.getTime() - now.getTime()) / 10 / seconds))

/** Soon: less than a fifth of its time, or a week where that is less; very soon: an hour. */
function urgency(held: Held, now: Date): 'busy' | 'wait' | 'bad' {
  const leftMs = (held.endsAt?.getTime() ?? Number.POSITIVE_INFINITY) - now.getTime()
  if (leftMs < 3_600_000) return 'bad'
  return leftOf(held, now) < 20 ? 'wait' : 'busy'
}

/** The first of those that end soon; null for none. */
export function endingSoon(held: readonly Held[], now: Date): Held | null {
  const soon = held
    .filter((one) => one.endsAt !== null && urgency(one, now) !== 'busy')
    .sort((a, b) => (a.endsAt?.getTime() ?? 0) - (b.endsAt?.getTime() ?? 0))
  return soon[0] ?? null
}

function lifeOf(held: Held, now: Date): Markup {
  const { endsAt } = held
  if (endsAt === null) return html`<span class="small soft">No end</span>`
  const kind = urgency(held, now)
  const left = Math.max(0, (endsAt.getTime() - now.getTime()) / 1000)
  return html`<span class="row small"><span class="${kind === 'busy' ? '' : `t ${kind}`}">${lengthOf(left)} left</span><span class="soft end">Ends ${day(endsAt, now)}</span></span>
<svg class="life" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="m0" width="100" height="6"/><rect class="f ${kind}" width="${Math.round(leftOf(held, now))}" height="6"/></svg>`
}

const actionsOf = ({ title, place, giveBack, extend }: Held): Markup => {
  const which = html`<span class="unseen"> ${title} of ${place}</span>`
  return html`${extend && html`<a class="btn less" href="${extend}">Ask to extend${which}</a>`}${
    giveBack
      ? html`<a class="btn less plain" href="#give-back-${giveBack}" data-dialog>Give back${which}</a>`
      : html`<span class="soft small wide-only">Cannot be given back here</span>`
  }`
}

export const heldItem = (held: Held, now: Date): Markup => html`<li>
<span class="who"><span class="avatar app" aria-hidden="true">${initials(held.place)}</span><span><strong class="wrap">${held.title}</strong><span class="sub wrap">${held.place}</span></span></span>
<p class="soft small wrap">${held.why}</p>
<div class="stack tight">${lifeOf(held, now)}</div>
<div class="row">${actionsOf(held)}</div>
</li>`

export const giveBackQuestion = (
  { title, place, giveBack }: Held,
  proof: string,
): Markup | string =>
  giveBack === null
    ? ''
    : ask({
        id: `give-back-${giveBack}`,
        title: `Give back “${title}” of ${place}?`,
        text: 'Keyway removes it. To get it again you have to ask again.',
        action: `/access/requests/${giveBack}/give-back`,
        proof,
        button: 'Give back',
        keep: 'Keep it',
      })
