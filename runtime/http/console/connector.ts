/** One connector: health, latency, where its requests go, versions, grants and what it wants. */
import { html } from 'hono/html'
import type { Want } from '../../contract/endpoints/generation.ts'
import type { CallRecord } from '../../contract/endpoints/operator.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { BLAME_NAMES, BLAMES } from '../../contract/models/call-minutes.ts'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import type { Markup } from '../frame/layout.ts'
import { day, moment } from '../frame/words.ts'
import type { OperatorAnswer } from '../operator/perform.ts'
import { empty, note } from '../pages/parts.ts'
import { badge } from '../pages/states.ts'
import { key, lineChart, spark } from './charts.ts'
import { stateBadge } from './connectors.ts'
import { egressMap, waysOf } from './egress-map.ts'
import {
  brief,
  type Column,
  card,
  facts,
  figures,
  go,
  listed,
  row,
  shell,
  table,
  tabs,
  thousands,
} from './parts.ts'
import {
  bytesOf,
  clockOf,
  hourMarks,
  milliseconds,
  type Slot,
  share,
  slotsOf,
  type Totals,
  totalsOf,
} from './slots.ts'
import type { ConsoleVisit } from './visit.ts'
import { CONNECTOR_WORDS, ONE_CONNECTOR_WORDS as WORDS } from './words/runtime.ts'

const SPAN = { hours: 24, stepMinutes: 30 } as const
/** How far back the map of the egress looks, in hours. */
const EGRESS_HOURS = '168'
const CALLS = '20'

type Shown = OperatorAnswer<'show_connector'>

export const pathOf = (id: string): string => `/console/connectors/${encodeURIComponent(id)}`

export async function showConnector(visit: ConsoleVisit): Promise<Response> {
  const { c, now } = visit
  const id = c.req.param('connector_id') ?? ''
  const listing = visit.deps.listConnectors().find((one) => one.id === id)
  const shown = await visit
    .ask('show_connector', { params: { connector_id: id } })
    .catch((error: unknown) => {
      // One that cannot be served, and is not installed, is in the list alone.
      if (listing && error instanceof CoreError && error.status === 404) return null
      throw error
    })
  const query = { connector_id: shown?.id ?? id }
  const minutes = await visit.ask('list_call_minutes', {
    query: { ...query, step_minutes: String(SPAN.stepMinutes) },
  })
  const called = await visit.ask('list_called_hosts', { query: { ...query, hours: EGRESS_HOURS } })
  const latest = await visit.ask('list_calls', { query: { ...query, limit: CALLS } })
  const slots = slotsOf(minutes.items, now, SPAN)
  const ways = waysOf(shown ?? { wants: [], withheld: [] }, called.items)
  const totals = totalsOf(minutes.items)
  const content = html`${listing?.reason ? note(listing.state === 'ghost' || listing.state === 'quarantined' ? 'bad' : 'wait', 'alert', stateWords(listing), brief(listing.reason, 500)) : ''}
${tabs(id, [
  { href: '#latency', words: WORDS.overview },
  { href: '#egress', words: WORDS.egressTab },
  { href: '#latest', words: WORDS.callsTab },
  { href: '#versions', words: WORDS.versionsTab, count: shown?.versions.length ?? 0 },
  { href: '#grants', words: WORDS.grantsTab, count: shown?.grants.length ?? 0 },
])}
${numbers(totals, slots)}
<div class="cols"><div class="stack wide">
${latency(id, slots, totals)}
${egressMap(id, ways)}
${calls(id, latest.items, now)}
${shown ? wanted(shown) : ''}
${shown ? grants(shown, now) : ''}
</div><div class="stack wide">
${faults(totals)}
${shown ? versions(shown, now) : ''}
${about(shown, listing ?? null)}
</div></div>`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'connectors', content },
      title: id,
      state: listing ? stateBadge(listing) : '',
      lead: listing?.version
        ? `${listing.version}, ${CONNECTOR_WORDS.sources[listing.source]}`
        : '',
      actions: actions(id, shown, listing ?? null),
    }),
  )
}

const stateWords = ({ state }: ConnectorListing): string =>
  state === 'quarantined' || state === 'suspect' ? WORDS.itsWorker : WORDS.whySo

