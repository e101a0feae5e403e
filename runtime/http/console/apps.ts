/** The list of apps, and the page of one app: its sync, the progress of syncs, its accounts. */
import { html } from 'hono/html'
import { queryOf } from '../../contract/endpoints/table.ts'
import {
  ACCOUNT_SORTS,
  type Account,
  type AccountSort,
  type AccountStanding,
  APP_SORTS,
  type App,
} from '../../contract/models/app.ts'
import { categoryOf } from '../../contract/models/categories.ts'
import { type RunState, SYNC_PHASES, type SyncRun } from '../../contract/models/sync.ts'
import { accountNames, listAccounts } from '../../core/catalogue/apps/accounts.ts'
import { getApp, listApps } from '../../core/catalogue/apps/apps.ts'
import { CUSTOM_INSTANCE } from '../../core/catalogue/apps/connect.ts'
import { isReachRefused } from '../../core/kernel/identity/app-reach.ts'
import { followQuery } from '../edge/followed-lists.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { note, pagesNav, whole } from '../pages/parts.ts'
import { type BadgeLook, badge } from '../pages/states.ts'
import { findingsList, findingsShown, findingsState } from './findings.ts'
import { listPage } from './list-page.ts'
import { answerPage, brief, card, facts, go, listed, sortOf, thousands } from './parts.ts'
import { personLink } from './person-link.ts'
import type { ConsoleVisit } from './visit.ts'

const SIZE = 50

const RUN_LOOKS = {
  RUNNING: ['busy', 'sync'],
  SUCCEEDED: ['good', 'check'],
  FAILED: ['bad', 'x'],
  STOPPED: ['bad', 'stop'],
  CANCELLED: ['', 'minus'],
} as const satisfies Record<RunState, BadgeLook>
const RUNS = '10'

/** Returns a category in the language of the page. */
const categoryIn = ({ w }: PageLocale, { category = null }: App): string | null => {
  const known = category === null ? null : categoryOf(category)
  return known === null ? category : w.categories[known]
}

/** Returns the breadcrumb of an app, for pages below its own. */
export async function appCrumbs({ db, principal }: ConsoleVisit, id: string) {
  const app = await getApp(db, principal, id, [])
  return [{ path: appPath(app.id), words: brief(app.user_friendly_label, 60) }]
}

export const appPath = (id: string): string => `/console/apps/${encodeURIComponent(id)}`

function syncBadge(t: PageLocale, { sync_status: status, disconnected, instance_id }: App): Markup {
  const w = t.console.app
  if (disconnected) return badge(['', 'minus'], w.disconnected)
  if (instance_id === CUSTOM_INSTANCE) return badge(['', 'hand'], t.console.app_edit.byHand)
  if (status === 'FAILED') return badge(['bad', 'x'], w.syncFailed)
  if (status === 'SYNCING') return badge(['busy', 'sync'], w.syncing)
  return status === 'SUCCESS'
    ? badge(['good', 'check'], w.fresh)
    : badge(['', 'minus'], w.neverSynced)
}

export async function showApps(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, t } = visit
  const w = t.console.app
  const search = searchText(c.req.query('name_search'))
  const sort = APP_SORTS.find((one) => one === c.req.query('sort')) ?? 'name'
  const page = pageNumber(c.req.query('page'))
  const query = queryOf('list_apps', { name_search: search, sort, page, size: SIZE })
  const found = await listApps(db, principal, query)
  return listPage(visit, {
    ...{ place: 'apps', words: w, found },
    search: { name: 'name_search', value: search, words: w.name },
    sort: { key: 'name', asked: sort },
    columns: [w.name, w.synced, [w.category, 'c3']],
    cells: (app) => [
      html`<a class="go" href="${appPath(app.id)}">${app.user_friendly_label}</a><span class="sub">${app.app_class_id}</span>`,
      syncBadge(t, app),
      categoryIn(t, app) ?? '',
    ],
    actions:
      principal.permissions.has('apps.write') && !principal.readOnly
        ? html`${go('/console/connect', t.console.connect.link, 'main')}${go('/console/apps/new', t.console.app_edit.newLink)}`
        : '',
  })
}

