/** Access reviews, and the reviewer’s grid: lines with hints, decided one by one, several at once, or by a filter. */
import { html } from 'hono/html'
import { CoreError } from '../../contract/errors/problem.ts'
import type { ReviewStatus } from '../../contract/models/access-review.ts'
import {
  type AccessReviewItem,
  DECISIONS,
  HINT_NAMES,
  HINTS,
  ITEM_STATES,
} from '../../contract/models/review-item.ts'
import { decideItems } from '../../core/reviews/decide.ts'
import { listItems } from '../../core/reviews/items.ts'
import { reviewProgress } from '../../core/reviews/progress.ts'
import { getReview, listReviews } from '../../core/reviews/read.ts'
import { wordsOf } from '../frame/error-page.ts'
import type { Form } from '../frame/form.ts'
import { type Icon, icon } from '../frame/icons.ts'
import { layout, type Markup, proofField, type Visitor } from '../frame/layout.ts'
import { day } from '../frame/words.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { note, pagesNav } from '../pages/parts.ts'
import { badge, type Kind } from '../pages/states.ts'
import { brief, type Column, figures, listed, row, shell, thousands } from './parts.ts'
import { share } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'
import { ITEM_STATE_WORDS, REVIEW_STATE_WORDS, REVIEW_WORDS as WORDS } from './words/reviews.ts'

const SIZE = 50

const REVIEWS: Column[] = [
  { words: WORDS.review },
  { words: WORDS.state },
  { words: WORDS.deadline, look: 'c3' },
  { words: WORDS.apps, look: 'num c3' },
]

const labelled = ([kind, name, words]: readonly [Kind, Icon, string]): Markup =>
  badge(kind, name, words)

const reviewBadge = (status: ReviewStatus): Markup => labelled(REVIEW_STATE_WORDS[status])

export async function showReviews(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, now } = visit
  const page = pageNumber(c.req.query('page'))
  const found = await listReviews(db, principal, { page, size: SIZE })
  const rows = found.items.map((one) =>
    row(REVIEWS, [
      html`<a class="go" href="/console/reviews/${one.id}">${one.name}</a>`,
      reviewBadge(one.status),
      one.deadline_at ? day(new Date(one.deadline_at), now) : '–',
      one.apps.length,
    ]),
  )
  const at = (to: number) => `/console/reviews?page=${to}`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'reviews', isPlace: true },
      title: WORDS.title,
      lead: WORDS.lead,
      content: listed(
        { id: 'list', title: WORDS.title, count: found.total },
        REVIEWS,
        rows,
        { title: WORDS.none, text: WORDS.noneText, icon: 'shield' },
        pagesNav(found, WORDS.title, at),
      ),
    }),
  )
}

/** What the lines of an address are chosen by; its names are the API's. */
type Asked = { state: string; hint: string; search: string; page: number }

const askedOf = ({ c }: ConsoleVisit, form?: Form): Asked => {
  const get = (name: string) => form?.get(name) ?? c.req.query(name)
  return {
    state: ITEM_STATES.find((one) => one === get('state')) ?? '',
    hint: HINT_NAMES.find((one) => one === get('hint')) ?? '',
    search: searchText(get('search')),
    page: pageNumber(get('page')),
  }
}

const filterOf = ({ state, hint, search }: Asked) => ({
  state: ITEM_STATES.filter((one) => one === state),
  hint: HINT_NAMES.filter((one) => one === hint),
  search: search === '' ? null : search,
})

const addressOf = (base: string, { state, hint, search }: Asked, page: number): string => {
  const all = { state, hint, search, page: page > 1 ? String(page) : '' }
  const query = new URLSearchParams(Object.entries(all).filter(([, value]) => value !== ''))
  return query.size === 0 ? base : `${base}?${query}`
}

const idOf = ({ c }: ConsoleVisit): string => c.req.param('access_review_id') ?? ''

