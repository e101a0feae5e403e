/** What the hosts do in the background, the hosts themselves, and how long things are kept. */
import { html } from 'hono/html'
import { JOB_STATES } from '../../contract/endpoints/jobs.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import { QUEUE_NAMES } from '../../core/kernel/jobs/queues.ts'
import type { Markup } from '../frame/layout.ts'
import { age, moment } from '../frame/words.ts'
import { badge } from '../pages/states.ts'
import { brief, type Column, listed, row, shell } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { JOB_STATE_WORDS, JOB_WORDS as WORDS } from './words/background.ts'

const COLUMNS: Column[] = [
  { words: WORDS.job },
  { words: WORDS.state },
  { words: WORDS.created, look: 'c3' },
  { words: WORDS.problem, look: 'c3' },
]

const HOSTS: Column[] = [
  { words: WORDS.host },
  { words: WORDS.state },
  { words: WORDS.generation, look: 'num' },
]

export async function showBackground(visit: ConsoleVisit): Promise<Response> {
  const { c, now } = visit
  const asked = c.req.query('state') ?? ''
  const state = isKeyOf(JOB_STATE_WORDS, asked) ? asked : ''
  const queue = QUEUE_NAMES.find((name) => name === c.req.query('queue')) ?? ''
  const query = { ...(state === '' ? {} : { state }), ...(queue === '' ? {} : { queue }) }
  const { items } = await visit.ask('list_jobs', { query })
  const nodes = await visit.ask('list_nodes')
  const rows = items.map((one) => {
    const [kind, icon, words] = JOB_STATE_WORDS[one.state]
    const at = one.created_at ? moment(new Date(one.created_at), now) : ''
    return row(COLUMNS, [
      html`${one.queue}<span class="sub mono">${brief(one.key, 100)}</span>`,
      html`${badge(kind, icon, words)}${one.tries > 0 ? html`<span class="sub">${WORDS.tries(one.tries)}</span>` : ''}`,
      at,
      brief(one.problem ?? '', 300),
    ])
  })
  const hosts = nodes.items.map(({ node, live, generation, seen_at, problems }) =>
    row(HOSTS, [
      html`<span class="mono">${node.slice(0, 8)}</span><span class="sub">${WORDS.seen} ${age(new Date(seen_at), now)}</span>`,
      html`${live ? badge('good', 'check', WORDS.live) : badge('', 'minus', WORDS.gone)}${problems.length > 0 ? html`<span class="sub">${brief(problems.join('; '))}</span>` : ''}`,
      generation,
    ]),
  )
  const follows = new URLSearchParams(query).toString()
  return c.html(
    shell({
      ...{
        visitor: await visit.visitor(),
        flash: visit.flash(),
        place: 'background',
        isPlace: true,
      },
      title: WORDS.title,
      lead: WORDS.lead,
      content: html`${asking(state, queue)}
<div id="live" data-events="/console/jobs/events${follows === '' ? '' : `?${follows}`}">${listed({ id: 'jobs', title: WORDS.jobs, note: WORDS.jobsNote }, COLUMNS, rows, { title: WORDS.none, text: WORDS.noneText })}</div>
${listed({ id: 'hosts', title: WORDS.hosts, count: hosts.length }, HOSTS, hosts, { title: WORDS.none, text: WORDS.noneText })}`,
    }),
  )
}

const option = (value: string, words: string, chosen: string): Markup =>
  html`<option value="${value}"${value === chosen ? html` selected` : ''}>${words}</option>`

const asking = (state: string, queue: string): Markup =>
  html`<form class="filter" action="/console/background" role="search" aria-label="${WORDS.jobs}">
<div><label for="queue">${WORDS.kind}</label><select id="queue" name="queue">${option('', WORDS.any, queue)}${QUEUE_NAMES.map((name) => option(name, name, queue))}</select></div>
<div><label for="state">${WORDS.state}</label><select id="state" name="state">${option('', WORDS.any, state)}${JOB_STATES.map((name) => option(name, JOB_STATE_WORDS[name][2], state))}</select></div>
<button class="btn">${WORDS.show}</button></form>`
