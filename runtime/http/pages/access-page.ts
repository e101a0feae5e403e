/** My access: what a person has, is waiting for, and may request. */
import { html } from 'hono/html'
import type { AccessRequest, RequestStatus } from '../../contract/models/access-request.ts'
import type { App } from '../../contract/models/app.ts'
import type { RequestOutlook } from '../../contract/models/asking.ts'
import { CATEGORIES, type Category } from '../../contract/models/categories.ts'
import { GIVEN_BACK } from '../../core/asking/give-back.ts'
import type { LaterStep } from '../../core/asking/next-deciders.ts'
import type { Closed } from '../../core/asking/not-requestable.ts'
import { PENDING_STATES } from '../../core/requests/machine/states.ts'
import { icon } from '../frame/icons.ts'
import { layout, type Markup, proofField, type Visitor } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { initials, nameOf, parseMoment } from '../frame/words.ts'
import { endingSoon, giveBackQuestion, type Held, heldItem } from './held.ts'
import { howLongItTakes, whoDecides } from './outlook-words.ts'
import { ask, empty, note, pagesNav } from './parts.ts'
import { closedWords } from './request-page.ts'
import { badge, requestBadge } from './states.ts'
import { stepsOf, timeline } from './timeline.ts'

type Listed<T> = { items: readonly T[]; total: number; page: number; pages: number }

type AccessPage = {
  t: PageLocale
  visitor: Visitor
  userId: string
  /**
   * Message of the last action. The forms that lead here concern waiting requests, so it is shown above
   * these.
   */
  flash: Markup | null
  held: Listed<Held>
  waiting: Listed<AccessRequest>
  /** Ids of waiting requests whose approvers may be reminded now. */
  remindable: ReadonlySet<string>
  /** Approvers after the current ones, by the id of a request. */
  toCome: ReadonlyMap<string, readonly LaterStep[]>
  ended: Listed<AccessRequest>
  /** Waiting and ended requests that a policy made: id -> name of the policy. */
  byPolicy: ReadonlyMap<string, string | null>
  store: Listed<App>
  /** Apps of the store in which the visitor may request nothing, by id. */
  closed: ReadonlyMap<string, Closed>
  /** Outcome of a request by the visitor, by the id of an app. */
  outlooks: ReadonlyMap<string, RequestOutlook>
  /** Number of permissions to request, and how many of them the visitor has, by the id of an app. */
  permissionsIn: ReadonlyMap<string, { all: number; mine: number }>
  /** Whether the visitor has more than the page shows. Then the number per app is unknown. */
  holdsMore: boolean
  /** Search text for the store. */
  search: string
  /** Selected category; empty for all. */
  category: string
  categories: readonly string[]
  /** Whether the visitor may take break-glass access. */
  hasBreakGlass: boolean
  now: Date
}

export function accessPage(page: AccessPage): Markup {
  const { t, visitor, held, now, waiting } = page
  const { w } = t
  const soon = endingSoon(held.items, now)
  // Waiting requests come first, because people look for them. They only want to confirm most of what they
  // have.
  const isWaiting = waiting.total > 0 || refusedLately(page).length > 0
  return layout({
    t,
    title: w.my_access,
    visitor,
    area: 'access',
    content: html`<div class="page portal">
<div class="head">
<div><h1>${w.my_access}</h1><p>${w.access_lead}</p></div>
<div class="row">${page.hasBreakGlass && html`<a class="btn" href="/access/break-glass">${w.break_glass}</a>`}<a class="btn main" href="#catalogue">${icon('plus')}${w.request_access}</a></div>
</div>
${soon?.endsAt ? note('wait', 'clock', w.ends_soon(soon.title, soon.place), w.ends_soon_text(t.day(soon.endsAt, now), soon.extend === null ? null : html`<a href="${soon.extend}">${w.ask_to_extend}</a>`)) : ''}
${isWaiting ? html`${waitingFor(page)}${have(page)}` : html`${have(page)}${waitingFor(page)}`}
${catalogue(page)}
${held.items.map((one) => giveBackQuestion(t, one, visitor.proof))}
${waiting.items.filter(canWithdraw).map((one) => withdrawQuestion(t, one, visitor.proof))}
</div>`,
  })
}

