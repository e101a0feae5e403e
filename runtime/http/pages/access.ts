/** Data of the pages of My access. */
import { queryOf } from '../../contract/endpoints/table.ts'
import type { RequestStatus } from '../../contract/models/access-request.ts'
import { askedByPolicy } from '../../core/asking/asked-by-policy.ts'
import { decidersToCome } from '../../core/asking/next-deciders.ts'
import { closedApps } from '../../core/asking/not-requestable.ts'
import { requestOutlooks } from '../../core/asking/outlook.ts'
import { listUserAccess } from '../../core/catalogue/apps/access.ts'
import { accountNames } from '../../core/catalogue/apps/accounts.ts'
import { listStoreApps, storeCategories } from '../../core/catalogue/store/app-store.ts'
import { listBreakGlass } from '../../core/catalogue/store/break-glass.ts'
import { countPermissions } from '../../core/catalogue/store/permissions.ts'
import { accessRequestsById, listAccessRequests } from '../../core/requests/read.ts'
import { remindableOf } from '../../core/task-actions/remind.ts'
import { accessPage } from './access-page.ts'
import { asOne, heldOf } from './held.ts'
import { ON_THE_WAY, OVER } from './states.ts'
import type { Visit } from './visit.ts'

const SIZES = { held: 50, waiting: 20, ended: 20, store: 12 } as const

/** Last page that can be requested. Beyond it, the database would count rows that no person reads. */
const MAX_PAGE = 10_000

/** Parses the page number of an address. Returns the first page for an invalid one. */
export function pageNumber(given: string | undefined): number {
  const number = /^\d{1,6}$/.test(given ?? '') ? Number(given) : 1
  return Math.min(Math.max(1, number), MAX_PAGE)
}

/** Returns the search text of an address. NUL, which the database refuses, is removed. */
export const searchText = (given: string | undefined): string =>
  (given ?? '').replaceAll('\u0000', '').toWellFormed().trim().slice(0, 200)

/** Lists requests by or for the visitor, newest first. */
const requestsOf = ({ db, principal }: Visit, statuses: readonly RequestStatus[], size: number) =>
  listAccessRequests(
    db,
    principal,
    queryOf('list_access_requests', {
      ...{ user_id: principal.userId, statuses: [...statuses], sort: 'DESC' },
      ...{ expand: ['tasks'], size },
    }),
  )

export async function showAccess(visit: Visit): Promise<Response> {
  const { c, db, principal, now, t } = visit
  const search = searchText(c.req.query('q'))
  const category = searchText(c.req.query('category'))
  const paging = { page: pageNumber(c.req.query('have')), size: SIZES.held }
  const access = await listUserAccess(db, principal, principal.userId, { as_of: null, ...paging })
  const reasons = access.items.flatMap((one) => one.reasons)
  const ids = reasons.flatMap(({ request_id: id }) => (id ? [id] : []))
  const byId = await accessRequestsById(db, principal, ids, ['tasks'])
  const wanted = queryOf('list_appstore_apps', {
    ...{ search_term: search, category: category === '' ? null : category },
    ...{ page: pageNumber(c.req.query('page')), size: SIZES.store },
  })
  const store = await listStoreApps(db, principal, wanted)
  const storeIds = store.items.map(({ id }) => id)
  const closed = await closedApps(db, principal, storeIds)
  const outlooks = await requestOutlooks(db, principal, {
    ...{ app_ids: storeIds, requestable_permission_ids: [], target_user_id: null },
  })
  const waiting = await requestsOf(visit, ON_THE_WAY, SIZES.waiting)
  const waitingIds = waiting.items.map(({ id }) => id)
  const ended = await requestsOf(visit, OVER, SIZES.ended)
  const endedIds = ended.items.map(({ id }) => id)
  const held = asOne(access.items)
  const names = await accountNames(db, held)
  const one = queryOf('list_break_glass', { mine: true, size: 1 })
  const glass = await listBreakGlass(db, principal, one)
  const page = accessPage({
    t,
    visitor: await visit.visitor(),
    userId: principal.userId,
    flash: visit.flash(),
    held: {
      ...access,
      total: access.total - access.items.length + held.length,
      items: held.map((one) => heldOf(t, one, { requests: byId, names }, now)),
    },
    waiting,
    remindable: await remindableOf(db, principal, waitingIds),
    toCome: await decidersToCome(db, principal, waitingIds),
    ended,
    byPolicy: await askedByPolicy(db, principal, [...waitingIds, ...endedIds]),
    outlooks: new Map(outlooks.map((one) => [one.app_id, one])),
    permissionsIn: await countPermissions(db, principal, storeIds, access.items),
    holdsMore: access.pages > 1,
    ...{ store, closed, search, category, now, hasBreakGlass: glass.total > 0 },
    categories: await storeCategories(db, principal),
  })
  return c.html(page)
}
