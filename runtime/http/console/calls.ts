/** The latest calls of a connector, and the timeline of each. */
import { html } from 'hono/html'
import type { CallRecord } from '../../contract/endpoints/operator.ts'
import { PageError } from '../frame/error-page.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { key } from './charts.ts'
import { outcomeBadge, pathOf } from './connector.ts'
import { answerPage, brief, card, facts, listed, table } from './parts.ts'
import { type Phase, phaseLook, phasesOf } from './phases.ts'
import { bytesOf, milliseconds } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'

/** Number of calls in the list, and number of calls among which one is looked up. */
const LISTED = '50'
const LOOKED = '1000'

/**
 * Draws the phases of a call on a line from its start to its end. The text next to it has the same content.
 */
function fall(phases: readonly Phase[], wholeMs: number): Markup {
  const scale = 200 / Math.max(wholeMs, 0.1)
  const place = (ms: number): string => String(Math.round(ms * scale * 10) / 10)
  return html`<svg class="fall" viewBox="0 0 200 18" preserveAspectRatio="none" aria-hidden="true"><path class="grid" d="M0 9h200"/>${phases.map(
    (one) =>
      html`<rect class="f ${phaseLook(one)}" x="${place(Math.min(one.beginMs, wholeMs))}" y="${one.request ? 2 : 6}" width="${place(Math.max(Math.min(one.ms, wholeMs), wholeMs / 100))}" height="${one.request ? 14 : 6}"/>`,
  )}</svg>`
}

export async function showCalls(visit: ConsoleVisit): Promise<Response> {
  const { c, now, t } = visit
  const w = t.console.call
  const id = c.req.param('connector_id') ?? ''
  const { items } = await visit.ask('list_calls', { query: { connector_id: id, limit: LISTED } })
  const rows = items.map((one) => [
    html`<a class="go mono" href="${pathOf(id)}/calls/${encodeURIComponent(one.request_id)}">${one.capability}</a><span class="sub">${t.moment(new Date(one.at), now)}</span>`,
    outcomeBadge(one.outcome),
    fall(phasesOf(one), one.ms),
    one.upstream.length,
    milliseconds(one.ms, t),
  ])
  return answerPage(visit, {
    place: 'connectors',
    ...{ title: w.title(id), lead: w.lead },
    crumbs: [{ path: pathOf(id), words: id }],
    content: html`${listed(
      { id: 'list', title: w.list, count: items.length },
      [w.call, w.outcome, [w.when, 'c3'], [w.requests, 'num c3'], [w.took, 'num']],
      rows,
      { title: w.none, text: w.noneText },
      t,
    )}${keyOf(t)}`,
  })
}

const keyOf = (t: PageLocale) =>
  key([
    { look: '', words: t.console.call.key.own },
    { look: 'busy', words: t.console.call.key.good },
    { look: 'wait', words: t.console.call.key.wait },
    { look: 'bad', words: t.console.call.key.bad },
  ])

const said = (t: PageLocale, { what, request }: Phase): Markup | string =>
  request === null
    ? t.console.call.phases[what]
    : html`<span class="mono">${request.method} ${brief(`${request.host}${request.path}${request.query}`, 200)}</span><span class="sub">${request.error ?? request.status ?? '–'} · ${t.console.call.bytes(bytesOf(request.sent_bytes, t), bytesOf(request.received_bytes, t))}</span>`

/** Shows one call. @throws CoreError `not_found` if this host no longer keeps it */
export async function showCall(visit: ConsoleVisit): Promise<Response> {
  const { c, now, t } = visit
  const w = t.console.call
  const { connector_id: id = '', request_id: wanted = '' } = c.req.param()
  const { items } = await visit.ask('list_calls', { query: { connector_id: id, limit: LOOKED } })
  const one = items.find(({ request_id }) => request_id === wanted)
  if (!one) throw new PageError('not_found', w.gone)
  const phases = phasesOf(one)
  const steps = phases.map((phase) => [
    said(t, phase),
    fall([phase], one.ms),
    milliseconds(phase.beginMs, t),
    milliseconds(phase.ms, t),
  ])
  const content = html`<div class="cols"><div class="stack wide">
${card(
  { id: 'fall', title: w.fall, note: w.fallNote },
  html`${table(
    w.fall,
    [w.phase, [w.when, 'c3'], [w.begins, 'num'], [w.took, 'num']],
    steps,
    t,
  )}<div class="in">${keyOf(t)}</div>`,
)}
${one.log.length === 0 ? '' : card({ id: 'log', title: w.log }, html`<ul class="lines">${one.log.map(({ level, message }) => html`<li class="wrap"><strong>${level}</strong> ${message}</li>`)}</ul>`)}
</div><div class="stack wide">${about(t, one, now)}</div></div>`
  return answerPage(visit, {
    ...{ place: 'connectors', content },
    ...{ title: one.capability, state: outcomeBadge(one.outcome) },
    crumbs: [
      { path: pathOf(id), words: id },
      { path: `${pathOf(id)}/calls`, words: w.list },
    ],
  })
}

const about = (t: PageLocale, one: CallRecord, now: Date): Markup =>
  card(
    { id: 'facts', title: t.console.call.facts },
    facts([
      one.message !== null && [t.console.call.said, html`<span class="wrap">${one.message}</span>`],
      one.version !== null && [t.console.call.version, one.version],
      [t.console.call.ended, t.moment(new Date(one.at), now)],
      [t.console.call.took, milliseconds(one.ms, t)],
      [t.console.call.cause, html`${one.cause.kind}<span class="sub mono">${one.cause.id}</span>`],
      one.app_id && [
        t.console.call.app,
        html`<a href="/console/apps/${one.app_id}">${t.console.call.lookAtApp}</a>`,
      ],
      [t.console.call.id, html`<code class="wrap">${one.request_id}</code>`],
    ]),
  )
