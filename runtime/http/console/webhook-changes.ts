/** WEBHOOK_CHANGES: changes of webhooks, one row each. */
import { html } from 'hono/html'
import type { WebhookTried } from '../../contract/endpoints/webhooks.ts'
import {
  INLINE_WEBHOOK_TYPES,
  MAX_DESCRIPTION,
  MAX_URL,
} from '../../contract/models/inline-webhook.ts'
import { fieldError } from '../frame/error-page.ts'
import type { Markup } from '../frame/layout.ts'
import type { PageLocale } from '../frame/locale.ts'
import { note } from '../pages/parts.ts'
import { type About, type ConsoleChange, plus, wordsFrom } from './change.ts'
import { answerPage, card, choose, facts, field, go, thousands } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'

const LIST = '/console/webhooks'

const idOf = ({ params }: About): string => params['webhook_id'] ?? ''
export const webhookPath = (id: string): string => `${LIST}/${encodeURIComponent(id)}`
const toWebhook = (about: About): string => webhookPath(idOf(about))

const ofWebhook = (
  verb: string,
  key: 'change' | 'renew' | 'test' | 'enable' | 'disable' | 'remove',
) =>
  ({
    path: `${LIST}/:webhook_id/${verb}`,
    ...{ place: 'webhooks', who: 'operator', reason: 'none', back: toWebhook },
    does: `${verb}s a webhook`,
    ...wordsFrom((t) => t.console.webhook_change[key]),
  }) satisfies Partial<ConsoleChange>

const turning = (verb: 'enable' | 'disable') => {
  const body = { enabled: verb === 'enable' }
  return {
    ...ofWebhook(verb, verb),
    preview: async (visit: ConsoleVisit, { params }: About) => ({
      lines: (await visit.ask('update_webhook', { params, body: { ...body, dry_run: true } }))
        .difference,
    }),
    act: async (visit: ConsoleVisit, { params }: About) =>
      void (await visit.ask('update_webhook', { params, body })),
  }
}

const fields = (about: About, t: PageLocale): Markup =>
  html`${field({ t, id: 'name', label: t.console.webhook_change.name, value: about.get('name'), most: 255, required: true })}
${field({ t, id: 'description', label: t.console.webhook_change.description, value: about.get('description'), most: MAX_DESCRIPTION })}
${field({ t, id: 'url', label: t.console.webhook_change.url, help: t.console.webhook_change.urlHelp, value: about.get('url'), most: MAX_URL, required: true })}
<div class="field"><label for="headers">${t.console.webhook_change.headers} <span class="soft">${t.w.optional}</span></label><p class="help" id="headers-help">${t.console.webhook_change.headersHelp}</p><textarea id="headers" name="headers" class="mono" rows="3" maxlength="20000" spellcheck="false" autocomplete="off" aria-describedby="headers-help">
${about.get('headers')}</textarea></div>`

/**
 * Parses headers from lines such as `Name: value`. A header without a value is removed.
 *
 * @throws CoreError `invalid` for any other line; the line is not repeated, since it may contain a secret
 */
function headersIn(t: PageLocale, text: string): Record<string, string | null> {
  const lines = text.split('\n').map((line, at) => ({ line: line.trim(), at: at + 1 }))
  return Object.fromEntries(
    lines
      .filter(({ line }) => line !== '')
      .map(({ line, at }) => {
        const [, name, value = ''] = /^([^\s:]+):(.*)$/.exec(line) ?? []
        if (name === undefined) throw fieldError('headers', t.console.webhook_change.noHeader(at))
        return [name, value.trim() === '' ? null : value.trim()]
      }),
  )
}

