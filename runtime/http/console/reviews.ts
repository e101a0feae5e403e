/**
 * Access reviews, and the reviewer’s grid: lines with hints, decided one by one, several at once, or by a
 * filter.
 */
import { html } from 'hono/html'
import { REVIEW_SORTS, type ReviewStatus } from '../../contract/models/access-review.ts'
import {
  type AccessReviewItem,
  HINT_NAMES,
  ITEM_STATES,
  type ItemState,
  MAX_LINE_REASON,
} from '../../contract/models/review-item.ts'
import { accountNames } from '../../core/catalogue/apps/accounts.ts'
import { takeEvidence } from '../../core/reviews/evidence/take.ts'
import { itemStates, listItems } from '../../core/reviews/items.ts'
import { UNDECIDED } from '../../core/reviews/machine/states.ts'
import { getReview, listReviews } from '../../core/reviews/read.ts'
import type { Form } from '../frame/form.ts'
import { icon } from '../frame/icons.ts'
import { layout, type Markup, proofField } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { note, pagesNav, whole } from '../pages/parts.ts'
import { type BadgeLook, badge } from '../pages/states.ts'
import {
  answerPage,
  brief,
  type Cells,
  type Column,
  figures,
  go,
  listed,
  option,
  sortOf,
  thousands,
} from './parts.ts'
import { decidedNotice } from './review-notice.ts'
import { sendFile } from './send-file.ts'
import { share } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 50
/** Lines per page. */
export const LINES_SIZE = 50

const REVIEW_LOOKS = {
  SCHEDULED: ['', 'clock'],
  SCHEDULED_IN_PREPARATION: ['busy', 'sync'],
  IN_PREPARATION: ['busy', 'sync'],
  IN_PROGRESS: ['wait', 'clock'],
  COMPLETED: ['good', 'check'],
  DELETED: ['', 'minus'],
  DUPLICATING: ['busy', 'sync'],
  DUPLICATING_WAITING_FOR_CONFIRMATION: ['wait', 'clock'],
} as const satisfies Record<ReviewStatus, BadgeLook>

const ITEM_LOOKS = {
  OPEN: ['wait', 'clock'],
  TO_CONFIRM: ['wait', 'hand'],
  KEPT: ['good', 'check'],
  REJECTED: ['bad', 'x'],
  TO_MODIFY: ['wait', 'hand'],
  NOT_DECIDED: ['', 'clock'],
  VANISHED: ['', 'minus'],
  REMOVING: ['busy', 'sync'],
  REMOVED: ['good', 'check'],
  WAITING_FOR_HANDS: ['wait', 'hand'],
  EXCEPTED: ['rule', 'rule'],
} as const satisfies Record<ItemState, BadgeLook>

const reviewBadge = ({ w }: PageLocale, status: ReviewStatus): Markup =>
  badge(REVIEW_LOOKS[status], w.review_states[status])

/** Reports whether this session may launch and end reviews. */
const mayLaunch = ({ principal }: ConsoleVisit): boolean =>
  principal.permissions.has('reviews.write') && !principal.readOnly

/** Sends the evidence of a review as a file. */
export async function sendEvidence(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, context } = visit
  return sendFile(c, await takeEvidence(db, principal, idOf(visit), context))
}