/** All lines of a review, for who reads reviews. */
export async function showReview(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, now } = visit
  const review = await getReview(db, principal, idOf(visit))
  const { states } = await reviewProgress(db, principal, review.id)
  const base = `/console/reviews/${review.id}`
  const all = Object.values(states).reduce((sum, count) => sum + count, 0)
  const open = states['OPEN'] ?? 0
  const content = html`${figures([
    { name: WORDS.decided, value: thousands(all - open), unit: WORDS.of(thousands(all)) },
    { name: WORDS.done, value: share(all - open, all), unit: '%' },
    { name: WORDS.rejected, value: thousands(states['REJECTED'] ?? 0) },
    { name: WORDS.gone, value: thousands(states['REMOVED'] ?? 0), note: WORDS.goneNote },
  ])}
<progress max="${Math.max(all, 1)}" value="${all - open}" aria-label="${WORDS.decided}"></progress>
${await grid(visit, base, { mine: false, problem: null, asked: askedOf(visit), reason: '' })}`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'reviews', content },
      title: review.name,
      state: reviewBadge(review.status),
      lead: review.deadline_at
        ? html`${WORDS.deadline}: ${day(new Date(review.deadline_at), now)}`
        : '',
      actions: html`<a class="btn" href="/inbox/reviews/${review.id}">${WORDS.own}</a>`,
    }),
  )
}

type Grid = { mine: boolean; problem: string | null; asked: Asked; reason: string }

/** One’s own lines of a review: what a reviewer decides. */
export async function showOwnReview(
  visit: ConsoleVisit,
  {
    problem = null,
    reason = '',
    form,
  }: { problem?: string | null; reason?: string; form?: Form } = {},
  status: 200 | 400 | 409 = 200,
): Promise<Response> {
  const { c, db, principal } = visit
  const id = idOf(visit)
  const count = async (state: 'OPEN' | null) =>
    (
      await listItems(db, principal, id, {
        ...{ mine: true, page: 1, size: 1 },
        state: state === null ? [] : [state],
      })
    ).total
  const [all, open] = [await count(null), await count('OPEN')]
  const visitor = await visit.visitor()
  const base = `/inbox/reviews/${id}`
  const asked = askedOf(visit, form)
  return c.html(
    layout({
      title: WORDS.ownTitle,
      visitor,
      area: 'inbox',
      content: html`<div class="page">
<div class="head"><div><ol class="crumbs"><li><a href="/inbox">${WORDS.inbox}</a></li></ol><h1>${all === 0 ? WORDS.noneOwn : open === 0 ? WORDS.allDecided : WORDS.left(open)}</h1><p>${all === 0 ? WORDS.noneOwnLead : WORDS.ownLead}</p></div></div>
${visit.flash() ?? ''}
${
  all === 0
    ? ''
    : html`<progress max="${all}" value="${all - open}" aria-label="${WORDS.decided}"></progress>
${await grid(visit, base, { mine: true, problem, asked, reason }, visitor)}`
}
</div>`,
    }),
    status,
  )
}

const LINES: Column[] = [
  { words: WORDS.choose, unseen: true },
  { words: WORDS.who },
  { words: WORDS.what },
  { words: WORDS.hints },
  { words: WORDS.state },
  { words: WORDS.since, look: 'c3' },
]

async function grid(
  { db, principal, now, ...visit }: ConsoleVisit,
  base: string,
  { mine, problem, asked, reason }: Grid,
  visitor: Visitor | null = null,
): Promise<Markup> {
  const found = await listItems(db, principal, visit.c.req.param('access_review_id') ?? '', {
    ...{ mine, page: asked.page, size: SIZE },
    ...filterOf(asked),
  })
  const columns = mine ? LINES : LINES.slice(1)
  const rows = found.items.map((one, at) => line(one, at, { columns, mine, now }))
  const list = listed(
    { id: 'lines', title: WORDS.lines, count: found.total },
    columns,
    rows,
    { title: WORDS.noLines, text: WORDS.noLinesText, icon: 'search' },
    pagesNav(found, WORDS.lines, (page) => addressOf(base, asked, page)),
  )
  const kept = Object.entries({ state: asked.state, hint: asked.hint, search: asked.search })
  return html`${asking(base, asked)}
${problem === null ? '' : note('bad', 'alert', WORDS.notDecided, problem, 'alert')}
${
  visitor === null
    ? list
    : html`<form class="stack" method="post" action="${base}/decide">
${proofField(visitor.proof)}
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${list}
${rows.length === 0 ? '' : decide(found.total, reason)}
</form>`
}`
}