/** Returns the changed members of a webhook. */
async function changed(visit: ConsoleVisit, about: About) {
  const before = await visit.ask('show_webhook', { params: about.params })
  const [name, url] = [about.get('name'), about.get('url')]
  const description = about.get('description') || null
  const headers = headersIn(visit.t, about.get('headers'))
  return {
    ...(name === before.name ? {} : { name }),
    ...(description === before.description ? {} : { description }),
    ...(url === before.url ? {} : { url }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  }
}

const made = (t: PageLocale, about: About) => ({
  hook_type: about.get('hook_type'),
  ...{ name: about.get('name'), description: about.get('description') || null },
  url: about.get('url'),
  headers: headersIn(t, about.get('headers')),
})

/** Shows a new secret, once, in the answer itself. */
async function showSecret(visit: ConsoleVisit, id: string, secret: string): Promise<Response> {
  const { t } = visit
  const w = t.console.webhook_change
  const content = card(
    { id: 'secret', title: w.secretTitle },
    html`<div class="in stack">
<p id="secret-help">${w.secretHelp}</p>
<div class="field"><label for="new-token">${w.secret}</label>
<input id="new-token" class="mono" value="${secret}" readonly autocomplete="off" spellcheck="false" aria-describedby="secret-help"></div>
<div><button class="btn" id="copy" type="button" hidden>${w.copy}</button></div>
<p id="copied" class="small" role="status"></p>
<div class="row">${go(webhookPath(id), w.goOn, 'main')}</div>
</div>`,
  )
  return answerPage(visit, {
    ...{ place: 'webhooks', content },
    title: w.secretReady,
  })
}

async function showTried(
  visit: ConsoleVisit,
  id: string,
  { ok, status, ms, problem, response, sent }: WebhookTried,
): Promise<Response> {
  const { t } = visit
  const w = t.console.webhook_change
  const json = (value: unknown) =>
    html`<pre class="wrap small">${JSON.stringify(value, null, 1)}</pre>`
  const content = html`${ok ? note('good', 'check', w.testGood, '', 'status') : note('bad', 'x', w.testBad, problem ?? '', 'alert')}
${card(
  { id: 'answer', title: w.answer },
  facts([
    [w.status, status ?? '–'],
    [w.took, `${thousands(Math.round(ms), t)} ms`],
    [w.understood, response === null ? '–' : json(response)],
    [w.sent, json(sent)],
  ]),
)}
<div class="row">${go(`${webhookPath(id)}/test`, w.again)}${go(webhookPath(id), w.goOn, 'plain')}</div>`
  return answerPage(visit, {
    ...{ place: 'webhooks', content },
    title: ok ? w.testGood : w.testBad,
  })
}

export const WEBHOOK_CHANGES = {
  'new-webhook': {
    path: `${LIST}/new`,
    ...{ place: 'webhooks', who: 'operator', reason: 'none', does: 'creates a webhook' },
    ...wordsFrom((t) => t.console.webhook_change.make),
    back: () => LIST,
    fields: (about, t) =>
      html`${choose({ id: 'hook_type', label: t.console.webhook_change.type, value: about.get('hook_type'), all: INLINE_WEBHOOK_TYPES.map((one) => [one, t.console.webhook.types[one]] as const) })}
${fields(about, t)}`,
    async preview(visit, about) {
      if (about.get('hook_type') === '') return { lines: null }
      const body = { ...made(visit.t, about), dry_run: true }
      return { lines: (await visit.ask('create_webhook', { body })).difference }
    },
    async act(visit, about) {
      const { webhook, secret } = await visit.ask('create_webhook', { body: made(visit.t, about) })
      return showSecret(visit, webhook?.id ?? '', secret ?? '')
    },
  },
  'change-webhook': {
    ...ofWebhook('change', 'change'),
    fields,
    async given(visit, { params }) {
      const { name, description, url } = await visit.ask('show_webhook', { params })
      return { name, description: description ?? '', url: url ?? '' }
    },
    preview: async (visit, about) => {
      const body = { ...(await changed(visit, about)), dry_run: true }
      return {
        lines: (await visit.ask('update_webhook', { params: about.params, body })).difference,
      }
    },
    async act(visit, about) {
      const body = await changed(visit, about)
      const { secret } = await visit.ask('update_webhook', { params: about.params, body })
      return secret === null ? null : showSecret(visit, idOf(about), secret)
    },
  },
  'webhook-secret': {
    ...ofWebhook('secret', 'renew'),
    preview: async (visit, { params }) => ({
      lines: (await visit.ask('renew_webhook_secret', { params, body: { dry_run: true } }))
        .difference,
    }),
    async act(visit, about) {
      const { secret } = await visit.ask('renew_webhook_secret', { params: about.params, body: {} })
      return showSecret(visit, idOf(about), secret ?? '')
    },
  },
  'test-webhook': {
    ...ofWebhook('test', 'test'),
    preview: async (visit, { params }) => {
      const { hook_type: type } = await visit.ask('show_webhook', { params })
      return { lines: [plus(visit.t.console.webhook_change.test.line(type))] }
    },
    act: async (visit, about) =>
      showTried(visit, idOf(about), await visit.ask('test_webhook', { params: about.params })),
  },
  'enable-webhook': turning('enable'),
  'disable-webhook': { ...turning('disable'), danger: true },
  'delete-webhook': {
    ...ofWebhook('delete', 'remove'),
    danger: true,
    back: () => LIST,
    preview: async (visit, { params }) => ({
      lines: (await visit.ask('delete_webhook', { params, query: { dry_run: 'true' } })).difference,
    }),
    act: async (visit, { params }) => void (await visit.ask('delete_webhook', { params })),
  },
} as const satisfies Record<string, ConsoleChange>
