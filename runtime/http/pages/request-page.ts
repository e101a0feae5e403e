/**
 * The request form: first the permission of an app, then the length and the reason. The deciders are shown
 * next to it.
 */
import { html } from 'hono/html'
import { ACCESS_LENGTHS, type AccessLength } from '../../contract/models/access-length.ts'
import type { AccessRequest } from '../../contract/models/access-request.ts'
import type { App } from '../../contract/models/app.ts'
import type { RequestOutlook } from '../../contract/models/asking.ts'
import { type CurrentAccess, extendableFrom } from '../../core/asking/extension.ts'
import type { Closed } from '../../core/asking/not-requestable.ts'
import { icon } from '../frame/icons.ts'
import { AREAS, layout, type Markup, proofField, type Visitor } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { someNames } from './assignee-names.ts'
import { endIfGiven, endWords } from './ends.ts'
import { decidersOf, ruled, usualSeconds, whoDecides } from './outlook-words.ts'
import { note, pagesNav } from './parts.ts'
import { badge } from './states.ts'
import { type TimelineStep, timeline } from './timeline.ts'

type Choice = { id: string; label: string }

type Common = { t: PageLocale; visitor: Visitor; app: App; instructions: string | null }

/** Value for the app itself instead of a permission. */
export const APP_ITSELF = 'app'

/** Longest reason, in characters. */
export const MAX_WHY = 4000

/** Returns the title: for an extension of existing access, or for a new request. */
const titleOf = ({
  t,
  app,
  held = null,
}: Pick<Common, 't' | 'app'> & { held?: CurrentAccess | null }): string =>
  (held === null ? t.w.request_access_to : t.w.extend_access_to)(app.user_friendly_label)

const head = ({ t, app }: Common, title: string): Markup => html`<div class="head"><div>
<ol class="crumbs"><li><a href="${AREAS.access.path}">${t.w.my_access}</a></li><li><a href="${AREAS.access.path}#catalogue">${t.w.catalogue}</a></li></ol>
<h1 class="wrap">${title}</h1>${app.description && html`<p class="wrap">${app.description}</p>`}
</div></div>`

/** Renders a page of the form. The title of a refused form differs from its heading. */
const portal = (page: Common, content: Markup, heading: string, title = heading): Markup =>
  layout({
    ...{ t: page.t, title, visitor: page.visitor, area: 'access' },
    content: html`<div class="page portal">
${head(page, heading)}
${content}
</div>`,
  })

const fromAdmins = ({ t, instructions }: Common): Markup | string =>
  instructions ? note('', 'info', t.w.from_admins, instructions) : ''

type ChoosePage = Common & {
  choices: { items: readonly Choice[]; total: number; page: number; pages: number }
  /** Outlooks of the choices, and of the app itself. */
  outlooks: readonly RequestOutlook[]
  /** Ids of choices that the visitor has. */
  mine: ReadonlySet<string>
  hasAccount: boolean
}

const addressOf = (app: App, permission: string): string =>
  `/access/request?${new URLSearchParams({ app_id: app.id, permission })}`

function choiceLine({ t, app, outlooks, mine }: ChoosePage, { id, label }: Choice): Markup {
  const permission = id === APP_ITSELF ? null : id
  const outlook = outlooks.find((one) => one.requestable_permission_id === permission)
  return html`<li><span class="row"><a class="wrap" href="${addressOf(app, id)}">${label}</a>${mine.has(id) && badge(['good', 'check'], t.w.you_have_it)}</span>${outlook && html`<span class="sub">${t.w.decides_who(whoDecides(t, outlook))}</span>`}</li>`
}

/** Renders the choice among the permissions of an app. */
export function choosePage(page: ChoosePage): Markup {
  const { t, app, choices, hasAccount } = page
  const itself = hasAccount ? [] : [{ id: APP_ITSELF, label: t.w.only_an_account }]
  return portal(
    page,
    html`${fromAdmins(page)}
<section class="card" aria-labelledby="h-what"><header><h2 id="h-what">${t.w.what_do_you_need}</h2><span class="count">${choices.total + itself.length}</span></header>
<ul class="lines">
${[...choices.items, ...itself].map((one) => choiceLine(page, one))}
</ul>
${pagesNav(t, choices, t.w.of_permissions, (at) => `/access/request?${new URLSearchParams({ app_id: app.id, page: String(at) })}`)}
</section>`,
    titleOf(page),
  )
}

