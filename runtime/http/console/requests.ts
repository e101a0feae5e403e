/** All access requests that one may see, by state. */
import { html } from 'hono/html'
import { REQUEST_STATUSES, type RequestStatus } from '../../contract/models/access-request.ts'
import { listAccessRequests } from '../../core/requests/read.ts'
import { accessLength, day, momentOf, nameOf } from '../frame/words.ts'
import { pageNumber } from '../pages/access.ts'
import { ON_THE_WAY, OVER, requestBadge } from '../pages/states.ts'
import { brief, type Column, ENGLISH, listed, pagesNav, row, shell } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { REQUEST_WORDS as WORDS } from './words/access.ts'

const SIZE = 50

const COLUMNS: Column[] = [
  { words: WORDS.what },
  { words: WORDS.forWhom },
  { words: WORDS.state },
  { words: WORDS.asked, look: 'c3' },
]

/** Choices of the filter: some states together, or one. */
const GROUPS: Record<string, readonly RequestStatus[]> = {
  open: ON_THE_WAY,
  active: ['COMPLETED'],
  over: OVER,
  all: REQUEST_STATUSES,
}

const statesOf = (given: string): readonly RequestStatus[] =>
  GROUPS[given] ?? REQUEST_STATUSES.filter((one) => one === given)

export async function showRequests(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, now } = visit
  const status = c.req.query('status') ?? 'open'
  const found = await listAccessRequests(db, principal, {
    ...{ user_id: null, target_user_id: null, requester_user_id: null },
    ...{ statuses: [...statesOf(status)], sort: 'DESC', expand: [] },
    ...{ page: pageNumber(c.req.query('page')), size: SIZE },
  })
  const rows = found.items.map((one) => {
    const [permission] = one.requestable_permissions
    return row(COLUMNS, [
      html`<a class="go" href="/access/requests/${one.id}">${brief(permission?.label ?? one.app_name, 120)}</a><span class="sub">${one.app_name}, ${accessLength(one.expiration_in_seconds)}${one.is_break_glass ? `, ${WORDS.breakGlass}` : ''}</span>`,
      html`${nameOf(one.target_user)}<span class="sub">${one.requester_user.id === one.target_user.id ? '' : WORDS.by(nameOf(one.requester_user))}</span>`,
      requestBadge(ENGLISH, one.status),
      one.requested_at ? day(momentOf(one.requested_at), now) : '',
    ])
  })
  const at = (page: number) =>
    `/console/requests?${new URLSearchParams({ status, page: String(page) })}`
  const option = (value: string, words: string) =>
    html`<option value="${value}"${value === status ? html` selected` : ''}>${words}</option>`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'requests', isPlace: true },
      title: WORDS.title,
      lead: WORDS.lead,
      content: html`<form class="filter" action="/console/requests" role="search" aria-label="${WORDS.title}">
<div class="grow"><label for="status">${WORDS.state}</label><select id="status" name="status">
${option('open', WORDS.open)}${option('active', WORDS.active)}${option('over', WORDS.over)}${option('all', WORDS.all)}
${REQUEST_STATUSES.map((one) => option(one, ENGLISH.w.states[one]))}</select></div>
<button class="btn">${WORDS.show}</button></form>
${listed({ id: 'list', title: WORDS.title, count: found.total }, COLUMNS, rows, { title: WORDS.none, text: WORDS.noneText }, pagesNav(found, WORDS.title, at))}`,
    }),
  )
}
