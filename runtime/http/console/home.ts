/** The console's first page: what needs attention, whose turn it is, how calls go. */
import { html } from 'hono/html'
import type { Attention, Overview } from '../../contract/endpoints/overview.ts'
import type { Markup } from '../frame/layout.ts'
import { placesOf, SIDE } from '../frame/side.ts'
import { age, lengthOf } from '../frame/words.ts'
import { empty } from '../pages/parts.ts'
import { barChart, key } from './charts.ts'
import {
  brief,
  type Column,
  card,
  ENGLISH,
  figures,
  go,
  listed,
  mark,
  row,
  shell,
  table,
  thousands,
} from './parts.ts'
import { clockOf, failedOf, hourMarks, type Slot, slotsOf } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'
import { HOME_WORDS as WORDS } from './words/overview.ts'

const SPAN = { hours: 24, stepMinutes: 60 } as const

export async function showHome(visit: ConsoleVisit): Promise<Response> {
  const { c, principal, now } = visit
  const [visitor, flash] = [await visit.visitor(), visit.flash()]
  const page = { visitor, flash, place: 'home', isPlace: true } as const
  if (!principal.permissions.has('operator'))
    return c.html(
      shell({
        ...page,
        title: WORDS.plainTitle,
        lead: WORDS.plainLead,
        content: placesList(visit),
      }),
    )
  const overview = await visit.ask('show_overview')
  const { items } = await visit.ask('list_call_minutes')
  const { attention } = overview
  const bad = attention.filter(({ level }) => level === 'bad').length
  const content = html`${needs(attention, now)}
${standing(overview, now)}
<div class="cols">
<div class="stack wide">${calls(slotsOf(items, now, SPAN))}</div>
<div class="stack wide">${turnsOf(overview, now)}</div>
</div>`
  return c.html(shell({ ...page, title: WORDS.title(bad, attention.length - bad), content }))
}

const placesList = ({ principal }: ConsoleVisit): Markup =>
  html`<ul class="tiles">${placesOf(principal)
    .filter((name) => name !== 'home')
    .map(
      (name) =>
        html`<li class="card tile"><h2><a class="go over" href="${SIDE[name].path}">${ENGLISH.w[SIDE[name].words]}</a></h2></li>`,
    )}</ul>`

/** Where one looks at something that needs attention. */
function placeOf({ kind, id, name }: Attention): string {
  const at = encodeURIComponent(id ?? name)
  if (kind.startsWith('connector'))
    return id === null ? '/console/connectors' : `/console/connectors/${at}`
  if (kind === 'version_waits') return `/console/connectors/${at}#versions`
  if (kind === 'webhook_failing') return '/console/webhooks'
  if (kind === 'host_problem') return '/console/background#hosts'
  if (kind === 'removal_failed') return `/access/requests/${at}`
  return `/console/apps/${at}`
}

const NEEDS: Column[] = [
  { words: WORDS.what },
  { words: WORDS.since, look: 'c3' },
  { words: WORDS.action, look: 'num', unseen: true },
]

const needs = (attention: readonly Attention[], now: Date): Markup =>
  listed(
    { id: 'attention', title: WORDS.attention, count: attention.length, note: WORDS.worstFirst },
    NEEDS,
    attention.map((one) => {
      const title = WORDS.kinds[one.kind](brief(one.name, 120))
      const isBad = one.level === 'bad'
      const said = `${isBad ? WORDS.failed : WORDS.waits}: `
      const name = html`<span class="row keep top-edge">${mark(isBad ? 'bad' : 'wait', isBad ? 'alert' : 'clock', said)}<span class="fit">${title}${one.detail ? html`<span class="sub">${brief(one.detail)}</span>` : ''}</span></span>`
      const since = one.since ? age(new Date(one.since), now) : ''
      const place = placeOf(one)
      const look = go(place, html`${WORDS.look}<span class="unseen">: ${title}</span>`, 'less')
      return row(NEEDS, [name, since, look])
    }),
    { icon: 'check', title: WORDS.fine, text: WORDS.fineText },
  )