/** Page in place of the form. `closed` is null for a disconnected app. */
type ClosedPage = Common & { closed: Closed | null }

/** Formats who may request, and whom to contact. */
export const closedWords = (t: PageLocale, { groups, admins }: Closed): string =>
  t.w.closed_text(
    groups.length === 0 ? '' : someNames(t, groups),
    admins.length === 0 ? '' : someNames(t, admins),
  )

/** Renders the page in place of the form if the person may not request the access. */
export const closedPage = (page: ClosedPage): Markup =>
  portal(
    page,
    html`${note('wait', 'info', page.t.w.closed_title, page.closed ? closedWords(page.t, page.closed) : page.t.w.app_disconnected)}
${fromAdmins(page)}`,
    titleOf(page),
  )

type HeldPage = Common & {
  permission: Choice | null
  held: CurrentAccess
  lengths: readonly AccessLength[]
  now: Date
}

/**
 * Renders the existing access in place of the form if no length would end later: its end, and when an
 * extension becomes possible.
 */
export function heldPage(page: HeldPage): Markup {
  const { t, app, permission, held, lengths, now } = page
  const from = extendableFrom(lengths, held)
  const text =
    from === null ? t.w.nothing_to_extend : t.w.nothing_ends_later(startWords(t, from, now))
  return portal(
    page,
    html`${note('', 'info', permission?.label ?? t.w.access_to_the_app, html`${extensionEnds(t, held, now)} ${text}`)}
<div class="row"><a class="btn" href="${AREAS.access.path}">${t.w.my_access}</a><a class="small" href="/access/request?app_id=${app.id}">${t.w.choose_else}</a></div>`,
    titleOf(page),
  )
}

/** Formats when it becomes possible. The start of a day is shown as the day. */
const startWords = (t: PageLocale, from: Date, now: Date): Markup =>
  (from.toISOString().endsWith('T00:00:00.000Z') ? t.day : t.moment)(from, now)

/** Formats that the person already has access, and until when. */
export const extensionEnds = (
  t: PageLocale,
  { until }: CurrentAccess,
  now: Date,
): Markup | string => (until === null ? t.w.have_for_good : t.w.have_until(endWords(t, until, now)))

export type RequestValues = { length: string; why: string }

export type RequestPage = Common & {
  /** Null for the app itself. */
  permission: Choice | null
  /** Whether there are other choices. */
  several: boolean
  outlook: RequestOutlook
  /** Lengths to choose from. For existing access, only those that end later. */
  lengths: readonly AccessLength[]
  /** Existing access, or null for a first request. */
  held: CurrentAccess | null
  /** The refused request that is repeated, or null. */
  refused: AccessRequest | null
  now: Date
  /** Whether access is revoked by hand at its end. */
  takenByHand: boolean
  values: RequestValues
  problems: { length?: Markup | string; why?: string; whole?: Markup | string }
}

export function requestPage(page: RequestPage): Markup {
  const { t, visitor, app, permission, problems, several, held, refused, now } = page
  const { w } = t
  const failed = Object.keys(problems).length > 0
  const title = titleOf(page)
  return portal(
    page,
    html`${refused && refusal(t, refused)}
<div class="cols">
<form class="card" method="post" action="/access/request" novalidate>
<div class="in stack wide">
${proofField(visitor.proof)}
<input type="hidden" name="app_id" value="${app.id}">
<input type="hidden" name="permission" value="${permission?.id ?? APP_ITSELF}">
${refused && html`<input type="hidden" name="again" value="${refused.id}">`}
${failed && summary(page)}
<div class="field"><h2>${w.what}</h2>
<p class="row"><strong class="wrap">${permission?.label ?? (several ? w.only_an_account : w.access_to_the_app)}</strong>${several && html`<a class="small" href="/access/request?app_id=${app.id}">${w.choose_else}</a>`}</p>
${held && html`<p class="small">${extensionEnds(t, held, now)} ${w.ends_later_only}</p>`}</div>
${howLong(page)}
${why(page)}
<div class="row"><button class="btn main">${w.send_request}</button><a class="btn plain" href="${AREAS.access.path}">${w.cancel}</a></div>
</div>
</form>
<aside class="stack" aria-label="${w.what_will_happen}">
${whatFollows(page)}
${fromAdmins(page)}
</aside>
</div>`,
    title,
    failed ? w.error_request(app.user_friendly_label) : title,
  )
}