export async function showApp(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, now, t } = visit
  const w = t.console.app
  const app = await getApp(db, principal, c.req.param('app_id') ?? '', [])
  const operates = principal.permissions.has('operator')
  const runs = operates
    ? (await visit.ask('list_syncs', { query: { app_id: app.id, limit: RUNS } })).items
    : []
  const settings =
    operates && app.instance_id !== CUSTOM_INSTANCE
      ? await visit.ask('show_sync_settings', { params: { app_id: app.id } })
      : null
  const sort = ACCOUNT_SORTS.find((one) => one === c.req.query('sort')) ?? 'account'
  const page = pageNumber(c.req.query('page'))
  const holders = principal.permissions.has('accounts.read')
    ? await listAccounts(
        db,
        principal,
        queryOf('list_app_accounts', { app_id: app.id, sort, page, size: SIZE }),
      )
    : null
  const names = await accountNames(
    db,
    (holders?.items ?? []).map(({ id }) => ({ account_id: id })),
  )
  const [latest] = runs
  const about = { of: 'app_id', id: app.id, path: appPath(app.id) } as const
  const found = await findingsShown(visit, about)
  const wrong = await findingsList(visit, about, found)
  const follows = followQuery(
    { app_id: app.id, limit: RUNS, findings: String(found?.page ?? 1) },
    { items: runs, findings: findingsState(found) },
  )
  /** Renders a part that a sync changes. Only operators follow syncs. */
  const live = (name: string, part: Markup): Markup =>
    operates
      ? html`<div id="live-${name}" data-events="/console/syncs/events?${follows}">${part}</div>`
      : part
  const mayChange = !isReachRefused(principal, 'apps.write') && !principal.readOnly
  const isCustom = app.instance_id === CUSTOM_INSTANCE
  const aside = html`<div class="stack wide">
<p><a href="${appPath(app.id)}/permissions">${t.console.permission.link}</a>${!isReachRefused(principal, 'appstore.write') && !principal.readOnly && !(isCustom && mayChange) ? html`<br><a href="${appPath(app.id)}/store">${t.console.store_change.link}</a>` : ''}${principal.permissions.has('logs.read') ? html`<br><a href="/console/log?target=${app.id}">${t.console.log.doneLink}</a>` : ''}</p>
${live(
  'facts',
  card(
    { id: 'facts', title: w.facts },
    facts([
      [w.state, syncBadge(t, app)],
      !isCustom && [w.integration, html`<code>${app.app_class_id}</code>`],
      [w.category, categoryIn(t, app) ?? '–'],
      [w.sources, app.sources.map((one) => t.console.app_sources[one] ?? one).join(', ') || '–'],
    ]),
  ),
)}
${
  settings
    ? card(
        {
          id: 'settings',
          title: w.settings,
          end: go(`${appPath(app.id)}/sync-settings`, w.change, 'less'),
        },
        facts([
          [w.every, settings.every_hours === 0 ? w.byHand : w.hours(settings.every_hours)],
          [w.next, settings.next_at ? t.moment(new Date(settings.next_at), now) : '–'],
          [w.pageSize, thousands(settings.page_size, t)],
          [w.maxRows, thousands(settings.max_rows, t)],
          [w.source, settings.identity_source ? w.yes : w.no],
        ]),
      )
    : ''
}
</div>`
  const stopped =
    latest?.state === 'STOPPED'
      ? note('bad', 'alert', w.stopped, html`${brief(latest.problem ?? '', 500)} ${w.stoppedText}`)
      : ''
  const content = html`${live('stopped', html`${stopped}`)}
${
  operates || holders || wrong !== ''
    ? html`<div class="cols"><div class="stack wide">
${operates && (!isCustom || runs.length > 0) ? live('runs', runsOf(t, runs, now)) : ''}
${wrong === '' ? '' : live('findings', wrong)}
${holders ? live('accounts', accountsOf(visit, app, holders, names, sort)) : ''}
</div>${aside}</div>`
    : aside
}`
  return answerPage(visit, {
    ...{ place: 'apps', content },
    title: app.user_friendly_label,
    state: live('state', syncBadge(t, app)),
    lead: brief(app.description ?? '', 300),
    actions: html`${app.disconnected || isCustom ? '' : go(`${appPath(app.id)}/sync`, w.syncNow, 'main')}${mayChange ? connecting(t, app, isCustom) : ''}`,
  })
}

/**
 * Renders the actions for the connection of an app. A custom app has no connection, so its link to the store
 * settings comes first.
 */
const connecting = (
  { console: { app_edit, connect, disconnect, return_app, store_change } }: PageLocale,
  { id, disconnected }: App,
  isCustom: boolean,
): Markup => {
  const first = isCustom
    ? html`${disconnected ? go(`${appPath(id)}/return`, return_app.link, 'main') : ''}${go(`${appPath(id)}/store`, store_change.link, disconnected ? '' : 'main')}`
    : go(
        `${appPath(id)}/connection`,
        disconnected ? connect.reconnect : connect.change,
        disconnected ? 'main' : '',
      )
  return html`${first}${go(`${appPath(id)}/edit`, app_edit.link)}${disconnected ? '' : go(`${appPath(id)}/disconnect`, disconnect.link, 'danger')}`
}

