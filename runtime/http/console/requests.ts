/** All access requests that the visitor may see, by state. */

import { html } from 'hono/html'
import { queryOf } from '../../contract/endpoints/table.ts'
import { REQUEST_STATUSES, type RequestStatus } from '../../contract/models/access-request.ts'
import { askedByPolicy } from '../../core/asking/asked-by-policy.ts'
import { idsOf } from '../../core/kernel/by-id.ts'
import { listAccessRequests } from '../../core/requests/read.ts'
import { nameOf, parseMoment } from '../frame/words.ts'
import { pageNumber } from '../pages/access.ts'
import { pagesNav } from '../pages/parts.ts'
import { ON_THE_WAY, OVER, requestBadge } from '../pages/states.ts'
import { answerPage, brief, listed, option, sortOf } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 50

/** Choices of the filter: several states together, or one. */
const GROUPS: ReadonlyMap<string, readonly RequestStatus[]> = new Map<
  string,
  readonly RequestStatus[]
>([
  ['open', ON_THE_WAY],
  ['active', ['COMPLETED']],
  ['over', OVER],
  ['all', REQUEST_STATUSES],
])

const statesOf = (given: string): readonly RequestStatus[] =>
  GROUPS.get(given) ?? REQUEST_STATUSES.filter((one) => one === given)

export async function showRequests(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, now, t } = visit
  const w = t.console.request
  const status = c.req.query('status') ?? 'open'
  const sort = c.req.query('sort') === 'asked' ? 'asked' : '-asked'
  const query = queryOf('list_access_requests', {
    ...{ statuses: [...statesOf(status)], sort: sort === 'asked' ? 'ASC' : 'DESC' },
    ...{ page: pageNumber(c.req.query('page')), size: SIZE },
  })
  const found = await listAccessRequests(db, principal, query)
  const byPolicy = await askedByPolicy(db, principal, idsOf(found.items))
  const rows = found.items.map((one) => {
    const [permission] = one.requestable_permissions
    const policy = byPolicy.get(one.id)
    return [
      html`<a class="go" href="/access/requests/${one.id}">${brief(permission?.label ?? one.app_name, 120)}</a><span class="sub">${one.app_name}, ${t.accessLength(one.expiration_in_seconds)}${one.is_break_glass ? `, ${w.breakGlass}` : ''}</span><span class="sub narrow-only">${nameOf(one.target_user)}</span>`,
      html`${nameOf(one.target_user)}<span class="sub">${policy !== undefined ? w.byPolicy(policy) : one.requester_user.id === one.target_user.id ? '' : w.by(nameOf(one.requester_user))}</span>`,
      requestBadge(t, one),
      one.requested_at ? t.day(parseMoment(one.requested_at), now) : '',
    ]
  })
  const at = (page: number) =>
    `/console/requests?${new URLSearchParams({ status, sort, page: String(page) })}`
  const by = sortOf(
    'asked',
    sort,
    (to) => `/console/requests?${new URLSearchParams({ status, sort: to })}`,
    'descending',
  )
  return answerPage(visit, {
    ...{ place: 'requests', isPlace: true },
    title: w.title,
    lead: w.lead,
    content: html`<form class="filter" action="/console/requests" role="search" aria-label="${w.title}">
<div class="grow"><label for="status">${w.state}</label><select id="status" name="status">
${option('open', w.open, status)}${option('active', w.active, status)}${option('over', w.over, status)}${option('all', w.all, status)}
${REQUEST_STATUSES.map((one) => option(one, t.w.states[one], status))}</select></div>
<input type="hidden" name="sort" value="${sort}">
<button class="btn">${w.show}</button></form>
${listed(
  { id: 'list', title: w.title, count: found.total },
  [w.what, [w.forWhom, 'c3'], w.state, { words: w.asked, look: 'c3', sort: by }],
  rows,
  { title: w.none, text: w.noneText },
  t,
  pagesNav(t, found, w.title, at),
)}`,
  })
}
