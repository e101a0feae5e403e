/** Inline webhooks: where they go, whether they work, and what can be done about them. */
import { html } from 'hono/html'
import type { Webhook } from '../../contract/endpoints/webhooks.ts'
import type { Markup } from '../frame/layout.ts'
import { age, moment } from '../frame/words.ts'
import { badge } from '../pages/states.ts'
import { brief, type Column, card, facts, go, listed, row, shell, thousands } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { webhookPath } from './webhook-changes.ts'
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
    const at = webhookPath(one.id)
    const named = html`<span class="unseen">: ${one.name}</span>`
    return row(COLUMNS, [
      html`<a class="go" href="${at}">${brief(one.name, 120)}</a><span class="sub">${WORDS.types[one.hook_type]}${one.description ? `, ${brief(one.description)}` : ''}</span>`,
      html`${state(one, now)}${one.feed?.problem ? html`<span class="sub">${brief(one.feed.problem)}</span>` : ''}`,
      html`<span class="mono">${brief(one.url ?? '–', 120)}</span>`,
      go(`${at}/test`, html`${WORDS.test}${named}`, 'less'),
    ])
  })
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'webhooks', isPlace: true },
      title: WORDS.title,
      lead: WORDS.lead,
      actions: go('/console/webhooks/new', WORDS.make, 'main'),
      content: listed({ id: 'list', title: WORDS.title, count: items.length }, COLUMNS, rows, {
        title: WORDS.none,
        text: WORDS.noneText,
      }),
    }),
  )
}

/** One webhook: where it goes, what goes with it, and what can be done about it. */
export async function showWebhook(visit: ConsoleVisit): Promise<Response> {
  const { c, now } = visit
  const one = await visit.ask('show_webhook', { params: c.req.param() })
  const at = webhookPath(one.id)
  const { feed } = one
  const content = html`<div class="cols"><div class="stack wide">${card(
    { id: 'facts', title: WORDS.facts },
    facts([
      [WORDS.type, html`${WORDS.types[one.hook_type]}<br><code>${one.hook_type}</code>`],
      [WORDS.goesTo, html`<span class="mono wrap">${brief(one.url ?? '–', 500)}</span>`],
      [WORDS.headers, one.headers.join(', ') || WORDS.noHeaders],
      ...(one.description ? [[WORDS.description, brief(one.description, 500)] as const] : []),
    ]),
  )}</div><div class="stack wide">${
    feed === null
      ? ''
      : card(
          { id: 'feed', title: WORDS.feed },
          facts([
            [WORDS.waits, thousands(feed.waiting)],
            ...(feed.next_try_at
              ? [[WORDS.nextTry, moment(new Date(feed.next_try_at), now)] as const]
              : []),
            ...(feed.problem ? [[WORDS.problem, brief(feed.problem, 500)] as const] : []),
          ]),
        )
  }</div></div>`
  return c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: visit.flash(), place: 'webhooks', content },
      title: one.name,
      state: state(one, now),
      actions: html`${go(`${at}/test`, WORDS.test, 'main')}${go(`${at}/change`, WORDS.change)}${go(`${at}/secret`, WORDS.renew)}${one.enabled ? go(`${at}/disable`, WORDS.disable) : go(`${at}/enable`, WORDS.enable)}${go(`${at}/delete`, WORDS.remove, 'danger')}`,
    }),
  )
}
