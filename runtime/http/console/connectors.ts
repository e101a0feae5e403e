/** The list of connectors: how each stands and does. */
import { html } from 'hono/html'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import type { Tongue } from '../frame/tongue.ts'
import { searchText } from '../pages/access.ts'
import { type BadgeLook, badge } from '../pages/states.ts'
import { brief, type Column, filter, go, listed, row, shell, thousands } from './parts.ts'
import { milliseconds, share, totalsOf } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'

/** Most rows of the list; there are as many connectors as folders and packages. */
const MOST = 1000

const columnsOf = (t: Tongue): Column[] => [
  { words: t.console.connector.name },
  { words: t.console.connector.state },
  { words: t.console.connector.source, look: 'c3' },
  { words: t.console.connector.calls, look: 'num c3' },
  { words: t.console.connector.failed, look: 'num c3' },
  { words: t.console.connector.p95, look: 'num c2' },
]

const LOOKS = {
  checking: ['busy', 'sync'],
  ready: ['good', 'check'],
  ghost: ['bad', 'x'],
  suspect: ['wait', 'alert'],
  quarantined: ['bad', 'stop'],
  disabled: ['', 'minus'],
} as const satisfies Record<ConnectorListing['state'], BadgeLook>

/** How a connector stands, as a badge. */
export function stateBadge(
  t: Tongue,
  { state, serving }: Pick<ConnectorListing, 'state' | 'serving'>,
) {
  if (state === 'ready' && !serving) return badge('', 'minus', t.console.connector.notServing)
  const [kind, icon] = LOOKS[state]
  return badge(kind, icon, t.console.connector_states[state])
}

/** What needs a person stands first. */
const RANK: Record<ConnectorListing['state'], number> = {
  ...{ quarantined: 0, ghost: 1, suspect: 2, checking: 3, disabled: 4, ready: 5 },
}

export async function showConnectors(visit: ConsoleVisit): Promise<Response> {
  const { c, t } = visit
  const search = searchText(c.req.query('q'))
  const all = visit.deps.listConnectors()
  const { items } = await visit.ask('list_call_minutes', {
    query: { group: 'connector', step_minutes: '1440' },
  })
  const steps = Map.groupBy(items, ({ connector }) => connector)
  const found = all
    .filter(({ id, folder }) => (id ?? folder ?? '').toLowerCase().includes(search.toLowerCase()))
    .sort((a, b) => RANK[a.state] - RANK[b.state] || (a.id ?? '').localeCompare(b.id ?? '', 'en'))
    .slice(0, MOST)
  const rows = found.map((one) => {
    const name = one.id ?? one.folder ?? '?'
    // Of a day that the steps cut in two there are two.
    const { calls, failed, p95 } = totalsOf(steps.get(one.id) ?? [])
    const link =
      one.id === null
        ? brief(name)
        : html`<a class="go" href="/console/connectors/${encodeURIComponent(one.id)}">${name}</a>`
    const under = [one.version, one.reason?.split('\n')[0]].filter(Boolean).join(' · ')
    return row(columnsOf(t), [
      html`${link}${under === '' ? '' : html`<span class="sub">${brief(under)}</span>`}`,
      stateBadge(t, one),
      t.console.connector.sources[one.source],
      thousands(calls, t),
      calls === 0 ? '–' : `${share(failed, calls, t)} %`,
      milliseconds(p95, t),
    ])
  })
  const serving = all.filter((one) => one.serving).length
  const nothing =
    search === ''
      ? { title: t.console.connector.none, text: t.console.connector.noneText }
      : {
          title: t.console.connector.noneFound,
          text: t.console.connector.noneFoundText,
          icon: 'search' as const,
        }
  return c.html(
    shell({
      t,
      ...{
        visitor: await visit.visitor(),
        flash: visit.flash(),
        place: 'connectors',
        isPlace: true,
      },
      title: t.console.connector.title(serving, all.length),
      lead: t.console.connector.lead,
      actions: html`${go('/console/install', t.console.connector.install, 'main')}${go('/console/registry', t.w.registry)}${go('/console/generations', t.console.connector.history)}${go('/console/publishers', t.console.connector.publishers)}`,
      content: html`${filter('/console/connectors', t.console.connector.list, { name: 'q', words: t.console.connector.find, value: search }, t)}
${listed({ id: 'list', title: t.console.connector.list, count: found.length }, columnsOf(t), rows, nothing, '', t)}`,
    }),
  )
}