/** Returns the number of the current phase of a run. */
const phaseOf = ({ state, phase }: Pick<SyncRun, 'state' | 'phase'>): number =>
  state === 'SUCCEEDED' ? SYNC_PHASES.length : SYNC_PHASES.indexOf(phase)

function runsOf(t: PageLocale, runs: readonly SyncRun[], now: Date): Markup {
  const w = t.console.app
  const rows = runs.map((one) => {
    const began = new Date(one.began_at)
    const ended = one.ended_at ? new Date(one.ended_at) : now
    const took = t.took((ended.getTime() - began.getTime()) / 1000)
    const counts = Object.entries(one.counts)
      .map(([name, count]) => t.console.count_named(name, thousands(count, t)))
      .join(', ')
    const name = w.phaseOf(phaseOf(one), SYNC_PHASES.length, t.console.sync_phases[one.phase])
    return [
      html`${one.run}<span class="sub">${t.moment(began, now)} · ${took}</span>`,
      html`${badge(RUN_LOOKS[one.state], t.console.run_states[one.state])}<progress max="${SYNC_PHASES.length}" value="${phaseOf(one)}" aria-label="${w.progress}"></progress><span class="sub">${name}</span>${one.problem ? html`<span class="sub">${brief(one.problem, 500)}</span>` : ''}`,
      brief(counts, 300),
      one.state === 'RUNNING'
        ? go(
            `/console/syncs/${one.run}/cancel?app_id=${one.app_id}`,
            html`${w.cancel}<span class="unseen"> ${one.run}</span>`,
            'less danger',
          )
        : one.state === 'STOPPED'
          ? go(
              `/console/syncs/${one.run}/accept?app_id=${one.app_id}`,
              html`${w.accept}<span class="unseen"> ${one.run}</span>`,
              'less',
            )
          : '',
    ]
  })
  const nothing = { title: w.noRuns, text: w.noRunsText }
  return listed(
    { id: 'runs', title: w.runs, note: w.runsNote },
    [w.run, w.progress, [w.counts, 'c3'], { words: w.action, look: 'num', unseen: true }],
    rows,
    nothing,
    t,
  )
}

/** ACCOUNT_LOOKS: state of an account -> badge. Final states share the default. */
const ACCOUNT_LOOKS: Partial<Record<AccountStanding, BadgeLook>> = {
  ACTIVE: ['good', 'check'],
  ACCESS_CREATED: ['good', 'check'],
  STAGED: ['wait', 'clock'],
  SUSPENDED: ['bad', 'stop'],
  WAITING_MANUAL_REMOVAL: ['wait', 'hand'],
}

const accountBadge = (t: PageLocale, status: AccountStanding): Markup => {
  return badge(ACCOUNT_LOOKS[status] ?? (['', 'minus'] as const), t.console.account_states[status])
}

function accountsOf(
  { t, principal, now }: ConsoleVisit,
  { id: appId, instance_id }: App,
  found: Awaited<ReturnType<typeof listAccounts>>,
  names: ReadonlyMap<string, string>,
  sort: AccountSort,
): Markup {
  const w = t.console.app
  const isCustom = instance_id === CUSTOM_INSTANCE
  const accountCell = ({ user_id: of, unique_identifier: id, email }: Account, name: string) => {
    const others = [email, id].filter((text) => text !== null && text !== name).join(' · ')
    return html`${of ? personLink(principal, of, name) : whole(name)}<span class="sub">${whole(others)}${of ? '' : html` ${w.nobody}`}</span>`
  }
  const rows = found.items.map((one) => [
    accountCell(one, names.get(one.id) ?? one.unique_identifier),
    one.status ? accountBadge(t, one.status) : '–',
    one.last_login ? t.day(new Date(one.last_login), now) : '–',
  ])
  const at = (page: number) => `${appPath(appId)}?sort=${sort}&page=${page}#accounts`
  const by = sortOf('account', sort, (to) => `${appPath(appId)}?sort=${to}#accounts`)
  return listed(
    { id: 'accounts', title: w.accounts, count: found.total },
    [{ words: w.account, sort: by }, w.accountState, [w.lastLogin, 'c3']],
    rows,
    {
      title: w.noAccounts,
      text: isCustom ? t.console.app_edit.accountsText : w.noAccountsText,
    },
    t,
    pagesNav(t, found, w.accounts, at),
  )
}
