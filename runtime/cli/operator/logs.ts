/** `keyway logs`: lists the latest calls of a host, and with `--follow` new ones as they arrive. */

import type { CallRecord } from '../../contract/endpoints/operator.ts'
import { causeText } from '../../contract/models/causes.ts'
import { visible } from '../../observe/visible.ts'
import { terminalJson } from '../terminal/json.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { ask, print } from './change.ts'
import { requireApp, requireConnector } from './known.ts'

/** Polling interval of `--follow`, in milliseconds. */
const FOLLOW_MS = 1000

/** Maximum number of calls per response. */
const MAX_CALLS = 1000

type LogsFlags = ReadFlags & {
  limit: number
  app?: string
  cause?: string
  follow?: true
}

export async function logs(id: string | undefined, flags: LogsFlags): Promise<void> {
  const query = new URLSearchParams({ limit: String(flags.limit) })
  const asked = { connector_id: id, app_id: flags.app, cause: flags.cause }
  for (const [name, value] of Object.entries(asked)) if (value !== undefined) query.set(name, value)
  const latest = () => ask<{ items: CallRecord[] }>(flags, `/operator/calls?${query}`)
  const first = await latest()
  if (first.items.length === 0) {
    if (id !== undefined) await requireConnector(flags, id)
    if (flags.app !== undefined) await requireApp(flags, flags.app)
  }
  if (!flags.follow) {
    print(flags, first, ({ items }) => (items.length === 0 ? noneOf(asked) : inOrder(items)))
    return
  }
  const seen = new Set<string>()
  const tell = ({ items }: { items: CallRecord[] }) => {
    const fresh = items.filter((one) => !seen.has(identity(one)))
    seen.clear()
    for (const one of items) seen.add(identity(one))
    if (fresh.length === 0) return
    if (flags.json) for (const one of fresh.toReversed()) console.log(terminalJson(one, 0))
    else console.log(visible(inOrder(fresh)))
  }
  tell(first)
  query.set('limit', String(MAX_CALLS))
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS))
    tell(await latest())
  }
}

/** Returns the text for an empty result: what was searched, and where there may be more. */
function noneOf(asked: Record<string, string | undefined>): string {
  const all = Object.values(asked).every((one) => one === undefined)
  return all
    ? 'No calls on this host since it started; each host has its own (keyway nodes).'
    : 'No matching calls among the latest on this host; keyway logs shows all of them, keyway nodes the other hosts.'
}

/** A request id may be chosen by the caller, and may occur twice. */
const identity = ({ at, request_id, ms }: CallRecord): string => `${at} ${ms} ${request_id}`

const inOrder = (items: readonly CallRecord[]): string =>
  items.toReversed().map(callWords).join('\n')

function callWords({
  at,
  connector,
  capability,
  version,
  outcome,
  message,
  ms,
  request_id,
  cause,
  app_id,
  upstream,
  log,
}: CallRecord) {
  return [
    `${at}  ${connector} ${capability} → ${outcome} in ${ms.toFixed(1)} ms${version ? ` by ${version}` : ''}  (${whyOf({ request_id, cause, app_id })})`,
    // A host of an older version returns no message.
    ...(message ? [`    ${message}`] : []),
    ...upstream.map(
      (one) =>
        `    ${one.method} ${one.host}${one.path}${one.query} → ${one.status ?? one.error ?? 'no answer'} in ${one.ms.toFixed(1)} ms, ${one.sent_bytes} bytes out, ${one.received_bytes} in`,
    ),
    ...log.map(({ level, message }) => `    ${level}: ${message}`),
  ].join('\n')
}

/**
 * Describes the reason of a call: the request id for a caller's own call, the cause for a call by the core.
 */
function whyOf({ request_id, cause, app_id }: Pick<CallRecord, 'request_id' | 'cause' | 'app_id'>) {
  if (cause.kind === 'interface') return request_id
  return `${causeText(cause)}${app_id === null ? '' : `, app ${app_id}`}; ${request_id}`
}
