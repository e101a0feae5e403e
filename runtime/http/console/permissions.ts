/** Requestable permissions of an app, and the break-glass ones among them. */
import { html } from 'hono/html'
import { queryOf } from '../../contract/endpoints/table.ts'
import type { BreakGlass } from '../../contract/models/break-glass.ts'
import { membersOf } from '../../contract/schema/record.ts'
import { getApp } from '../../core/catalogue/apps/apps.ts'
import { listBreakGlass } from '../../core/catalogue/store/break-glass.ts'
import { listPermissions } from '../../core/catalogue/store/permissions.ts'
import { getGroup } from '../../core/directory/users.ts'
import { isReachRefused } from '../../core/kernel/identity/app-reach.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { pagesNav } from '../pages/parts.ts'
import { badge } from '../pages/states.ts'
import { appPath } from './apps.ts'
import { answerPage, brief, filter, go, listed } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 50
/** Maximum number of break-glass permissions of an app that are shown. There are usually few. */
const MAX_MARKED = 500

export const permissionsPath = (appId: string): string => `${appPath(appId)}/permissions`

/** Returns the break-glass permissions of an app by id. */
export async function markedIn({ db, principal }: ConsoleVisit, appId: string) {
  const query = { mine: false, app_id: appId, page: 1, size: MAX_MARKED }
  const { items } = await listBreakGlass(db, principal, query)
  return new Map(items.map((one) => [one.id, one]))
}

/** Returns the names of the groups of a break-glass permission. */
export const groupNames = ({ db, principal }: ConsoleVisit, { group_ids }: BreakGlass) =>
  Promise.all(
    group_ids.map((id) =>
      getGroup(db, principal, id).then(
        ({ name }) => name,
        () => id,
      ),
    ),
  )

export async function showPermissions(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, t } = visit
  const w = t.console.permission
  const change = t.console.permission_change
  const app = await getApp(db, principal, c.req.param('app_id') ?? '', [])
  const base = permissionsPath(app.id)
  const search = searchText(c.req.query('search'))
  const query = queryOf('list_app_permissions', {
    ...{ search_term: search, include_inherited_configs: false },
    ...{ page: pageNumber(c.req.query('page')), size: SIZE },
  })
  const found = await listPermissions(db, principal, app.id, query)
  const marked = await markedIn(visit, app.id)
  const mayAdd = !isReachRefused(principal, 'appstore.write') && !principal.readOnly
  const rows = await Promise.all(
    found.items.map(async ({ id, label, type, request_config: config }) => {
      const glass = marked.get(String(id))
      const at = `${base}/${String(id)}`
      const named = html`<span class="unseen"> ${brief(String(label), 80)}</span>`
      const isShown = membersOf(config)['appstore_visibility'] === 'VISIBLE'
      const link = (to: string, words: string, look = 'less') =>
        go(`${at}/${to}`, html`${words}${named}`, look)
      const ofGlass = glass
        ? html`${link('break-glass', w.change)}${link('no-break-glass', w.unmark)}`
        : link('break-glass', w.mark)
      const ofStore = mayAdd
        ? html`${isShown ? link('hide', change.hide.link) : link('show', change.show.link)}${type === 'NATIVE' ? link('delete', change.deleteLink, 'less danger') : ''}`
        : ''
      const store = isShown
        ? badge(['good', 'check'], change.shown)
        : badge(['', 'minus'], change.hidden)
      const held = glass
        ? w.heldBy((await groupNames(visit, glass)).join(', '), glass.max_minutes)
        : '–'
      return [
        html`${brief(String(label), 200)}<span class="sub narrow-only">${store}${glass ? html` ${w.glass}: ${held}` : ''}</span>`,
        store,
        held,
        principal.readOnly ? '' : html`<div class="row">${ofStore}${ofGlass}</div>`,
      ]
    }),
  )
  const kept = search === '' ? '' : `search=${encodeURIComponent(search)}&`
  return answerPage(visit, {
    place: 'apps',
    crumbs: [{ path: appPath(app.id), words: brief(app.user_friendly_label, 60) }],
    ...{ title: w.title, lead: w.lead },
    actions: mayAdd ? go(`${base}/new`, t.console.permission_change.add, 'main') : '',
    content: html`${filter(base, w.title, { name: 'search', words: w.name, value: search }, t)}
${listed(
  { id: 'list', title: w.title, count: found.total },
  [w.name, [change.inStore, 'c3'], [w.glass, 'c3'], { words: w.action, unseen: true }],
  rows,
  { title: w.none, text: w.noneText },
  t,
  pagesNav(t, found, w.title, (page) => `${base}?${kept}page=${page}`),
)}`,
  })
}