function actions(id: string, shown: Shown | null, listing: ConnectorListing | null): Markup {
  const at = pathOf(id)
  const isHeld = listing?.state === 'quarantined' || listing?.state === 'suspect'
  return html`${isHeld ? go(`${at}/release`, WORDS.release, 'main') : ''}
${go('/console/install', WORDS.upgrade)}
${listing?.state === 'disabled' || shown?.disabled ? go(`${at}/enable`, WORDS.enable) : shown ? go(`${at}/disable`, WORDS.disable, 'danger') : ''}
${shown && shown.versions.length > 0 ? go(`${at}/remove`, WORDS.remove, 'danger') : ''}`
}

const numbers = (totals: Totals, slots: readonly Slot[]): Markup =>
  figures([
    {
      name: WORDS.calls24,
      value: thousands(totals.calls),
      note: spark(slots.map(({ step }) => step?.calls ?? 0)),
    },
    {
      name: WORDS.failedShare,
      value: share(totals.failed, totals.calls),
      unit: '%',
      note: BLAME_NAMES.filter((name) => totals.errors[name] > 0)
        .map((name) => `${thousands(totals.errors[name])} by ${BLAMES[name]}`)
        .join(', '),
    },
    { name: WORDS.p95, value: milliseconds(totals.p95) },
    {
      name: WORDS.sent,
      value: thousands(totals.requests),
      note: WORDS.bytes(bytesOf(totals.sent_bytes), bytesOf(totals.received_bytes)),
    },
  ])

const LATENCY: Column[] = [
  { words: WORDS.time },
  { words: 'p50', look: 'num' },
  { words: 'p95', look: 'num' },
  { words: 'p99', look: 'num' },
  { words: WORDS.count, look: 'num c3' },
]

function latency(id: string, slots: readonly Slot[], totals: Totals): Markup {
  const about = { id: 'latency', title: WORDS.latency, note: WORDS.latencyNote }
  if (totals.calls === 0) return card(about, empty('info', WORDS.noCalls, WORDS.noCallsText))
  const picture = {
    id: 'latency-picture',
    title: `${WORDS.latency}: ${brief(id, 60)}`,
    text: `${WORDS.latencyNote}. ${WORDS.latencyText(milliseconds(totals.p95))}`,
    marks: hourMarks(slots),
    steps: slots.length,
  }
  const series = [
    { name: 'p50', look: 'busy', values: slots.map(({ step }) => step?.p50_ms ?? null) },
    { name: 'p95', look: 'p95 dash', values: slots.map(({ step }) => step?.p95_ms ?? null) },
    { name: 'p99', look: 'p99 dots', values: slots.map(({ step }) => step?.p99_ms ?? null) },
  ]
  const rows = slots.flatMap(({ at, step }) =>
    step
      ? [
          row(LATENCY, [
            clockOf(at),
            ...[step.p50_ms, step.p95_ms, step.p99_ms].map(milliseconds),
            thousands(step.calls),
          ]),
        ]
      : [],
  )
  return card(
    about,
    html`<div class="in stack tight">${lineChart(picture, series)}
${key(series.map(({ name, look }) => ({ look, words: name, line: true })))}
<details class="more"><summary>${WORDS.asTable}</summary>${table(WORDS.latency, LATENCY, rows)}</details></div>`,
  )
}

const FAULTS: Column[] = [{ words: WORDS.fault }, { words: WORDS.count, look: 'num' }]

const faults = ({ errors }: Totals): Markup =>
  card(
    { id: 'faults', title: WORDS.faults },
    table(
      WORDS.faults,
      FAULTS,
      BLAME_NAMES.map((name) => row(FAULTS, [BLAMES[name], thousands(errors[name])])),
    ),
  )

const LATEST: Column[] = [
  { words: WORDS.call },
  { words: WORDS.outcome },
  { words: WORDS.sent, look: 'c3' },
  { words: 'ms', look: 'num' },
]

function calls(id: string, items: readonly CallRecord[], now: Date): Markup {
  const rows = items.map((one) => {
    const hosts = [...new Set(one.upstream.map(({ host }) => host))]
    const isOk = one.outcome === 'ok'
    return row(LATEST, [
      html`<span class="mono">${one.capability}</span><span class="sub">${moment(new Date(one.at), now)}</span>`,
      badge(isOk ? 'good' : 'bad', isOk ? 'check' : 'x', one.outcome),
      one.upstream.length === 0
        ? '–'
        : html`${one.upstream.length}<span class="sub">${brief(hosts.join(', '), 120)}</span>`,
      thousands(Math.round(one.ms)),
    ])
  })
  const end = html`<a class="btn less" href="${pathOf(id)}/calls">${WORDS.allCalls}</a>`
  return listed({ id: 'latest', title: WORDS.latest, note: WORDS.latestNote, end }, LATEST, rows, {
    title: WORDS.noLatest,
    text: WORDS.noCallsText,
  })
}