/** Returns the address of the page with the given page numbers. */
function addressOf(
  { search, category }: AccessPage,
  parts: Record<string, number>,
  hash: string,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ q: search, category }))
    if (value !== '') query.set(name, value)
  for (const [name, value] of Object.entries(parts)) if (value > 1) query.set(name, String(value))
  const text = query.toString()
  return `/access${text === '' ? '' : `?${text}`}#${hash}`
}

const have = (page: AccessPage): Markup => {
  const { t, held, store, now } = page
  const [given, found] = [
    held.items.filter(({ isFound }) => !isFound),
    held.items.filter(({ isFound }) => isFound),
  ]
  return html`
<section class="card" id="have" aria-labelledby="h-have">
<header><h2 id="h-have">${t.w.what_you_have}</h2><span class="count">${held.total}</span></header>
${
  held.items.length === 0
    ? empty(
        'info',
        t.w.nothing_yet,
        t.w.nothing_yet_text((words) => html`<a href="#catalogue">${words}</a>`),
      )
    : html`${given.length > 0 && heldItems(given, t, now)}${found.length > 0 && html`<details class="more"><summary>${t.w.not_by_keyway} (${found.length})</summary>${heldItems(found, t, now)}</details>`}`
}
${pagesNav(t, held, t.w.of_have, (have) => addressOf(page, { have, page: store.page }, 'have'))}
</section>`
}

const heldItems = (items: readonly Held[], t: PageLocale, now: Date): Markup =>
  html`<ul class="have">${items.map((one) => heldItem(t, one, now))}</ul>`

const thing = ({ requestable_permissions: [permission], app_name: app }: AccessRequest): string =>
  permission?.label ?? app

/** Reports whether the requester may withdraw: until access has been granted or refused. */
export const canWithdraw = ({ status }: AccessRequest): boolean =>
  PENDING_STATES.some((one) => one === status)

export const withdrawQuestion = (
  { w }: PageLocale,
  request: AccessRequest,
  proof: string,
): Markup =>
  ask({
    id: `withdraw-${request.id}`,
    title: w.withdraw_question(thing(request)),
    text: w.withdraw_text,
    action: `/access/requests/${request.id}/withdraw`,
    proof,
    button: w.withdraw,
    keep: w.go_on_waiting,
    field: html`<div class="field"><label for="why-${request.id}">${w.why} <span class="soft">${w.optional}</span></label><input id="why-${request.id}" name="reason" maxlength="1000" autocomplete="off"></div>`,
  })

export const remindForm = (
  { w }: PageLocale,
  request: AccessRequest,
  proof: string,
): Markup => html`
<details class="more"><summary>${w.remind_approvers}<span class="unseen"> ${thing(request)}</span></summary>
<form class="stack" method="post" action="/access/requests/${request.id}/remind">
${proofField(proof)}
<div class="field"><label for="remind-${request.id}">${w.remind_word} <span class="soft">${w.optional}</span></label><p class="help" id="remind-${request.id}-help">${w.remind_help}</p>
<input id="remind-${request.id}" name="comment" maxlength="1000" autocomplete="off" aria-describedby="remind-${request.id}-help"></div>
<div><button class="btn">${w.remind_do}</button></div>
</form></details>`

const waitingFor = (page: AccessPage): Markup => html`
<section class="stack" id="waiting" aria-labelledby="h-waiting">
<div class="row"><h2 id="h-waiting">${page.t.w.what_you_wait_for}</h2><span class="count">${page.waiting.total}</span></div>
${page.flash ?? ''}
${
  page.waiting.items.length === 0
    ? html`<p class="soft">${page.t.w.waiting_none}</p>`
    : html`<div class="stack halves">${page.waiting.items.map((one) => waitingCard(one, page))}</div>`
}
${page.waiting.total > page.waiting.items.length && html`<p class="small soft">${page.t.w.older_requests(page.waiting.total - page.waiting.items.length)}</p>`}
${refusals(page)}
${endedOnes(page)}
</section>`

/** States of requests that ended against the requester's wish. */
export const REFUSED: readonly RequestStatus[] = [
  ...(['MANAGER_DENIED', 'DENIED', 'EXPIRED', 'DENIED_PROVISIONING'] as const),
]

/** How long a refusal stays visible on the page, in milliseconds, so that the requester finds it. */
const LATELY_MS = 7 * 24 * 3_600_000

