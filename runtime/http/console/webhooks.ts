/** Inline webhooks: where they go, whether they work, and what can be done about them. */
import { html } from 'hono/html'
import type { Webhook } from '../../contract/endpoints/webhooks.ts'
import type { Markup } from '../frame/layout.ts'
import type { Tongue } from '../frame/tongue.ts'
import { badge } from '../pages/states.ts'
import { answerPage, brief, type Column, card, facts, go, listed, row, thousands } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { webhookPath } from './webhook-changes.ts'

/** Most that are shown; each is made by hand. */
const MOST = 1000

const columnsOf = (t: Tongue): Column[] => [
  { words: t.console.webhook.name },
  { words: t.console.webhook.state },
  { words: t.console.webhook.goesTo, look: 'c3' },
  { words: t.console.webhook.action, look: 'num', unseen: true },
]

const state = (t: Tongue, { enabled, feed }: Webhook, now: Date): Markup => {
  if (!enabled) return badge(['', 'minus'], t.console.webhook.disabled)
  if (!feed?.failing_since) return badge(['good', 'check'], t.console.webhook.works)
  return html`${badge(['bad', 'x'], t.console.webhook.failing)}<span class="sub">${t.age(new Date(feed.failing_since), now)}, ${t.console.webhook.waiting(thousands(feed.waiting, t))}</span>`
}

export async function showWebhooks(visit: ConsoleVisit): Promise<Response> {
  const { now, t } = visit
  const { items } = await visit.ask('list_webhooks')
  const rows = items.slice(0, MOST).map((one) => {
    const at = webhookPath(one.id)
    const named = html`<span class="unseen">: ${one.name}</span>`
    return row(columnsOf(t), [
      html`<a class="go" href="${at}">${brief(one.name, 120)}</a><span class="sub">${t.console.webhook.types[one.hook_type]}${one.description ? `, ${brief(one.description)}` : ''}</span>`,
      html`${state(t, one, now)}${one.feed?.problem ? html`<span class="sub">${brief(one.feed.problem)}</span>` : ''}`,
      html`<span class="mono">${brief(one.url ?? '–', 120)}</span>`,
      go(`${at}/test`, html`${t.console.webhook.test}${named}`, 'less'),
    ])
  })
  return answerPage(visit, {
    ...{ place: 'webhooks', isPlace: true },
    title: t.console.webhook.title,
    lead: t.console.webhook.lead,
    actions: go('/console/webhooks/new', t.console.webhook.make, 'main'),
    content: listed(
      { id: 'list', title: t.console.webhook.title, count: items.length },
      columnsOf(t),
      rows,
      {
        title: t.console.webhook.none,
        text: t.console.webhook.noneText,
      },
      '',
      t,
    ),
  })
}

/** One webhook: where it goes, what goes with it, and what can be done about it. */
export async function showWebhook(visit: ConsoleVisit): Promise<Response> {
  const { c, now, t } = visit
  const one = await visit.ask('show_webhook', { params: c.req.param() })
  const at = webhookPath(one.id)
  const { feed } = one
  const content = html`<div class="cols"><div class="stack wide">${card(
    { id: 'facts', title: t.console.webhook.facts },
    facts([
      [
        t.console.webhook.type,
        html`${t.console.webhook.types[one.hook_type]}<br><code>${one.hook_type}</code>`,
      ],
      [
        t.console.webhook.goesTo,
        html`<span class="mono wrap">${brief(one.url ?? '–', 500)}</span>`,
      ],
      [t.console.webhook.headers, one.headers.join(', ') || t.console.webhook.noHeaders],
      one.description && [t.console.webhook.description, brief(one.description, 500)],
    ]),
  )}</div><div class="stack wide">${
    feed === null
      ? ''
      : card(
          { id: 'feed', title: t.console.webhook.feed },
          facts([
            [t.console.webhook.waits, thousands(feed.waiting, t)],
            feed.next_try_at && [
              t.console.webhook.nextTry,
              t.moment(new Date(feed.next_try_at), now),
            ],
            feed.problem && [t.console.webhook.problem, brief(feed.problem, 500)],
          ]),
        )
  }</div></div>`
  return answerPage(visit, {
    ...{ place: 'webhooks', content },
    title: one.name,
    state: state(t, one, now),
    actions: html`${go(`${at}/test`, t.console.webhook.test, 'main')}${go(`${at}/change`, t.console.webhook.change)}${go(`${at}/secret`, t.console.webhook.renew)}${one.enabled ? go(`${at}/disable`, t.console.webhook.disable) : go(`${at}/enable`, t.console.webhook.enable)}${go(`${at}/delete`, t.console.webhook.remove, 'danger')}`,
  })
}
