/** The list of connectors: how each stands and does. */
import { html } from 'hono/html'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import { searchText } from '../pages/access.ts'
import { badge } from '../pages/states.ts'
import { brief, type Column, filter, go, listed, row, shell, thousands } from './parts.ts'
import { milliseconds, share, totalsOf } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'
import { CONNECTOR_STATES, CONNECTOR_WORDS as WORDS } from './words/runtime.ts'

/** Most rows of the list; there are as many connectors as folders and packages. */
const MOST = 1000

const COLUMNS: Column[] = [
  { words: WORDS.name },
  { words: WORDS.state },
  { words: WORDS.source, look: 'c3' },
  { words: WORDS.calls, look: 'num c3' },
  { words: WORDS.failed, look: 'num c3' },
  { words: WORDS.p95, look: 'num c2' },
]

/** How a connector stands, as a badge. */
export function stateBadge({ state, serving }: Pick<ConnectorListing, 'state' | 'serving'>) {
  if (state === 'ready' && !serving) return badge('', 'minus', WORDS.notServing)
  const [kind, icon, words] = CONNECTOR_STATES[state]
  return badge(kind, icon, words)
}

/** What needs a person stands first. */
const RANK: Record<ConnectorListing['state'], number> = {
  ...{ quarantined: 0, ghost: 1, suspect: 2, checking: 3, disabled: 4, ready: 5 },
}

export async function showConnectors(visit: ConsoleVisit): Promise<Response> {
  const { c } = visit
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
    return row(COLUMNS, [
      html`${link}${under === '' ? '' : html`<span class="sub">${brief(under)}</span>`}`,
      stateBadge(one),
      WORDS.sources[one.source],
      thousands(calls),
      calls === 0 ? '–' : `${share(failed, calls)} %`,
      milliseconds(p95),
    ])
  })
  const serving = all.filter((one) => one.serving).length
  const nothing =
    search === ''
      ? { title: WORDS.none, text: WORDS.noneText }
      : { title: WORDS.noneFound, text: WORDS.noneFoundText, icon: 'search' as const }
  return c.html(
    shell({
      ...{
        visitor: await visit.visitor(),
        flash: visit.flash(),
        place: 'connectors',
        isPlace: true,
      },
      title: WORDS.title(serving, all.length),
      lead: WORDS.lead,
      actions: html`${go('/console/install', WORDS.install, 'main')}${go('/console/generations', WORDS.history)}${go('/console/publishers', WORDS.publishers)}`,
      content: html`${filter('/console/connectors', WORDS.list, { name: 'q', words: WORDS.find, value: search })}
${listed({ id: 'list', title: WORDS.list, count: found.length }, COLUMNS, rows, nothing)}`,
    }),
  )
}