const endedAt = ({ tasks, requested_at: at }: AccessRequest): number =>
  Math.max(0, ...[...(tasks ?? []).map((one) => one.updated_at), at ?? ''].map(momentMs))
const momentMs = (text: string): number => (text === '' ? 0 : parseMoment(text).getTime())

const refusedLately = ({ ended, now }: AccessPage): readonly AccessRequest[] =>
  ended.items.filter(
    (one) => REFUSED.includes(one.status) && now.getTime() - endedAt(one) < LATELY_MS,
  )

const refusals = (page: AccessPage): Markup | string => {
  const { t, userId, now, byPolicy } = page
  const refused = refusedLately(page)
  return refused.length === 0
    ? ''
    : html`<h3>${t.w.refused_lately}</h3><div class="stack halves">${refused.map((one) => refusedCard(one, { t, userId, now, byPolicy }))}</div>`
}

const refusedCard = (request: AccessRequest, reader: Parameters<typeof stepsOf>[1]): Markup => html`
<article class="card" aria-labelledby="r-${request.id}">
${cardHead(request, reader.t)}
<div class="in stack">${timeline(stepsOf(request, reader))}
${!reader.byPolicy.has(request.id) && html`<div class="row"><a class="btn less" href="${askAgain(request)}">${reader.t.w.ask_again}<span class="unseen"> ${thing(request)}</span></a></div>`}</div></article>`

/** Returns the address of the form for the same request, with the earlier reason filled in. */
function askAgain({ id, app_id, requestable_permissions: [permission] }: AccessRequest): string {
  const wanted = permission ? { permission: permission.id } : {}
  return `/access/request?${new URLSearchParams({ app_id, ...wanted, again: id })}`
}

const cardHead = (request: AccessRequest, t: PageLocale): Markup =>
  html`<header><span class="avatar app" aria-hidden="true">${initials(request.app_name)}</span><div class="fit"><h3 class="wrap"><a class="go" id="r-${request.id}" href="/access/requests/${request.id}">${thing(request)}, ${t.accessLength(request.expiration_in_seconds)}</a></h3><p class="small soft wrap">${request.app_name}</p></div><span class="end">${requestBadge(t, request)}</span></header>`

const waitingCard = (
  request: AccessRequest,
  { t, visitor, userId, remindable, toCome, byPolicy, now }: AccessPage,
): Markup => html`
<article class="card" aria-labelledby="r-${request.id}">
${cardHead(request, t)}
<div class="in stack">
${timeline(stepsOf(request, { t, userId, now, byPolicy, toCome: toCome.get(request.id) }))}
${canWithdraw(request) && html`<div class="row"><a class="btn less plain" href="#withdraw-${request.id}" data-dialog>${t.w.withdraw}<span class="unseen"> ${thing(request)}</span></a></div>`}
${remindable.has(request.id) && remindForm(t, request, visitor.proof)}
</div></article>`

/** Renders the ended requests, except the refusals shown above. */
const endedOnes = (page: AccessPage): Markup | string => {
  const { t, ended } = page
  const refused = refusedLately(page)
  const items = ended.items.filter((one) => !refused.includes(one))
  return items.length === 0
    ? ''
    : html`
<details class="more"><summary>${t.w.ended_requests} (${ended.total - refused.length})</summary>
<div class="card"><div class="scroll" role="region" aria-label="${t.w.ended_requests}" tabindex="0"><table>
<thead><tr><th scope="col">${t.w.column_what}</th><th scope="col">${t.w.column_how}</th></tr></thead>
<tbody>${items.map((one) => endedLine(one, page))}</tbody></table></div></div></details>`
}

function endedLine(one: AccessRequest, { t, userId, now }: AccessPage): Markup {
  const { notes, status, target_user: target, requested_at: at, revoked_by: by } = one
  const said = notes[status] === GIVEN_BACK ? null : notes[status]
  const how = [
    ...(notes['REVERTING'] === GIVEN_BACK
      ? [t.w.gave_back(target.id === userId ? null : nameOf(target))]
      : []),
    ...(by ? [t.w.revoked_by(by.id === userId ? null : nameOf(by))] : []),
    ...(by && notes['REVERTING'] ? [t.w.quoted(notes['REVERTING'])] : []),
    ...(said ? [t.w.quoted(said)] : []),
  ]
  return html`<tr><th scope="row" class="wrap"><a class="go" href="/access/requests/${one.id}">${thing(one)}</a><span class="sub">${one.app_name}</span><span class="sub">${t.accessLength(one.expiration_in_seconds)}${at && html`, ${t.w.asked_on(t.day(parseMoment(at), now))}`}</span></th><td class="wrap">${requestBadge(t, one)}${how.map((words) => html`<span class="sub">${words}</span>`)}</td></tr>`
}