const standing = ({ requests, apps, connectors, hosts }: Overview, now: Date): Markup =>
  figures([
    {
      name: WORDS.openRequests,
      value: thousands(requests.open),
      note: requests.oldest_at
        ? WORDS.oldestAge(lengthOf((now.getTime() - Date.parse(requests.oldest_at)) / 1000))
        : '',
    },
    { name: WORDS.ending, value: thousands(requests.ending) },
    {
      name: WORDS.apps,
      value: apps.connected - apps.troubled,
      unit: WORDS.of(apps.connected),
      note:
        apps.troubled > 0
          ? html`<span class="t bad">${WORDS.appsTroubled(apps.troubled)}</span>`
          : WORDS.allFine,
    },
    { name: WORDS.connectors, value: connectors.serving, unit: WORDS.of(connectors.all) },
    {
      name: WORDS.hosts,
      value: hosts.live,
      unit: WORDS.hostsOf(hosts.all),
      note: WORDS.generation(hosts.generation),
    },
  ])

const SERIES = [
  {
    look: 'busy',
    words: WORDS.answered,
    of: ({ step }: Slot) => (step ? step.calls - failedOf(step) : 0),
  },
  { look: 'rule', words: WORDS.byCaller, of: ({ step }: Slot) => step?.errors.caller ?? 0 },
  { look: 'wait', words: WORDS.byProvider, of: ({ step }: Slot) => step?.errors.provider ?? 0 },
  { look: 'bad', words: WORDS.byConnector, of: ({ step }: Slot) => step?.errors.connector ?? 0 },
  {
    look: '',
    words: WORDS.byUs,
    of: ({ step }: Slot) => (step ? step.errors.operator + step.errors.runtime : 0),
  },
] as const

function calls(slots: readonly Slot[]): Markup {
  const all = slots.reduce((sum, { step }) => sum + (step?.calls ?? 0), 0)
  if (all === 0)
    return card(
      { id: 'calls', title: WORDS.calls },
      empty('info', WORDS.noCalls, WORDS.noCallsText),
    )
  const failed = slots.reduce((sum, { step }) => sum + (step ? failedOf(step) : 0), 0)
  const picture = {
    id: 'calls-picture',
    title: `${WORDS.calls}, ${WORDS.callsNote}`,
    text: WORDS.callsText(thousands(all), thousands(failed)),
    marks: hourMarks(slots),
    steps: slots.length,
  }
  const columns: Column[] = [
    { words: WORDS.hour },
    ...SERIES.map(({ words }): Column => ({ words, look: 'num' })),
  ]
  const rows = slots
    .filter(({ step }) => step !== null)
    .map((slot) => row(columns, [clockOf(slot.at), ...SERIES.map(({ of }) => thousands(of(slot)))]))
  return card(
    { id: 'calls', title: WORDS.calls, note: WORDS.callsNote },
    html`<div class="in stack tight">
${barChart(
  picture,
  SERIES.map(({ words, look, of }) => ({ name: words, look, values: slots.map(of) })),
)}
${key(SERIES.map(({ look, words }) => ({ look, words })))}
<details class="more"><summary>${WORDS.asTable}</summary>${table(WORDS.calls, columns, rows)}</details></div>`,
  )
}

const TURNS: Column[] = [
  { words: WORDS.who },
  { words: WORDS.tasks, look: 'num' },
  { words: WORDS.oldest, look: 'num' },
]

const turnsOf = ({ turns }: Overview, now: Date): Markup =>
  listed(
    { id: 'turns', title: WORDS.turns },
    TURNS,
    turns.map(({ name, tasks, oldest_at }) =>
      row(TURNS, [brief(name, 80), tasks, age(new Date(oldest_at), now)]),
    ),
    { icon: 'check', title: WORDS.noTurns, text: WORDS.noTurnsText },
  )