const VERSIONS: Column[] = [
  { words: WORDS.version },
  { words: WORDS.review, look: 'num', unseen: true },
]

const versions = ({ id, versions: all, active }: Shown, now: Date): Markup =>
  listed(
    { id: 'versions', title: WORDS.versions },
    VERSIONS,
    [...all].reverse().map((one) => {
      const serves = one.digest === active
      const by =
        one.trust === 'invalid'
          ? WORDS.invalid
          : one.publisher
            ? WORDS.signedBy(one.publisher)
            : WORDS.unsigned
      return row(VERSIONS, [
        html`${one.version} ${serves ? badge('good', 'check', WORDS.serving) : badge('', 'minus', WORDS.kept)}<span class="sub">${day(new Date(one.installed_at), now)} · ${by} · <span class="mono">${one.digest.slice(0, 12)}</span></span>`,
        go(
          `${pathOf(id)}/versions/${one.digest}`,
          html`${WORDS.review}<span class="unseen"> ${one.version}</span>`,
          'less',
        ),
      ])
    }),
    { title: WORDS.noVersions, text: WORDS.noVersionsText },
  )

const WANTS: Column[] = [
  { words: WORDS.choose, unseen: true },
  { words: WORDS.kind },
  { words: WORDS.granted, look: 'c3' },
]

/** What is chosen of a list of wants: each by the words that the grant and revoke endpoints take. */
const chosen = (want: Want): string => `${want.kind} ${want.words}`

const choice = (want: Want, at: number, of: string): Markup => {
  const id = `${of}-${at}`
  return html`<span class="row keep"><input type="checkbox" id="${id}" name="want" value="${chosen(want)}"><label for="${id}" class="wrap">${brief(want.words, 300)}</label></span>`
}

function wanted({ id, withheld }: Shown): Markup {
  if (withheld.length === 0) return html``
  const columns = WANTS.slice(0, 2)
  return card(
    { id: 'withheld', title: WORDS.withheld, note: WORDS.withheldNote, count: withheld.length },
    html`<form action="${pathOf(id)}/grant">${table(
      WORDS.withheld,
      columns,
      withheld.map((want, at) => row(columns, [choice(want, at, 'w'), want.kind])),
    )}<div class="in"><button class="btn">${WORDS.grantChosen}</button></div></form>`,
  )
}

function grants({ id, grants: all }: Shown, now: Date): Markup {
  const about = { id: 'grants', title: WORDS.grants, note: WORDS.grantsNote, count: all.length }
  if (all.length === 0) return card(about, empty('info', WORDS.noGrants, WORDS.noGrantsText))
  const rows = all.map((grant, at) =>
    row(WANTS, [
      choice(grant, at, 'g'),
      grant.kind,
      html`${day(new Date(grant.granted_at), now)}<span class="sub">${grant.granted_by}${grant.reason === '' ? '' : html`: “${brief(grant.reason)}”`}</span>`,
    ]),
  )
  return card(
    about,
    html`<form action="${pathOf(id)}/revoke">${table(WORDS.grants, WANTS, rows)}<div class="in"><button class="btn danger">${WORDS.revokeChosen}</button></div></form>`,
  )
}

function about(shown: Shown | null, listing: ConnectorListing | null): Markup {
  const capabilities = shown?.wants.filter(({ kind }) => kind === 'capability') ?? []
  return card(
    { id: 'facts', title: WORDS.facts },
    facts([
      ...(listing ? [[WORDS.source, CONNECTOR_WORDS.sources[listing.source]] as const] : []),
      ...(listing?.folder ? [[WORDS.folder, html`<code>${listing.folder}</code>`] as const] : []),
      ...(listing?.digest
        ? [[WORDS.digest, html`<code>${listing.digest.slice(0, 12)}</code>`] as const]
        : []),
      [
        WORDS.capabilities,
        capabilities.length === 0
          ? '–'
          : html`<span class="mono">${capabilities.map(({ subject }) => subject).join(', ')}</span>`,
      ],
      ...(shown && shown.versions.length > 0
        ? [
            [
              WORDS.probe,
              html`${shown.probe ? WORDS.probeYes : WORDS.probeNo}<br><a href="${pathOf(shown.id)}/probe">${shown.probe ? WORDS.replaceProbe : WORDS.setProbe}</a>${shown.probe ? html`<br><a href="${pathOf(shown.id)}/forget-probe">${WORDS.forgetProbe}</a>` : ''}`,
            ] as const,
          ]
        : []),
    ]),
  )
}
