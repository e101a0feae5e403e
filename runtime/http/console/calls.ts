/** The latest calls of a connector, each with what it did when. */
import { html } from 'hono/html'
import type { CallRecord } from '../../contract/endpoints/operator.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import type { Markup } from '../frame/layout.ts'
import { moment } from '../frame/words.ts'
import { badge } from '../pages/states.ts'
import { key } from './charts.ts'
import { pathOf } from './connector.ts'
import { brief, type Column, card, facts, listed, row, shell, table } from './parts.ts'
import { lookOf, type Phase, phasesOf } from './phases.ts'
import { bytesOf, milliseconds } from './slots.ts'
import type { ConsoleVisit } from './visit.ts'
import { CALL_WORDS as WORDS } from './words/runtime.ts'

/** Calls of the list, and how far back one is looked for. */
const LISTED = '50'
const LOOKED = '1000'

const outcomeBadge = (outcome: string): Markup =>
  badge(outcome === 'ok' ? 'good' : 'bad', outcome === 'ok' ? 'check' : 'x', outcome)

/** Phases on a line from the begin of the call to its end; the words beside it say the same. */
function fall(phases: readonly Phase[], wholeMs: number): Markup {
  const scale = 200 / Math.max(wholeMs, 0.1)
  const place = (ms: number): string => String(Math.round(ms * scale * 10) / 10)
  return html`<svg class="fall" viewBox="0 0 200 18" preserveAspectRatio="none" aria-hidden="true"><path class="grid" d="M0 9h200"/>${phases.map(
    (one) =>
      html`<rect class="f ${lookOf(one)}" x="${place(Math.min(one.beginMs, wholeMs))}" y="${one.request ? 2 : 6}" width="${place(Math.max(Math.min(one.ms, wholeMs), wholeMs / 100))}" height="${one.request ? 14 : 6}"/>`,
  )}</svg>`
}

const LIST: Column[] = [
  { words: WORDS.call },
  { words: WORDS.outcome },
  { words: WORDS.when, look: 'c3' },
  { words: WORDS.requests, look: 'num c3' },
  { words: WORDS.took, look: 'num' },
]

export async function showCalls(visit: ConsoleVisit): Promise<Response> {
  const { c, now } = visit
  const id = c.req.param('connector_id') ?? ''
  const { items } = await visit.ask('list_calls', { query: { connector_id: id, limit: LISTED } })
  const rows = items.map((one) =>
    row(LIST, [
      html`<a class="go mono" href="${pathOf(id)}/calls/${encodeURIComponent(one.request_id)}">${one.capability}</a><span class="sub">${moment(new Date(one.at), now)}</span>`,
      outcomeBadge(one.outcome),
      fall(phasesOf(one), one.ms),
      one.upstream.length,
      milliseconds(one.ms),
    ]),
  )
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'connectors' },
      ...{ title: WORDS.title(id), lead: WORDS.lead, crumbs: [{ path: pathOf(id), words: id }] },
      content: html`${listed({ id: 'list', title: WORDS.list, count: items.length }, LIST, rows, {
        title: WORDS.none,
        text: WORDS.noneText,
      })}${KEY}`,
    }),
  )
}

const KEY = key([
  { look: '', words: WORDS.key.own },
  { look: 'busy', words: WORDS.key.good },
  { look: 'wait', words: WORDS.key.wait },
  { look: 'bad', words: WORDS.key.bad },
])

const STEPS: Column[] = [
  { words: WORDS.phase },
  { words: WORDS.when, look: 'c3' },
  { words: WORDS.begins, look: 'num' },
  { words: WORDS.took, look: 'num' },
]

const said = ({ what, request }: Phase): Markup | string =>
  request === null
    ? WORDS.phases[what]
    : html`<span class="mono">${request.method} ${brief(`${request.host}${request.path}${request.query}`, 200)}</span><span class="sub">${request.error ?? request.status ?? '–'} · ${WORDS.bytes(bytesOf(request.sent_bytes), bytesOf(request.received_bytes))}</span>`

/** @throws CoreError 404 for a call that this host does not keep any more */
export async function showCall(visit: ConsoleVisit): Promise<Response> {
  const { c, now } = visit
  const { connector_id: id = '', request_id: wanted = '' } = c.req.param()
  const { items } = await visit.ask('list_calls', { query: { connector_id: id, limit: LOOKED } })
  const one = items.find(({ request_id }) => request_id === wanted)
  if (!one) throw new CoreError(404, WORDS.gone)
  const phases = phasesOf(one)
  const steps = phases.map((phase) =>
    row(STEPS, [
      said(phase),
      fall([phase], one.ms),
      milliseconds(phase.beginMs),
      milliseconds(phase.ms),
    ]),
  )
  const content = html`<div class="cols"><div class="stack wide">
${card({ id: 'fall', title: WORDS.fall, note: WORDS.fallNote }, html`${table(WORDS.fall, STEPS, steps)}<div class="in">${KEY}</div>`)}
${one.log.length === 0 ? '' : card({ id: 'log', title: WORDS.log }, html`<ul class="lines">${one.log.map(({ level, message }) => html`<li class="wrap"><strong>${level}</strong> ${message}</li>`)}</ul>`)}
</div><div class="stack wide">${about(one, now)}</div></div>`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'connectors', content },
      ...{ title: one.capability, state: outcomeBadge(one.outcome) },
      crumbs: [
        { path: pathOf(id), words: id },
        { path: `${pathOf(id)}/calls`, words: WORDS.list },
      ],
    }),
  )
}

const about = (one: CallRecord, now: Date): Markup =>
  card(
    { id: 'facts', title: WORDS.facts },
    facts([
      [WORDS.ended, moment(new Date(one.at), now)],
      [WORDS.took, milliseconds(one.ms)],
      [WORDS.cause, html`${one.cause.kind}<span class="sub mono">${one.cause.id}</span>`],
      ...(one.app_id
        ? [[WORDS.app, html`<a href="/console/apps/${one.app_id}">${WORDS.lookAtApp}</a>`] as const]
        : []),
      [WORDS.id, html`<code class="wrap">${one.request_id}</code>`],
    ]),
  )
