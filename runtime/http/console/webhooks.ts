/** Inline webhooks: their addresses, their state, and the possible actions. */
import { html } from 'hono/html'
import type { Webhook } from '../../contract/endpoints/webhooks.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { badge } from '../pages/states.ts'
import { answerPage, brief, card, facts, go, listed, thousands } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { webhookPath } from './webhook-changes.ts'

/** Maximum number of webhooks that are shown. Each was created by hand. */
const MAX_WEBHOOKS = 1000

const state = (t: PageLocale, { enabled, feed }: Webhook, now: Date): Markup => {
  const w = t.console.webhook
  if (!enabled) return badge(['', 'minus'], w.disabled)
  if (!feed?.failing_since) return badge(['good', 'check'], w.works)
  return html`${badge(['bad', 'x'], w.failing)}<span class="sub">${t.age(new Date(feed.failing_since), now)}, ${w.waiting(thousands(feed.waiting, t))}</span>`
}

export async function showWebhooks(visit: ConsoleVisit): Promise<Response> {
  const { now, t } = visit
  const w = t.console.webhook
  const { items } = await visit.ask('list_webhooks')
  const rows = items.slice(0, MAX_WEBHOOKS).map((one) => {
    const at = webhookPath(one.id)
    const named = html`<span class="unseen">: ${one.name}</span>`
    return [
      html`<a class="go" href="${at}">${brief(one.name, 120)}</a><span class="sub">${w.types[one.hook_type]}${one.description ? `, ${brief(one.description)}` : ''}</span>`,
      html`${state(t, one, now)}${one.feed?.problem ? html`<span class="sub">${brief(one.feed.problem)}</span>` : ''}`,
      html`<span class="mono">${brief(one.url ?? '–', 120)}</span>`,
      go(`${at}/test`, html`${w.test}${named}`, 'less'),
    ]
  })
  return answerPage(visit, {
    ...{ place: 'webhooks', isPlace: true },
    title: w.title,
    lead: w.lead,
    actions: go('/console/webhooks/new', w.make, 'main'),
    content: listed(
      { id: 'list', title: w.title, count: items.length },
      [
        w.name,
        w.state,
        [w.goesTo, 'c3'],
        { words: w.action, look: 'num', unseen: true, folds: true },
      ],
      rows,
      { title: w.none, text: w.noneText },
      t,
    ),
  })
}

/** Shows one webhook: its address, its headers, and the possible actions. */
export async function showWebhook(visit: ConsoleVisit): Promise<Response> {
  const { c, now, t } = visit
  const w = t.console.webhook
  const one = await visit.ask('show_webhook', { params: c.req.param() })
  const at = webhookPath(one.id)
  const { feed } = one
  const content = html`<div class="cols"><div class="stack wide">${card(
    { id: 'facts', title: w.facts },
    facts([
      [w.type, html`${w.types[one.hook_type]}<br><code>${one.hook_type}</code>`],
      [w.goesTo, html`<span class="mono wrap">${brief(one.url ?? '–', 500)}</span>`],
      [w.headers, one.headers.join(', ') || w.noHeaders],
      one.description && [w.description, brief(one.description, 500)],
    ]),
  )}</div><div class="stack wide">${
    feed === null
      ? ''
      : card(
          { id: 'feed', title: w.feed },
          facts([
            [w.waits, thousands(feed.waiting, t)],
            feed.next_try_at && [w.nextTry, t.moment(new Date(feed.next_try_at), now)],
            feed.problem && [w.problem, brief(feed.problem, 500)],
          ]),
        )
  }</div></div>`
  return answerPage(visit, {
    ...{ place: 'webhooks', content },
    title: one.name,
    state: state(t, one, now),
    actions: html`${go(`${at}/test`, w.test, 'main')}${go(`${at}/change`, w.change)}${go(`${at}/secret`, w.renew)}${one.enabled ? go(`${at}/disable`, w.disable) : go(`${at}/enable`, w.enable)}${go(`${at}/delete`, w.remove, 'danger')}`,
  })
}
