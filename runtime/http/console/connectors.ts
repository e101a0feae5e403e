/** The list of connectors, with their state and figures. */
import { html } from 'hono/html'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import type { PageLocale } from '../frame/locale.ts'
import { searchText } from '../pages/access.ts'
import { type BadgeLook, badge } from '../pages/states.ts'
import {
  answerPage,
  brief,
  type Column,
  filter,
  go,
  listed,
  nothingIn,
  sortOf,
  thousands,
} from './parts.ts'
import { milliseconds, share, totalsOf } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'

/** Maximum number of rows. There are as many connectors as folders and packages. */
const MAX_ROWS = 1000

type Figures = ConnectorListing & Pick<ReturnType<typeof totalsOf>, 'calls' | 'failed' | 'p95'>

const nameOf = ({ id, folder }: ConnectorListing): string => id ?? folder ?? '?'
const byName = (a: ConnectorListing, b: ConnectorListing): number =>
  nameOf(a).localeCompare(nameOf(b), 'en')
const shareOf = ({ calls, failed }: Figures): number => (calls === 0 ? -1 : failed / calls)

/** SORTS: sort orders of the list. By state, connectors that need attention come first. */
const SORTS: Record<string, (a: Figures, b: Figures) => number> = {
  id: byName,
  state: (a, b) => RANK[a.state] - RANK[b.state],
  source: (a, b) => a.source.localeCompare(b.source, 'en'),
  calls: (a, b) => a.calls - b.calls,
  failed: (a, b) => shareOf(a) - shareOf(b),
  p95: (a, b) => (a.p95 ?? -1) - (b.p95 ?? -1),
}

const columnsOf = (t: PageLocale, sort: string, at: (sort: string) => string): Column[] => [
  { words: t.console.connector.name, sort: sortOf('id', sort, at) },
  { words: t.console.connector.state, sort: sortOf('state', sort, at) },
  { words: t.console.connector.source, look: 'c3', sort: sortOf('source', sort, at) },
  {
    words: t.console.connector.calls,
    look: 'num c3',
    sort: sortOf('calls', sort, at, LARGEST_FIRST),
  },
  {
    words: t.console.connector.failed,
    look: 'num c3',
    sort: sortOf('failed', sort, at, LARGEST_FIRST),
  },
  { words: t.console.connector.p95, look: 'num c2', sort: sortOf('p95', sort, at, LARGEST_FIRST) },
]

const LARGEST_FIRST = 'descending'

const LOOKS = {
  checking: ['busy', 'sync'],
  ready: ['good', 'check'],
  ghost: ['bad', 'x'],
  suspect: ['wait', 'alert'],
  quarantined: ['bad', 'stop'],
  disabled: ['', 'minus'],
} as const satisfies Record<ConnectorListing['state'], BadgeLook>

/** Renders the state of a connector as a badge. */
export function stateBadge(
  t: PageLocale,
  { state, serving }: Pick<ConnectorListing, 'state' | 'serving'>,
) {
  if (state === 'ready' && !serving) return badge(['', 'minus'], t.console.connector.notServing)
  return badge(LOOKS[state], t.console.connector_states[state])
}

/** Connectors that need attention come first. */
const RANK: Record<ConnectorListing['state'], number> = {
  ...{ quarantined: 0, ghost: 1, suspect: 2, checking: 3, disabled: 4, ready: 5 },
}

export async function showConnectors(visit: ConsoleVisit): Promise<Response> {
  const { c, t } = visit
  const w = t.console.connector
  const search = searchText(c.req.query('q'))
  const all = visit.deps.listConnectors()
  const { items } = await visit.ask('list_call_minutes', {
    query: { group: 'connector', step_minutes: '1440' },
  })
  const steps = Map.groupBy(items, ({ connector }) => connector)
  const asked = c.req.query('sort') ?? ''
  const key = asked.replace(/^-/, '')
  const by = Object.hasOwn(SORTS, key) ? SORTS[key] : undefined
  const sort = by ? asked : 'state'
  const turn = sort.startsWith('-') ? -1 : 1
  const compare = by ?? SORTS['state'] ?? byName
  const found = all
    .filter((one) => nameOf(one).toLowerCase().includes(search.toLowerCase()))
    // The period may span two steps, so a connector may have two.
    .map((one): Figures => ({ ...one, ...totalsOf(steps.get(one.id) ?? []) }))
    .sort((a, b) => turn * compare(a, b) || byName(a, b))
    .slice(0, MAX_ROWS)
  const columns = columnsOf(
    t,
    sort,
    (to) =>
      `/console/connectors?${new URLSearchParams({ ...(search && { q: search }), sort: to })}`,
  )
  const rows = found.map((one) => {
    const name = nameOf(one)
    const { calls, failed, p95 } = one
    const link =
      one.id === null
        ? brief(name)
        : html`<a class="go" href="/console/connectors/${encodeURIComponent(one.id)}">${name}</a>`
    const under = [one.version, one.reason?.split('\n')[0]].filter(Boolean).join(' · ')
    return [
      html`${link}${under === '' ? '' : html`<span class="sub">${brief(under)}</span>`}`,
      stateBadge(t, one),
      w.sources[one.source],
      thousands(calls, t),
      calls === 0 ? '–' : `${share(failed, calls, t)} %`,
      milliseconds(p95, t),
    ]
  })
  const serving = all.filter((one) => one.serving).length
  return answerPage(visit, {
    ...{ place: 'connectors', isPlace: true },
    title: w.title(serving, all.length),
    lead: w.lead,
    actions: html`${go('/console/install', w.install, 'main')}${go('/console/registry', t.w.registry)}${go('/console/generations', w.history)}${go('/console/publishers', w.publishers)}`,
    content: html`${filter('/console/connectors', w.list, { name: 'q', words: w.find, value: search, kept: { sort } }, t)}
${listed({ id: 'list', title: w.list, count: found.length }, columns, rows, nothingIn(t.console.connector, search), t)}`,
  })
}
