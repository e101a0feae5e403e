/** Apps, and one app: how it is synced, how far a sync is, who has accounts. */
import { html } from 'hono/html'
import type { App } from '../../contract/models/app.ts'
import { SYNC_PHASES, type SyncRun } from '../../contract/models/sync.ts'
import { listAccounts } from '../../core/catalogue/apps/accounts.ts'
import { getApp, listApps } from '../../core/catalogue/apps/apps.ts'
import type { Markup } from '../frame/layout.ts'
import { day, lengthOf, moment } from '../frame/words.ts'
import { pageNumber, searchText } from '../pages/access.ts'
import { note } from '../pages/parts.ts'
import { badge } from '../pages/states.ts'
import {
  brief,
  type Column,
  card,
  facts,
  filter,
  go,
  listed,
  pagesNav,
  row,
  shell,
  thousands,
} from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { RUN_STATES, APP_WORDS as WORDS } from './words/access.ts'

const SIZE = 50
const RUNS = '10'

const COLUMNS: Column[] = [
  { words: WORDS.name },
  { words: WORDS.synced },
  { words: WORDS.category, look: 'c3' },
]

export const appPath = (id: string): string => `/console/apps/${encodeURIComponent(id)}`

function syncBadge({ sync_status: status, disconnected }: App): Markup {
  if (disconnected) return badge('', 'minus', WORDS.disconnected)
  if (status === 'FAILED') return badge('bad', 'x', WORDS.syncFailed)
  if (status === 'SYNCING') return badge('busy', 'sync', WORDS.syncing)
  return status === 'SUCCESS'
    ? badge('good', 'check', WORDS.fresh)
    : badge('', 'minus', WORDS.neverSynced)
}

export async function showApps(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal } = visit
  const search = searchText(c.req.query('name_search'))
  const found = await listApps(db, principal, {
    ...{ name_search: search, exact_match: false, connection_source: null, disconnected: null },
    ...{ expand: [], page: pageNumber(c.req.query('page')), size: SIZE },
  })
  const rows = found.items.map((app) =>
    row(COLUMNS, [
      html`<a class="go" href="${appPath(app.id)}">${app.user_friendly_label}</a><span class="sub">${app.app_class_id}</span>`,
      syncBadge(app),
      app.category ?? '',
    ]),
  )
  const query = search === '' ? [] : [['name_search', search]]
  const at = (page: number) =>
    `/console/apps?${new URLSearchParams([...query, ['page', String(page)]])}`
  const nothing =
    search === ''
      ? { title: WORDS.none, text: WORDS.noneText }
      : { title: WORDS.noneFound, text: WORDS.noneFoundText, icon: 'search' as const }
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'apps', isPlace: true },
      title: WORDS.title,
      lead: WORDS.lead,
      content: html`${filter('/console/apps', WORDS.title, { name: 'name_search', words: WORDS.name, value: search })}
${listed({ id: 'list', title: WORDS.title, count: found.total }, COLUMNS, rows, nothing, pagesNav(found, WORDS.title, at))}`,
    }),
  )
}

export async function showApp(visit: ConsoleVisit): Promise<Response> {
  const { c, db, principal, now } = visit
  const app = await getApp(db, principal, c.req.param('app_id') ?? '', [])
  const operates = principal.permissions.has('operator')
  const runs = operates
    ? (await visit.ask('list_syncs', { query: { app_id: app.id, limit: RUNS } })).items
    : []
  const settings = operates
    ? await visit.ask('show_sync_settings', { params: { app_id: app.id } })
    : null
  const holders = principal.permissions.has('accounts.read')
    ? await listAccounts(db, principal, {
        ...{ app_id: app.id, page: pageNumber(c.req.query('page')), size: SIZE },
        ...{ sources: [], discovered_before: null, discovered_after: null, expand: [] },
        ...{ status: [], as_of: null },
      })
    : null
  const [latest] = runs
  const content = html`${latest?.state === 'STOPPED' ? note('bad', 'alert', WORDS.stopped, html`${brief(latest.problem ?? '', 500)} ${WORDS.stoppedText}`) : ''}
<div class="cols"><div class="stack wide">
${operates ? runsOf(app.id, runs, now) : ''}
${holders ? accountsOf(app.id, holders, now) : ''}
</div><div class="stack wide">
${card(
  { id: 'facts', title: WORDS.facts },
  facts([
    [WORDS.state, syncBadge(app)],
    [WORDS.integration, html`<code>${app.app_class_id}</code>`],
    [WORDS.category, app.category ?? '–'],
    [WORDS.sources, app.sources.join(', ') || '–'],
  ]),
)}
${
  settings
    ? card(
        {
          id: 'settings',
          title: WORDS.settings,
          end: go(`${appPath(app.id)}/sync-settings`, WORDS.change, 'less'),
        },
        facts([
          [
            WORDS.every,
            settings.every_hours === 0 ? WORDS.byHand : WORDS.hours(settings.every_hours),
          ],
          [WORDS.next, settings.next_at ? moment(new Date(settings.next_at), now) : '–'],
          [WORDS.pageSize, thousands(settings.page_size)],
          [WORDS.maxRows, thousands(settings.max_rows)],
          [WORDS.source, settings.identity_source ? WORDS.yes : WORDS.no],
        ]),
      )
    : ''
}
</div></div>`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'apps', content },
      title: app.user_friendly_label,
      state: syncBadge(app),
      lead: brief(app.description ?? '', 300),
      actions: app.disconnected ? '' : go(`${appPath(app.id)}/sync`, WORDS.syncNow, 'main'),
    }),
  )
}

