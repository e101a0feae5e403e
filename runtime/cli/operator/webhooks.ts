/** Verbs for inline webhooks. */
import { ConfigError } from '../../config/config.ts'
import type { Webhook, WebhookChanged, WebhookTried } from '../../contract/endpoints/webhooks.ts'
import { isRecord } from '../../contract/schema/record.ts'
import { inLines } from '../terminal/join-lines.ts'
import { EXIT, type ReadFlags } from '../terminal/options.ts'
import { ask, print } from './change.ts'
import { jsonOf } from './envelope.ts'

type DryFlags = ReadFlags & { dryRun?: true }
type AddFlags = DryFlags & { type: string; to: string; headers?: string; description?: string }
type UpdateFlags = DryFlags & {
  name?: string
  to?: string
  headers?: string
  description?: string
  enable?: true
  disable?: true
  newSecret?: true
}

const pathOf = (id: string, act = ''): string =>
  `/operator/webhooks/${encodeURIComponent(id)}${act}`

export async function list(flags: ReadFlags): Promise<void> {
  print(flags, await ask<{ items: Webhook[] }>(flags, '/operator/webhooks'), ({ items }) =>
    items.length === 0
      ? 'There are no inline webhooks. Create one with keyway webhooks add.'
      : items.map((one) => `${one.id}  ${one.hook_type}  ${one.name}${stateOf(one)}`).join('\n'),
  )
}

export async function show(id: string, flags: ReadFlags): Promise<void> {
  print(flags, await ask<Webhook>(flags, pathOf(id)), shown)
}

export async function add(name: string, flags: AddFlags): Promise<void> {
  const { type, to, headers, description, dryRun } = flags
  const body = {
    hook_type: type,
    name,
    url: to,
    headers: headers === undefined ? {} : await headersOf(headers),
    ...(description === undefined ? {} : { description }),
    dry_run: dryRun ?? false,
  }
  print(flags, await ask<WebhookChanged>(flags, '/operator/webhooks', { body }), changeWords)
}

export async function update(id: string, flags: UpdateFlags): Promise<void> {
  const { name, to, headers, description, enable, disable, newSecret, dryRun } = flags
  const changes = {
    ...(name === undefined ? {} : { name }),
    ...(to === undefined ? {} : { url: to }),
    ...(headers === undefined ? {} : { headers: await headersOf(headers) }),
    ...(description === undefined ? {} : { description }),
    ...(enable || disable ? { enabled: enable ?? false } : {}),
  }
  const dry_run = dryRun ?? false
  if (newSecret && Object.keys(changes).length > 0)
    throw new ConfigError('--new-secret must be used alone: make other changes separately')
  const changed = await (newSecret
    ? ask<WebhookChanged>(flags, pathOf(id, '/secret'), { body: { dry_run } })
    : ask<WebhookChanged>(flags, pathOf(id), { method: 'PATCH', body: { ...changes, dry_run } }))
  print(flags, changed, changeWords)
}

export async function remove(id: string, flags: DryFlags): Promise<void> {
  const path = `${pathOf(id)}?dry_run=${flags.dryRun ?? false}`
  print(flags, await ask<WebhookChanged>(flags, path, { method: 'DELETE' }), changeWords)
}

/** Sends a sample. Sets exit code 1 if the reply is not valid for a webhook of its type. */
export async function tryOut(id: string, flags: ReadFlags): Promise<void> {
  const tried = await ask<WebhookTried>(flags, pathOf(id, '/test'), { method: 'POST' })
  print(flags, tried, ({ ok, status, ms, problem, response }) =>
    ok
      ? `HTTP ${status} after ${ms} ms; understood: ${JSON.stringify(response)}`
      : `It failed after ${ms} ms: ${problem}`,
  )
  if (!tried.ok) process.exitCode = EXIT.refused
}

async function headersOf(file: string): Promise<Record<string, unknown>> {
  const value = await jsonOf(file, '--headers')
  if (isRecord(value) && !Array.isArray(value)) return value
  throw new ConfigError('--headers: write { "Authorization": "Bearer ..." }')
}

const stateOf = ({ enabled, url, feed }: Webhook): string => {
  if (!enabled) return '  (off)'
  if (url === null) return '  (no address yet)'
  return feed?.problem ? `  (failing since ${feed.failing_since}: ${feed.problem})` : ''
}

const shown = (one: Webhook): string =>
  inLines([
    `${one.name}  ${one.hook_type}  ${one.id}${stateOf(one)}`,
    one.description,
    `Sent to: ${one.url ?? 'nowhere yet'}`,
    one.headers.length > 0 && `With the headers: ${one.headers.join(', ')}`,
    one.feed !== null && `Waiting events: ${waitingOf(one.feed.waiting)}`,
  ])

const waitingOf = (waiting: number): string => (waiting < 1000 ? String(waiting) : '1000 or more')

function changeWords({ changed, difference, webhook, secret }: WebhookChanged): string {
  if (difference.length === 0) return 'Nothing to do: no changes needed.'
  const lines = difference.map((one) => `  ${one}`)
  if (!changed) return ['Would change (nothing was changed):', ...lines].join('\n')
  return [
    ...(webhook === null ? [] : [webhook.id]),
    ...lines,
    ...(secret === null
      ? []
      : ['', `Deliveries are signed with ${secret}`, 'Keep it now: it is not shown again.']),
  ].join('\n')
}