const asking = (base: string, { state, hint, search }: Asked): Markup => {
  const option = (value: string, words: string, chosen: string) =>
    html`<option value="${value}"${value === chosen ? html` selected` : ''}>${words}</option>`
  return html`<form class="filter" action="${base}" role="search" aria-label="${WORDS.lines}">
<div class="grow"><label for="search">${WORDS.find}</label><input id="search" type="search" name="search" value="${search}" maxlength="200"></div>
<div><label for="state">${WORDS.state}</label><select id="state" name="state">${option('', WORDS.any, state)}${ITEM_STATES.map((one) => option(one, ITEM_STATE_WORDS[one][2], state))}</select></div>
<div><label for="hint">${WORDS.hints}</label><select id="hint" name="hint">${option('', WORDS.any, hint)}${HINT_NAMES.map((one) => option(one, HINTS[one].meaning, hint))}</select></div>
<button class="btn">${WORDS.show}</button>
</form>`
}

function line(
  one: AccessReviewItem,
  at: number,
  { columns, mine, now }: { columns: readonly Column[]; mine: boolean; now: Date },
): Markup {
  const who = one.user_name || one.user_email || one.unique_identifier
  const what = one.label ?? one.entitlement_id ?? WORDS.account
  const cells = [
    html`${brief(who, 120)}<span class="sub">${brief(one.unique_identifier, 120)}</span>`,
    brief(what, 200),
    html`${one.hints.map((hint) => html`<span class="sub${hint.red ? ' t bad' : ''}">${HINTS[hint.name].meaning}</span>`)}`,
    html`${labelled(ITEM_STATE_WORDS[one.state])}${one.reason ? html`<span class="sub">“${brief(one.reason)}”</span>` : ''}${one.problem ? html`<span class="sub">${brief(one.problem)}</span>` : ''}`,
    one.held_since ? day(new Date(one.held_since), now) : '–',
  ]
  if (!mine) return row(columns, cells)
  const box = html`<input type="checkbox" name="item.${at}" value="${one.id}" aria-label="${WORDS.chooseOne(brief(who, 80), brief(what, 80))}">`
  return row(columns, [box, ...cells])
}

const decide = (total: number, reason: string): Markup => html`<div class="bulk">
<div class="row"><input type="checkbox" id="all" name="all" value="yes"><label for="all">${WORDS.all(total)}</label></div>
<label class="unseen" for="reason">${WORDS.reason}</label>
<input id="reason" name="reason" value="${reason}" maxlength="4000" autocomplete="off" placeholder="${WORDS.reasonHelp}">
<button class="btn" name="decision" value="KEEP">${icon('check')}${WORDS.keep}</button>
<button class="btn danger" name="decision" value="REJECT">${icon('x')}${WORDS.reject}</button>
</div>`

/** The form of the grid. */
export async function decideLines(visit: ConsoleVisit, form: Form): Promise<Response> {
  const { c, db, principal } = visit
  const decision = DECISIONS.find((one) => one === form.get('decision'))
  if (!decision) throw new CoreError(400, 'The form does not say what to do')
  const reason = form.get('reason')?.trim() ?? ''
  const asked = askedOf(visit, form)
  const chosen = [...form].filter(([name]) => /^item\.\d+$/.test(name)).map(([, id]) => id)
  const isAll = form.get('all') === 'yes'
  const { state, hint, search } = filterOf(asked)
  const filter = {
    ...{ state, hint, search: search ?? undefined },
    ...{ arda_id: undefined, user_id: undefined, entitlement_id: undefined },
  }
  try {
    await decideItems(db, principal, idOf(visit), {
      ...{ decision, reason, change: false },
      item_ids: isAll ? undefined : chosen,
      filter: isAll ? filter : undefined,
    })
  } catch (error) {
    if (!(error instanceof CoreError) || (error.status !== 400 && error.status !== 409)) throw error
    const problem = chosen.length === 0 && !isAll ? WORDS.chooseFirst : wordsOf(error)
    return showOwnReview(visit, { problem, reason, form }, error.status)
  }
  visit.say('decided')
  return c.redirect(addressOf(`/inbox/reviews/${idOf(visit)}`, asked, 1), 303)
}
