/** The page of one connector: health, latency, its requests, versions, grants and wants. */
import { html } from 'hono/html'
import type { Want } from '../../contract/endpoints/generation.ts'
import type { CallRecord } from '../../contract/endpoints/operator.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import { BLAME_NAMES } from '../../contract/models/call-minutes.ts'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import type { OperatorAnswer } from '../operator/perform.ts'
import { empty, note } from '../pages/parts.ts'
import { badge } from '../pages/states.ts'
import { key, lineChart, spark } from './charts.ts'
import { stateBadge } from './connectors.ts'
import { egressMap, waysOf } from './egress-map.ts'
import {
  answerPage,
  brief,
  type Column,
  card,
  facts,
  figures,
  go,
  listed,
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

const SPAN = { hours: 24, stepMinutes: 30 } as const
/** Period of the egress map, in hours. */
const EGRESS_HOURS = '168'
const CALLS = '20'

type Shown = OperatorAnswer<'show_connector'>

export const pathOf = (id: string): string => `/console/connectors/${encodeURIComponent(id)}`

export async function showConnector(visit: ConsoleVisit): Promise<Response> {
  const { c, now, t } = visit
  const w = t.console.one_connector
  const id = c.req.param('connector_id') ?? ''
  const listing = visit.deps.listConnectors().find((one) => one.id === id)
  const shown = await visit
    .ask('show_connector', { params: { connector_id: id } })
    .catch((error: unknown) => {
      // A connector that cannot be served and is not installed is only in the list.
      if (listing && error instanceof CoreError && error.kind === 'not_found') return null
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
  const content = html`${listing?.reason ? note(listing.state === 'ghost' || listing.state === 'quarantined' ? 'bad' : 'wait', 'alert', stateWords(t, listing), brief(listing.reason, 500)) : ''}
${tabs(id, [
  { href: '#latency', words: w.overview },
  { href: '#egress', words: w.egressTab },
  { href: '#latest', words: w.callsTab },
  {
    href: '#versions',
    words: w.versionsTab,
    count: shown?.versions.length ?? 0,
  },
  { href: '#grants', words: w.grantsTab, count: shown?.grants.length ?? 0 },
])}
${numbers(t, totals, slots)}
<div class="cols"><div class="stack wide">
${latency(t, id, slots, totals)}
${egressMap(t, id, ways)}
${calls(t, id, latest.items, now)}
${shown ? wanted(t, shown) : ''}
${shown ? grants(t, shown, now) : ''}
</div><div class="stack wide">
${faults(t, totals)}
${shown ? versions(t, shown, now) : ''}
${about(t, shown, listing ?? null)}
</div></div>`
  return answerPage(visit, {
    ...{ place: 'connectors', content },
    title: id,
    state: listing ? stateBadge(t, listing) : '',
    lead: listing?.version
      ? `${listing.version}, ${t.console.connector.sources[listing.source]}`
      : '',
    actions: actions(t, id, shown, listing ?? null),
  })
}

const stateWords = (t: PageLocale, { state }: ConnectorListing): string =>
  state === 'quarantined' || state === 'suspect'
    ? t.console.one_connector.itsWorker
    : t.console.one_connector.whySo

function actions(
  t: PageLocale,
  id: string,
  shown: Shown | null,
  listing: ConnectorListing | null,
): Markup {
  const w = t.console.one_connector
  const at = pathOf(id)
  const isHeld = listing?.state === 'quarantined' || listing?.state === 'suspect'
  return html`${isHeld ? go(`${at}/release`, w.release, 'main') : ''}
${go('/console/install', w.upgrade)}
${listing?.state === 'disabled' || shown?.disabled ? go(`${at}/enable`, w.enable) : shown ? go(`${at}/disable`, w.disable, 'danger') : ''}
${shown && shown.versions.length > 0 ? go(`${at}/remove`, w.remove, 'danger') : ''}`
}

const numbers = (t: PageLocale, totals: Totals, slots: readonly Slot[]): Markup =>
  figures([
    {
      name: t.console.one_connector.calls24,
      value: thousands(totals.calls, t),
      note: spark(slots.map(({ step }) => step?.calls ?? 0)),
    },
    {
      name: t.console.one_connector.failedShare,
      value: share(totals.failed, totals.calls, t),
      unit: '%',
      note: BLAME_NAMES.filter((name) => totals.errors[name] > 0)
        .map((name) =>
          t.console.one_connector.byBlame(
            thousands(totals.errors[name], t),
            t.console.blames[name],
          ),
        )
        .join(', '),
    },
    { name: t.console.one_connector.p95, value: milliseconds(totals.p95, t) },
    {
      name: t.console.one_connector.sent,
      value: thousands(totals.requests, t),
      note: t.console.one_connector.bytes(
        bytesOf(totals.sent_bytes, t),
        bytesOf(totals.received_bytes, t),
      ),
    },
  ])

function latency(t: PageLocale, id: string, slots: readonly Slot[], totals: Totals): Markup {
  const w = t.console.one_connector
  const about = { id: 'latency', title: w.latency, note: w.latencyNote }
  if (totals.calls === 0) return card(about, empty('info', w.noCalls, w.noCallsText))
  const picture = {
    id: 'latency-picture',
    title: `${w.latency}: ${brief(id, 60)}`,
    text: `${w.latencyNote}. ${w.latencyText(milliseconds(totals.p95, t))}`,
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
          [
            clockOf(at),
            ...[step.p50_ms, step.p95_ms, step.p99_ms].map((one) => milliseconds(one, t)),
            thousands(step.calls, t),
          ],
        ]
      : [],
  )
  return card(
    about,
    html`<div class="in stack tight">${lineChart(picture, series)}
${key(series.map(({ name, look }) => ({ look, words: name, line: true })))}
<details class="more"><summary>${w.asTable}</summary>${table(
      w.latency,
      [
        w.time,
        ['p50', 'num'],
        ['p95', 'num'],
        { words: 'p99', look: 'num', folds: true },
        [w.count, 'num c3'],
      ],
      rows,
      t,
    )}</details></div>`,
  )
}

const faults = (t: PageLocale, { errors }: Totals): Markup =>
  card(
    { id: 'faults', title: t.console.one_connector.faults },
    table(
      t.console.one_connector.faults,
      [t.console.one_connector.fault, [t.console.one_connector.count, 'num']],
      BLAME_NAMES.map((name) => [t.console.blames[name], thousands(errors[name], t)]),
      t,
    ),
  )

/** Renders the outcome of a call. */
export const outcomeBadge = (outcome: string): Markup =>
  badge(outcome === 'ok' ? ['good', 'check'] : ['bad', 'x'], outcome)

function calls(t: PageLocale, id: string, items: readonly CallRecord[], now: Date): Markup {
  const w = t.console.one_connector
  const rows = items.map((one) => {
    const hosts = [...new Set(one.upstream.map(({ host }) => host))]
    return [
      html`<span class="mono">${one.capability}</span><span class="sub">${t.moment(new Date(one.at), now)}</span>`,
      outcomeBadge(one.outcome),
      one.upstream.length === 0
        ? '–'
        : html`${one.upstream.length}<span class="sub">${brief(hosts.join(', '), 120)}</span>`,
      thousands(Math.round(one.ms), t),
    ]
  })
  const end = html`<a class="btn less" href="${pathOf(id)}/calls">${w.allCalls}</a>`
  return listed(
    { id: 'latest', title: w.latest, note: w.latestNote, end },
    [w.call, w.outcome, [w.sent, 'c3'], ['ms', 'num']],
    rows,
    { title: w.noLatest, text: w.noCallsText },
    t,
  )
}

function versions(t: PageLocale, { id, versions: all, active }: Shown, now: Date): Markup {
  const w = t.console.one_connector
  return listed(
    {
      ...{ id: 'versions', title: w.versions },
      end: all.length > 1 ? go('/console/generations', t.console.generation.rollback, 'less') : '',
    },
    [w.version, { words: w.review, look: 'num', unseen: true }],
    [...all].reverse().map((one) => {
      const serves = one.digest === active
      const by =
        one.trust === 'invalid' ? w.invalid : one.publisher ? w.signedBy(one.publisher) : w.unsigned
      return [
        html`${one.version} ${serves ? badge(['good', 'check'], w.serving) : badge(['', 'minus'], w.kept)}<span class="sub">${t.day(new Date(one.installed_at), now)} · ${by} · <span class="mono">${one.digest.slice(0, 12)}</span></span>`,
        go(
          `${pathOf(id)}/versions/${one.digest}`,
          html`${w.review}<span class="unseen"> ${one.version}</span>`,
          'less',
        ),
      ]
    }),
    { title: w.noVersions, text: w.noVersionsText },
    t,
  )
}

const wantsColumns = (t: PageLocale): Column[] => [
  { words: t.console.one_connector.choose, unseen: true },
  t.console.one_connector.kind,
  [t.console.one_connector.granted, 'c3'],
]

/** Value of a selected want: the kind and text that the grant and revoke endpoints take. */
const chosen = (want: Want): string => `${want.kind} ${want.words}`

const choice = (want: Want, at: number, of: string): Markup => {
  const id = `${of}-${at}`
  return html`<span class="row keep"><input type="checkbox" id="${id}" name="want" value="${chosen(want)}"><label for="${id}" class="wrap" lang="en">${brief(want.words, 300)}</label></span>`
}

function wanted(t: PageLocale, { id, withheld }: Shown): Markup {
  if (withheld.length === 0) return html``
  const columns = wantsColumns(t).slice(0, 2)
  return card(
    {
      id: 'withheld',
      title: t.console.one_connector.withheld,
      note: t.console.one_connector.withheldNote,
      count: withheld.length,
    },
    html`<form action="${pathOf(id)}/grant">${table(
      t.console.one_connector.withheld,
      columns,
      withheld.map((want, at) => [choice(want, at, 'w'), t.console.want_kinds[want.kind]]),
      t,
    )}<div class="in"><button class="btn">${t.console.one_connector.grantChosen}</button></div></form>`,
  )
}

function grants(t: PageLocale, { id, grants: all }: Shown, now: Date): Markup {
  const w = t.console.one_connector
  const about = { id: 'grants', title: w.grants, note: w.grantsNote, count: all.length }
  if (all.length === 0) return card(about, empty('info', w.noGrants, w.noGrantsText))
  const rows = all.map((grant, at) => [
    choice(grant, at, 'g'),
    t.console.want_kinds[grant.kind],
    html`${t.day(new Date(grant.granted_at), now)}<span class="sub">${grant.granted_by}${grant.reason === '' ? '' : html`: ${t.w.quoted(brief(grant.reason))}`}</span>`,
  ])
  return card(
    about,
    html`<form action="${pathOf(id)}/revoke">${table(w.grants, wantsColumns(t), rows, t)}<div class="in"><button class="btn danger">${w.revokeChosen}</button></div></form>`,
  )
}

function about(t: PageLocale, shown: Shown | null, listing: ConnectorListing | null): Markup {
  const w = t.console.one_connector
  const capabilities = shown?.wants.filter(({ kind }) => kind === 'capability') ?? []
  return card(
    { id: 'facts', title: w.facts },
    facts([
      listing && [w.source, t.console.connector.sources[listing.source]],
      listing?.folder && [w.folder, html`<code>${listing.folder}</code>`],
      listing?.digest && [w.digest, html`<code>${listing.digest.slice(0, 12)}</code>`],
      [
        w.capabilities,
        capabilities.length === 0
          ? '–'
          : html`<span class="mono">${capabilities.map(({ subject }) => subject).join(', ')}</span>`,
      ],
      shown &&
        shown.versions.length > 0 && [
          w.probe,
          html`${shown.probe ? w.probeYes : w.probeNo}<br><a href="${pathOf(shown.id)}/probe">${shown.probe ? w.replaceProbe : w.setProbe}</a>${shown.probe ? html`<br><a href="${pathOf(shown.id)}/forget-probe">${w.forgetProbe}</a>` : ''}`,
        ],
    ]),
  )
}