/** Renders how the previous request ended, with the reason for a refusal. */
function refusal({ w }: PageLocale, { status, notes }: AccessRequest): Markup {
  const said = notes[status]
  return note('bad', 'x', w.refused_before, said ? w.quoted(said) : w.states[status])
}

function summary({ t, problems }: RequestPage): Markup {
  const { length, why, whole } = problems
  const lines = html`${whole && html`${whole} `}${length && html`<a href="#length-0">${length}</a> `}${why && html`<a href="#why">${why}</a>`}`
  return note('bad', 'alert', t.w.not_sent, lines, 'alert')
}

const problem = (id: string, text: Markup | string | undefined): Markup | string =>
  text === undefined ? '' : html`<p class="error" id="${id}">${icon('alert')}${text}</p>`

function wordsOfLength({ w, wholeLength }: PageLocale, length: AccessLength): string {
  const seconds = ACCESS_LENGTHS[length]
  return seconds === null ? w.without_end : wholeLength(seconds)
}

function howLong({ t, lengths, values, problems, now }: RequestPage): Markup {
  const chosen = lengths.find((one) => one === values.length)
  const endOf = (length: AccessLength): Markup | string => {
    const end = endIfGiven(ACCESS_LENGTHS[length], now)
    return end === null ? '' : html` <span class="sub">${t.w.until(endWords(t, end, now))}</span>`
  }
  return html`<fieldset class="field"><legend>${t.w.how_long}</legend>
<div class="row pills">${lengths.map(
    (length, at) =>
      html`<label class="choice"><input type="radio" id="length-${at}" name="access_length" value="${length}"${length === chosen ? html` checked` : ''}><span>${wordsOfLength(t, length)}${endOf(length)}</span></label>`,
  )}</div>
<p class="help">${t.w.how_long_help}</p>
${problem('length-problem', problems.length)}</fieldset>`
}

const why = ({ t, values, problems }: RequestPage): Markup => html`
<div class="field"><label for="why">${t.w.why_need}</label>
<p class="help" id="why-help">${t.w.why_help}</p>
<textarea id="why" name="why" rows="3" maxlength="${MAX_WHY}" aria-invalid="${problems.why ? 'true' : 'false'}" aria-describedby="why-help${problems.why ? ' why-problem' : ''}" required>
${values.why}</textarea>
${problem('why-problem', problems.why)}</div>`

/** Renders the steps of a request in their expected order: the decisions, the grant, the end. */
function whatFollows({ t, outlook, takenByHand, values }: RequestPage): Markup {
  const { w } = t
  const { steps, given_by_hand: byHand } = outlook
  const seconds = usualSeconds(outlook)
  const by = ruled(outlook)
  const step = (title: string, part: string): TimelineStep => ({
    ...{ kind: 'next' as const, icon: 'clock' as const, title },
    parts: part === '' ? [] : [part],
  })
  const gives = byHand ? step(w.gives_by_hand, '') : step(w.keyway_gives, w.as_soon_as)
  const ends =
    values.length === 'Unlimited'
      ? []
      : [step(takenByHand ? w.takes_by_hand : w.keyway_takes_back, w.when_over)]
  const way = [
    ...(by === 'always'
      ? [step(w.rule_approves, w.nobody_asked)]
      : steps.map((one) =>
          step(
            decidersOf(t, one),
            one.kind === 'manager' ? w.decides_as_manager : w.decides_as_approver,
          ),
        )),
    gives,
    ...ends,
  ]
  return html`<section class="card" aria-labelledby="h-who"><header><h2 id="h-who">${w.who_will_decide}</h2></header><div class="in stack">
${timeline(way)}
${typeof by === 'object' && html`<p class="small">${w.rule_spares(t.wholeLength(by.longest))}</p>`}
<p class="small soft">${
    seconds === null
      ? w.seldom_decided
      : w.usually(t.lengthAfter(seconds), outlook.decided_requests)
  }</p>
</div></section>`
}