const RUN_COLUMNS: Column[] = [
  { words: WORDS.run },
  { words: WORDS.progress },
  { words: WORDS.counts, look: 'c3' },
  { words: WORDS.action, look: 'num', unseen: true },
]

/** Which phase of how many a run is in. */
export const phaseOf = ({ state, phase }: Pick<SyncRun, 'state' | 'phase'>): number =>
  state === 'SUCCEEDED' ? SYNC_PHASES.length : SYNC_PHASES.indexOf(phase)

function runsOf(appId: string, runs: readonly SyncRun[], now: Date): Markup {
  const rows = runs.map((one) => {
    const [kind, icon, words] = RUN_STATES[one.state]
    const began = new Date(one.began_at)
    const ended = one.ended_at ? new Date(one.ended_at) : now
    const took = lengthOf((ended.getTime() - began.getTime()) / 1000)
    const counts = Object.entries(one.counts)
      .map(([name, count]) => `${name.replaceAll('_', ' ')} ${thousands(count)}`)
      .join(', ')
    const name = WORDS.phaseOf(phaseOf(one), SYNC_PHASES.length, one.phase.replaceAll('_', ' '))
    return row(RUN_COLUMNS, [
      html`${one.run}<span class="sub">${moment(began, now)} · ${took}</span>`,
      html`${badge(kind, icon, words)}<progress max="${SYNC_PHASES.length}" value="${phaseOf(one)}" aria-label="${WORDS.progress}"></progress><span class="sub">${name}</span>${one.problem ? html`<span class="sub">${brief(one.problem)}</span>` : ''}`,
      brief(counts, 300),
      one.state === 'RUNNING'
        ? go(
            `/console/syncs/${one.run}/cancel?app_id=${one.app_id}`,
            html`${WORDS.cancel}<span class="unseen"> ${one.run}</span>`,
            'less danger',
          )
        : one.state === 'STOPPED'
          ? go(
              `/console/syncs/${one.run}/accept?app_id=${one.app_id}`,
              html`${WORDS.accept}<span class="unseen"> ${one.run}</span>`,
              'less',
            )
          : '',
    ])
  })
  const nothing = { title: WORDS.noRuns, text: WORDS.noRunsText }
  return html`<div id="live" data-events="/console/syncs/events?app_id=${appId}">${listed({ id: 'runs', title: WORDS.runs, note: WORDS.runsNote }, RUN_COLUMNS, rows, nothing)}</div>`
}

const ACCOUNTS: Column[] = [
  { words: WORDS.account },
  { words: WORDS.accountState },
  { words: WORDS.lastLogin, look: 'c3' },
]

function accountsOf(
  appId: string,
  found: Awaited<ReturnType<typeof listAccounts>>,
  now: Date,
): Markup {
  const rows = found.items.map((one) =>
    row(ACCOUNTS, [
      html`${one.user_id ? html`<a class="go" href="/console/people/${one.user_id}">${one.unique_identifier}</a>` : one.unique_identifier}<span class="sub">${one.email ?? ''}${one.user_id ? '' : html` ${WORDS.nobody}`}</span>`,
      one.status ?? '–',
      one.last_login ? day(new Date(one.last_login), now) : '–',
    ]),
  )
  const at = (page: number) => `${appPath(appId)}?page=${page}#accounts`
  return listed(
    { id: 'accounts', title: WORDS.accounts, count: found.total },
    ACCOUNTS,
    rows,
    { title: WORDS.noAccounts, text: WORDS.noAccountsText },
    pagesNav(found, WORDS.accounts, at),
  )
}
