/** Inline webhooks: where they go, whether they work, and what can be done about them. */
import { html } from 'hono/html'
import type { Webhook } from '../../contract/endpoints/webhooks.ts'
import type { Markup } from '../frame/layout.ts'
import { age } from '../frame/words.ts'
import { badge } from '../pages/states.ts'
import { brief, type Column, go, listed, row, shell, thousands } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { WEBHOOK_WORDS as WORDS } from './words/background.ts'

/** Most that are shown; each is made by hand. */
const MOST = 1000

const COLUMNS: Column[] = [
  { words: WORDS.name },
  { words: WORDS.state },
  { words: WORDS.goesTo, look: 'c3' },
  { words: WORDS.action, look: 'num', unseen: true },
]

const state = ({ enabled, feed }: Webhook, now: Date): Markup => {
  if (!enabled) return badge('', 'minus', WORDS.disabled)
  if (!feed?.failing_since) return badge('good', 'check', WORDS.works)
  return html`${badge('bad', 'x', WORDS.failing)}<span class="sub">${age(new Date(feed.failing_since), now)}, ${WORDS.waiting(thousands(feed.waiting))}</span>`
}

export async function showWebhooks(visit: ConsoleVisit): Promise<Response> {
  const { c, now } = visit
  const { items } = await visit.ask('list_webhooks')
  const rows = items.slice(0, MOST).map((one) => {
    const at = `/console/webhooks/${one.id}`
    const named = html`<span class="unseen">: ${one.name}</span>`
    return row(COLUMNS, [
      html`${one.name}<span class="sub">${one.hook_type}${one.description ? `, ${brief(one.description)}` : ''}</span>`,
      html`${state(one, now)}${one.feed?.problem ? html`<span class="sub">${brief(one.feed.problem)}</span>` : ''}`,
      html`<span class="mono">${brief(one.url ?? '–', 120)}</span>`,
      html`${go(`${at}/${one.enabled ? 'disable' : 'enable'}`, html`${one.enabled ? WORDS.disable : WORDS.enable}${named}`, 'less')}
${go(`${at}/delete`, html`${WORDS.remove}${named}`, 'less danger')}`,
    ])
  })
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'webhooks', isPlace: true },
      title: WORDS.title,
      lead: WORDS.lead,
      content: listed({ id: 'list', title: WORDS.title, count: items.length }, COLUMNS, rows, {
        title: WORDS.none,
        text: WORDS.noneText,
      }),
    }),
  )
}
