/** WEBHOOK_CHANGES: what is changed of webhooks, one row each. */
import { html } from 'hono/html'
import type { WebhookTried } from '../../contract/endpoints/webhooks.ts'
import { CoreError } from '../../contract/errors/problem.ts'
import {
  INLINE_WEBHOOK_TYPES,
  MAX_DESCRIPTION,
  MAX_URL,
} from '../../contract/models/inline-webhook.ts'
import type { Markup } from '../frame/layout.ts'
import { note } from '../pages/parts.ts'
import type { About, Change } from './change.ts'
import { card, choose, facts, field, go, shell } from './parts.ts'
import type { ConsoleVisit } from './visit.ts'
import { WEBHOOK_WORDS, WEBHOOK_CHANGE_WORDS as WORDS } from './words/background.ts'

const LIST = '/console/webhooks'

const idOf = ({ params }: About): string => params['webhook_id'] ?? ''
export const webhookPath = (id: string): string => `${LIST}/${encodeURIComponent(id)}`
const toWebhook = (about: About): string => webhookPath(idOf(about))

const ofWebhook = (
  verb: string,
  words: { title: string; button: string; done: Change['done']; lead?: string },
): Pick<
  Change,
  'path' | 'place' | 'who' | 'reason' | 'back' | 'does' | 'title' | 'button' | 'done' | 'lead'
> => ({
  path: `${LIST}/:webhook_id/${verb}`,
  ...{ place: 'webhooks', who: 'operator', reason: 'none', back: toWebhook },
  ...{ does: `${verb}s a webhook`, title: () => words.title },
  ...{ button: words.button, done: words.done },
  ...(words.lead === undefined ? {} : { lead: words.lead }),
})

const turning = (verb: 'enable' | 'disable') => {
  const body = { enabled: verb === 'enable' }
  return {
    ...ofWebhook(verb, WORDS[verb]),
    preview: async (visit: ConsoleVisit, { params }: About) => ({
      lines: (await visit.ask('update_webhook', { params, body: { ...body, dry_run: true } }))
        .difference,
    }),
    act: async (visit: ConsoleVisit, { params }: About) =>
      void (await visit.ask('update_webhook', { params, body })),
  }
}

const fields = (about: About): Markup =>
  html`${field({ id: 'name', label: WORDS.name, value: about.get('name'), most: 255, required: true })}
${field({ id: 'description', label: WORDS.description, value: about.get('description'), most: MAX_DESCRIPTION })}
${field({ id: 'url', label: WORDS.url, help: WORDS.urlHelp, value: about.get('url'), most: MAX_URL, required: true })}
<div class="field"><label for="headers">${WORDS.headers} <span class="soft">${WORDS.optional}</span></label><p class="help" id="headers-help">${WORDS.headersHelp}</p><textarea id="headers" name="headers" class="mono" rows="3" maxlength="20000" spellcheck="false" autocomplete="off" aria-describedby="headers-help">
${about.get('headers')}</textarea></div>`

/**
 * Headers of lines such as `Name: value`; without a value the header is taken away.
 *
 * @throws CoreError 422 for a line that is none; it is not repeated, since it may hold a secret
 */
export function headersIn(text: string): Record<string, string | null> {
  const lines = text.split('\n').map((line, at) => ({ line: line.trim(), at: at + 1 }))
  return Object.fromEntries(
    lines
      .filter(({ line }) => line !== '')
      .map(({ line, at }) => {
        const [, name, value = ''] = /^([^\s:]+):(.*)$/.exec(line) ?? []
        if (name === undefined) throw new CoreError(422, WORDS.noHeader(at))
        return [name, value.trim() === '' ? null : value.trim()]
      }),
  )
}