const catalogue = (page: AccessPage): Markup => {
  const { t, store, search, category, held } = page
  const isAll = search === '' && category === ''
  return html`
<section class="stack" id="catalogue" aria-labelledby="h-catalogue">
<div class="row"><h2 id="h-catalogue">${t.w.what_you_can_request}</h2><span class="count">${store.total}</span></div>
<form class="filter" action="/access#catalogue" role="search" aria-label="${t.w.apps}">
<div class="grow"><label for="q">${t.w.app_or_permission}</label><input id="q" type="search" name="q" value="${search}" maxlength="200" placeholder="${t.w.for_example}"></div>
${categoryChoice(page)}
<button class="btn">${t.w.search}</button>${!isAll && html`<a class="btn plain" href="/access#catalogue">${t.w.clear}</a>`}
</form>
${
  store.items.length > 0
    ? html`<ul class="tiles">${store.items.map((one) => tile(page, one))}</ul>`
    : isAll
      ? html`<div class="card">${empty('info', t.w.store_empty, t.w.store_empty_text)}</div>`
      : html`<div class="card">${empty(
          'search',
          t.w.nothing_found,
          t.w.nothing_found_text((words) => html`<a href="/access#catalogue">${words}</a>`),
        )}</div>`
}
${store.pages > 1 && html`<div class="card">${pagesNav(t, store, t.w.of_apps, (to) => addressOf(page, { page: to, have: held.page }, 'catalogue'))}</div>`}
</section>`
}

const isCategory = (name: string): name is Category => CATEGORIES.some((one) => one === name)

const categoryName = ({ w }: PageLocale, name: string): string =>
  isCategory(name) ? w.categories[name] : name

const categoryChoice = ({ t, category, categories }: AccessPage): Markup | string =>
  categories.length < 2 && category === ''
    ? ''
    : html`<div><label for="category">${t.w.category}</label><select id="category" name="category"><option value="">${t.w.all_categories}</option>${categories.map((one) => html`<option value="${one}"${one === category ? html` selected` : ''}>${categoryName(t, one)}</option>`)}</select></div>`

const tile = (
  { t, closed: closedOnes, outlooks, permissionsIn, holdsMore }: AccessPage,
  app: App,
): Markup => {
  const closed = closedOnes.get(app.id)
  const outlook = outlooks.get(app.id)
  const isOpen = closed === undefined && !app.disconnected
  const { all = 0, mine = 0 } = permissionsIn.get(app.id) ?? {}
  return html`
<li class="card tile">
<div class="row keep top-edge"><span class="avatar app" aria-hidden="true">${initials(app.user_friendly_label)}</span><div class="fit"><h3 class="wrap"><a href="/access/request?app_id=${app.id}">${app.user_friendly_label}</a></h3>${app.description && html`<p class="small soft wrap">${short(app.description)}</p>`}</div></div>
${outlook && isOpen && html`<dl class="kv small"><dt>${t.w.decides}</dt><dd>${whoDecides(t, outlook)}</dd><dt>${t.w.takes}</dt><dd>${howLongItTakes(t, outlook)}</dd></dl>`}
<div class="row small">${all > 0 && html`<span class="soft">${t.w.permissions_of_app(all)}</span>`}${mine > 0 && !holdsMore && badge(['good', 'check'], t.w.you_have_of_app(mine))}<span class="soft end">${categoryName(t, app.category ?? '')}</span></div>
${isOpen ? '' : html`<p class="small wrap">${closed ? closedWords(t, closed) : t.w.app_disconnected}</p>`}
</li>`
}

/** Returns the beginning of a description. */
const short = (text: string): string =>
  text.length > 160 ? `${text.slice(0, 159).trimEnd()}…` : text