export async function showReviews(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, now, t } = visit
  const { w } = t
  const sort = REVIEW_SORTS.find((one) => one === c.req.query('sort')) ?? '-created'
  const sorted = (key: string) => sortOf(key, sort, (to) => `/console/reviews?sort=${to}`)
  const columns: Column[] = [
    { words: w.review, sort: sorted('name') },
    w.state,
    { words: w.deadline, look: 'c3', sort: sorted('deadline') },
    [w.apps, 'num c3'],
  ]
  const page = pageNumber(c.req.query('page'))
  const found = await listReviews(db, principal, { sort, page, size: SIZE })
  const rows = found.items.map((one) => [
    html`<a class="go" href="/console/reviews/${one.id}">${one.name}</a>`,
    reviewBadge(t, one.status),
    one.deadline_at ? t.day(new Date(one.deadline_at), now) : '–',
    one.apps.length,
  ])
  const at = (to: number) => `/console/reviews?sort=${sort}&page=${to}`
  return answerPage(visit, {
    ...{ place: 'reviews', isPlace: true },
    ...{ title: w.reviews, lead: w.reviews_lead },
    actions: mayLaunch(visit) ? go('/console/reviews/new', w.launch_review, 'main') : '',
    content: listed(
      { id: 'list', title: w.reviews, count: found.total },
      columns,
      rows,
      { title: w.no_reviews, text: w.no_reviews_text, icon: 'shield' },
      t,
      pagesNav(t, found, w.reviews, at),
    ),
  })
}

/** Filter of the lines in the address. The names are those of the API. */
export type Asked = { state: string; hint: string; search: string; page: number }

export const askedOf = ({ c }: ConsoleVisit, form?: Form): Asked => {
  const get = (name: string) => form?.get(name) ?? c.req.query(name)
  return {
    state: ITEM_STATES.find((one) => one === get('state')) ?? '',
    hint: HINT_NAMES.find((one) => one === get('hint')) ?? '',
    search: searchText(get('search')),
    page: pageNumber(get('page')),
  }
}

export const filterOf = ({ state, hint, search }: Asked) => ({
  state: ITEM_STATES.filter((one) => one === state),
  hint: HINT_NAMES.filter((one) => one === hint),
  search: search === '' ? null : search,
})

export const addressOf = (base: string, { state, hint, search }: Asked, page: number): string => {
  const all = { state, hint, search, page: page > 1 ? String(page) : '' }
  const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== ''))
  return query.size === 0 ? base : `${base}?${query}`
}

export const idOf = ({ c }: ConsoleVisit): string => c.req.param('access_review_id') ?? ''

/** Returns the number of undecided lines, from the counts by state. */
export const undecidedIn = (states: Readonly<Record<string, number>>): number =>
  UNDECIDED.reduce((sum, one) => sum + (states[one] ?? 0), 0)

/** Shows all lines of a review, to people who may read reviews. */
export async function showReview(visit: ConsoleVisit): Promise<Response> {
  const { db, principal, now, t } = visit
  const { w } = t
  const review = await getReview(db, principal, idOf(visit))
  const states = await itemStates(db, principal, review.id)
  const base = `/console/reviews/${review.id}`
  const all = Object.values(states).reduce((sum, count) => sum + count, 0)
  const open = undecidedIn(states)
  const content = html`${figures([
    { name: w.decided, value: thousands(all - open, t), unit: w.of_all(thousands(all, t)) },
    { name: w.done, value: share(all - open, all, t), unit: '%' },
    { name: w.to_be_removed, value: thousands(states.REJECTED ?? 0, t) },
    { name: w.removed, value: thousands(states.REMOVED ?? 0, t), note: w.read_back },
  ])}
<progress max="${Math.max(all, 1)}" value="${all - open}" aria-label="${w.decided}"></progress>
${await grid(visit, base, { mine: false, asked: askedOf(visit) })}`
  // Only reviewers get the link to their own lines.
  const ownLines = await listItems(visit.db, visit.principal, review.id, {
    ...{ mine: true, page: 1, size: 1 },
  })
  return answerPage(visit, {
    ...{ place: 'reviews', content },
    ...{ title: review.name, state: reviewBadge(t, review.status) },
    lead: review.deadline_at
      ? html`${w.deadline}: ${t.day(new Date(review.deadline_at), now)}`
      : '',
    actions: html`${ownLines.total > 0 ? html`<a class="btn" href="/inbox/reviews/${review.id}">${w.own_lines}</a>` : ''}${mayLaunch(visit) && review.status === 'IN_PROGRESS' ? html`${go(`${base}/remind`, w.remind)}${go(`${base}/complete`, w.complete_review, 'danger')}` : ''}<a class="btn" href="${base}/evidence" download>${w.evidence}</a>`,
  })
}

