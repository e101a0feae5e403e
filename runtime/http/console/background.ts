/** Background work: the jobs of the hosts, the hosts themselves, and the retention of data. */
import { html } from 'hono/html'
import { JOB_STATES } from '../../contract/endpoints/jobs.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import { QUEUE_NAMES, QUEUES } from '../../core/kernel/jobs/queues.ts'
import { followQuery } from '../edge/followed-lists.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { type BadgeLook, badge } from '../pages/states.ts'
import { answerPage, brief, go, listed, option } from './parts.ts'
import { UPKEEP_PATH } from './upkeep.ts'
import type { ConsoleVisit } from './visit.ts'

const JOB_LOOKS = {
  created: ['', 'clock'],
  retry: ['wait', 'clock'],
  active: ['busy', 'sync'],
  completed: ['good', 'check'],
  cancelled: ['', 'minus'],
  failed: ['bad', 'x'],
} as const satisfies Record<(typeof JOB_STATES)[number], BadgeLook>

export async function showBackground(visit: ConsoleVisit): Promise<Response> {
  const { c, now, t } = visit
  const w = t.console.job
  const asked = c.req.query('state') ?? ''
  const state = isKeyOf(JOB_LOOKS, asked) ? asked : ''
  const queue = QUEUE_NAMES.find((name) => name === c.req.query('queue')) ?? ''
  const query = { ...(state === '' ? {} : { state }), ...(queue === '' ? {} : { queue }) }
  const { items } = await visit.ask('list_jobs', { query })
  const nodes = await visit.ask('list_nodes')
  const rows = items.map((one) => {
    const at = one.created_at ? t.moment(new Date(one.created_at), now) : ''
    return [
      html`${queueSaid(t, one.queue)}<span class="sub mono">${brief(one.key, 100)}</span>`,
      html`${badge(JOB_LOOKS[one.state], t.console.job_states[one.state])}${one.tries > 0 ? html`<span class="sub">${w.tries(one.tries)}</span>` : ''}`,
      at,
      brief(one.problem ?? '', 300),
    ]
  })
  const hosts = nodes.items.map(({ node, live, generation, seen_at, problems }) => [
    html`<span class="mono">${node.slice(0, 8)}</span><span class="sub">${w.seen(t.lasting(new Date(seen_at), now))}</span>`,
    html`${live ? badge(['good', 'check'], w.live) : badge(['', 'minus'], w.gone)}${problems.length > 0 ? html`<span class="sub">${brief(problems.join('; '))}</span>` : ''}`,
    generation,
  ])
  const follows = followQuery(query, { items })
  return answerPage(visit, {
    ...{
      place: 'background',
      isPlace: true,
    },
    title: w.title,
    lead: w.lead,
    actions: go(UPKEEP_PATH, t.w.upkeep),
    content: html`${asking(t, state, queue)}
<div id="live" data-events="/console/jobs/events?${follows}">${listed(
      { id: 'jobs', title: w.jobs, note: w.jobsNote },
      [w.job, w.state, [w.created, 'c3'], [w.problem, 'c3']],
      rows,
      { title: w.none, text: w.noneText },
      t,
    )}</div>
${listed(
  { id: 'hosts', title: w.hosts, count: hosts.length },
  [w.host, w.state, [w.generation, 'num']],
  hosts,
  { title: w.none, text: w.noneText },
  t,
)}`,
  })
}

/** A queue of another version of Keyway has no words. */
const queueSaid = (t: PageLocale, queue: string): string =>
  isKeyOf(QUEUES, queue) ? t.console.queues[queue] : queue

const asking = (t: PageLocale, state: string, queue: string): Markup =>
  html`<form class="filter" action="/console/background" role="search" aria-label="${t.console.job.jobs}">
<div><label for="queue">${t.console.job.kind}</label><select id="queue" name="queue">${option('', t.console.job.any, queue)}${QUEUE_NAMES.map((name) => option(name, t.console.queues[name], queue))}</select></div>
<div><label for="state">${t.console.job.state}</label><select id="state" name="state">${option('', t.console.job.any, state)}${JOB_STATES.map((name) => option(name, t.console.job_states[name], state))}</select></div>
<button class="btn">${t.console.job.show}</button></form>`