/** What of a webhook is another than it was. */
async function changed(visit: ConsoleVisit, about: About) {
  const before = await visit.ask('show_webhook', { params: about.params })
  const [name, url] = [about.get('name'), about.get('url')]
  const description = about.get('description') || null
  const headers = headersIn(about.get('headers'))
  return {
    ...(name === before.name ? {} : { name }),
    ...(description === before.description ? {} : { description }),
    ...(url === before.url ? {} : { url }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  }
}

const made = (about: About) => ({
  hook_type: about.get('hook_type'),
  ...{ name: about.get('name'), description: about.get('description') || null },
  url: about.get('url'),
  headers: headersIn(about.get('headers')),
})

/** A new secret is shown once, in the answer itself. */
async function showSecret(visit: ConsoleVisit, id: string, secret: string): Promise<Response> {
  const content = card(
    { id: 'secret', title: WORDS.secretTitle },
    html`<div class="in stack">
<p id="secret-help">${WORDS.secretHelp}</p>
<div class="field"><label for="new-token">${WORDS.secret}</label>
<input id="new-token" class="mono" value="${secret}" readonly autocomplete="off" spellcheck="false" aria-describedby="secret-help"></div>
<div><button class="btn" id="copy" type="button" hidden>${WORDS.copy}</button></div>
<p id="copied" class="small" role="status"></p>
<div class="row">${go(webhookPath(id), WORDS.goOn, 'main')}</div>
</div>`,
  )
  return visit.c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: null, place: 'webhooks', content },
      title: WORDS.secretReady,
    }),
  )
}

async function showTried(
  visit: ConsoleVisit,
  id: string,
  { ok, status, ms, problem, response, sent }: WebhookTried,
): Promise<Response> {
  const json = (value: unknown) =>
    html`<pre class="wrap small">${JSON.stringify(value, null, 1)}</pre>`
  const content = html`${ok ? note('good', 'check', WORDS.testGood, '', 'status') : note('bad', 'x', WORDS.testBad, problem ?? '', 'alert')}
${card(
  { id: 'answer', title: WORDS.answer },
  facts([
    [WORDS.status, status ?? '–'],
    [WORDS.took, `${Math.round(ms)} ms`],
    [WORDS.understood, response === null ? '–' : json(response)],
    [WORDS.sent, json(sent)],
  ]),
)}
<div class="row">${go(`${webhookPath(id)}/test`, WORDS.again)}${go(webhookPath(id), WORDS.goOn, 'plain')}</div>`
  return visit.c.html(
    shell({
      ...{ visitor: await visit.visitor(), flash: null, place: 'webhooks', content },
      title: ok ? WORDS.testGood : WORDS.testBad,
    }),
  )
}

export const WEBHOOK_CHANGES = {
  'new-webhook': {
    path: `${LIST}/new`,
    ...{ place: 'webhooks', who: 'operator', reason: 'none', does: 'makes a webhook' },
    title: () => WORDS.make.title,
    lead: WORDS.make.lead,
    button: WORDS.make.button,
    done: WORDS.make.done,
    back: () => LIST,
    fields: (about) =>
      html`${choose({ id: 'hook_type', label: WORDS.type, value: about.get('hook_type'), all: INLINE_WEBHOOK_TYPES.map((one) => [one, WEBHOOK_WORDS.types[one]] as const) })}
${fields(about)}`,
    async preview(visit, about) {
      if (about.get('hook_type') === '') return { lines: null }
      const body = { ...made(about), dry_run: true }
      return { lines: (await visit.ask('create_webhook', { body })).difference }
    },
    async act(visit, about) {
      const { webhook, secret } = await visit.ask('create_webhook', { body: made(about) })
      return showSecret(visit, webhook?.id ?? '', secret ?? '')
    },
  },
  'change-webhook': {
    ...ofWebhook('change', WORDS.change),
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
    ...ofWebhook('secret', WORDS.renew),
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
    ...ofWebhook('test', WORDS.test),
    preview: async (visit, { params }) => {
      const { hook_type: type } = await visit.ask('show_webhook', { params })
      return { lines: [WORDS.test.line(type)] }
    },
    act: async (visit, about) =>
      showTried(visit, idOf(about), await visit.ask('test_webhook', { params: about.params })),
  },
  'enable-webhook': turning('enable'),
  'disable-webhook': { ...turning('disable'), danger: true },
  'delete-webhook': {
    ...ofWebhook('delete', WORDS.remove),
    danger: true,
    back: () => LIST,
    preview: async (visit, { params }) => ({
      lines: (await visit.ask('delete_webhook', { params, query: { dry_run: 'true' } })).difference,
    }),
    act: async (visit, { params }) => void (await visit.ask('delete_webhook', { params })),
  },
} as const satisfies Record<string, Change>