type Grid = {
  mine: boolean
  asked: Asked
  /** Why the form was refused, and its input: ids of lines, `all`, the reason. */
  problem?: Markup | string | null
  ticked?: readonly string[]
  all?: boolean
  reason?: string
  /** Whether the reason is the invalid field. */
  ofReason?: boolean
}

/** Shows the visitor's own lines of a review, to decide them. */
export async function showOwnReview(
  visit: ConsoleVisit,
  { form, ...refused }: Omit<Grid, 'mine' | 'asked'> & { form?: Form } = {},
  status: 200 | 400 | 409 = 200,
): Promise<Response> {
  const { c, db, principal, t } = visit
  const { w } = t
  const id = idOf(visit)
  const count = async (state: readonly ItemState[]) =>
    (
      await listItems(db, principal, id, {
        ...{ mine: true, page: 1, size: 1, state },
      })
    ).total
  const [all, open] = [await count([]), await count(UNDECIDED)]
  const base = `/inbox/reviews/${id}`
  const asked = askedOf(visit, form)
  return c.html(
    layout({
      ...{ t, title: w.one_review, visitor: await visit.visitor() },
      area: 'inbox',
      content: html`<div class="page">
<div class="head"><div><ol class="crumbs"><li><a href="/inbox">${w.inbox}</a></li></ol><h1>${all === 0 ? w.no_own_lines : open === 0 ? w.all_lines_decided : w.lines_left(open)}</h1><p>${all === 0 ? w.no_own_lines_text : w.own_review_lead}</p></div></div>
${decidedNotice(visit) ?? visit.flash() ?? ''}
${
  all === 0
    ? ''
    : html`<progress max="${all}" value="${all - open}" aria-label="${w.decided}"></progress>
${await grid(visit, base, { ...refused, mine: true, asked })}`
}
</div>`,
    }),
    status,
  )
}

const lineColumns = ({ w }: PageLocale): Column[] => [
  { words: w.choose, unseen: true, choosesPage: true },
  w.who,
  [w.what, 'c3'],
  { words: w.hints, folds: true },
  { words: w.state, folds: true },
  [w.held_since, 'c3'],
]

async function grid(
  { db, principal, now, t, ...visit }: ConsoleVisit,
  base: string,
  { mine, asked, problem = null, ...typed }: Grid,
): Promise<Markup> {
  const { w } = t
  const review = visit.c.req.param('access_review_id') ?? ''
  const found = await listItems(db, principal, review, {
    ...{ mine, page: asked.page, size: LINES_SIZE },
    ...filterOf(asked),
  })
  const columns = lineColumns(t).slice(mine ? 0 : 1)
  const names = await accountNames(db, found.items)
  const rows = found.items.map((one, at) =>
    line(t, one, at, { mine, now, review, names, ticked: typed.ticked ?? [] }),
  )
  const list = listed(
    { id: 'lines', title: w.lines, count: found.total },
    columns,
    rows,
    asked.state === '' && asked.hint === '' && asked.search === ''
      ? { title: w.no_lines, text: w.no_lines_yet }
      : { title: w.no_lines, text: w.no_lines_text, icon: 'search' },
    t,
    pagesNav(t, found, w.lines, (page) => addressOf(base, asked, page)),
  )
  const { state, hint, search, page } = asked
  const kept = Object.entries({ state, hint, search, page })
  return html`${asking(t, base, asked)}
${problem === null ? '' : html`<div id="not-decided">${note('bad', 'alert', w.nothing_decided, problem, 'alert')}</div>`}
${
  mine
    ? html`<form class="stack" method="post" action="${base}/decide">
${proofField(visit.proof)}
<button disabled hidden></button>
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${list}
${rows.length === 0 ? '' : decide(t, found.total, typed)}
</form>`
    : list
}`
}

const asking = ({ w }: PageLocale, base: string, { state, hint, search }: Asked): Markup =>
  html`<form class="filter" action="${base}" role="search" aria-label="${w.lines}">
<div class="grow"><label for="search">${w.find_line}</label><input id="search" type="search" name="search" value="${search}" maxlength="200"></div>
<div><label for="state">${w.state}</label><select id="state" name="state">${option('', w.any, state)}${ITEM_STATES.map((one) => option(one, w.item_states[one], state))}</select></div>
<div><label for="hint">${w.hints}</label><select id="hint" name="hint">${option('', w.any, hint)}${HINT_NAMES.map((one) => option(one, w.hint_meanings[one], hint))}</select></div>
<button class="btn">${w.show}</button>${search + state + hint === '' ? '' : html`<a class="btn plain" href="${base}">${w.clear}</a>`}
</form>`

function line(
  t: PageLocale,
  one: AccessReviewItem,
  at: number,
  {
    mine,
    now,
    review,
    names,
    ticked,
  }: {
    mine: boolean
    now: Date
    review: string
    names: ReadonlyMap<string, string>
    ticked: readonly string[]
  },
): Cells {
  const { w } = t
  // A deleted account keeps its name from the launch.
  const account = names.get(one.account_id) ?? (one.account_email || one.unique_identifier)
  const who = one.user_name || one.user_email || account
  const others = [...new Set([account, one.unique_identifier])].filter((text) => text !== who)
  const what = one.label ?? one.entitlement_id ?? w.account_itself
  const cells = [
    html`${whole(brief(who, 120))}${others.length === 0 ? '' : html`<span class="sub">${whole(others.map((text) => brief(text, 120)).join(' · '))}</span>`}<span class="sub narrow-only">${brief(what, 200)}</span>`,
    brief(what, 200),
    html`${one.hints.map((hint) => html`<span class="sub${hint.red ? ' t bad' : ''}">${w.hint_meanings[hint.name]}</span>`)}${one.peers ? html`<span class="sub">${w.peers_have_it(thousands(one.peers.held, t), thousands(one.peers.of, t))}</span>` : ''}`,
    html`${badge(ITEM_LOOKS[one.state], w.item_states[one.state])}${one.reason ? html`<span class="sub">${w.quoted(brief(one.reason))}</span>` : ''}${one.problem ? html`<span class="sub">${brief(one.problem)}</span>` : ''}`,
    one.held_since ? t.day(new Date(one.held_since), now) : '–',
  ]
  if (!mine) return cells
  const file = html`<a class="sub" href="/inbox/reviews/${review}/lines/${one.id}/file" aria-label="${w.attach_file_to(brief(who, 80), brief(what, 80))}">${w.attach_file}</a>`
  const box = html`<input type="checkbox" name="item.${at}" value="${one.id}"${ticked.includes(one.id) ? html` checked` : ''} aria-label="${w.choose_line(brief(who, 80), brief(what, 80))}">`
  return [box, ...cells.map((cell, place) => (place === 3 ? html`${cell}${file}` : cell))]
}

const decide = (
  { w }: PageLocale,
  total: number,
  { all = false, reason = '', ofReason = false }: Pick<Grid, 'all' | 'reason' | 'ofReason'>,
): Markup => html`<div class="bulk">
<div class="row"><input type="checkbox" id="all" name="all" value="yes"${all ? html` checked` : ''}><label for="all">${w.all_lines(total)}</label></div>
<label class="unseen" for="reason">${w.reason}</label>
<input id="reason" name="reason" value="${reason}" maxlength="${MAX_LINE_REASON}" autocomplete="off" placeholder="${w.line_reason_help}"${ofReason ? html` aria-invalid="true" aria-describedby="not-decided"` : ''}>
<button class="btn less" name="decision" value="PAGE">${w.choose_page}</button>
<button class="btn" name="decision" value="KEEP">${icon('check')}${w.keep_lines}</button>
<button class="btn danger" name="decision" value="REJECT">${icon('x')}${w.remove_lines}</button>
</div>`
