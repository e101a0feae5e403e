/** `keyway logs`: the latest calls of a host, and with `--follow` those that come. */
import type { CallRecord } from '../../contract/endpoints/operator.ts'
import { visible } from '../../contract/visible.ts'
import type { ReadFlags } from '../options.ts'
import { ask, print } from './change.ts'

/** How often `--follow` asks, in milliseconds. */
const FOLLOW_MS = 1000

/** Calls per answer, at most. */
const MOST = 1000

export type LogsFlags = ReadFlags & { limit: number; follow?: true }

export async function logs(id: string | undefined, flags: LogsFlags): Promise<void> {
  const query = new URLSearchParams({ limit: String(flags.limit) })
  if (id !== undefined) query.set('connector_id', id)
  const latest = () =>
    ask<{ items: CallRecord[] }>(flags, { method: 'GET', path: `/operator/calls?${query}` })
  const first = await latest()
  if (!flags.follow) {
    print(flags, first, ({ items }) =>
      items.length === 0 ? 'No calls yet on this host.' : inOrder(items),
    )
    return
  }
  const seen = new Set<string>()
  const tell = ({ items }: { items: CallRecord[] }) => {
    const fresh = items.filter((one) => !seen.has(identity(one)))
    seen.clear()
    for (const one of items) seen.add(identity(one))
    if (fresh.length === 0) return
    if (flags.json) for (const one of fresh.toReversed()) console.log(JSON.stringify(one))
    else console.log(visible(inOrder(fresh)))
  }
  tell(first)
  query.set('limit', String(MOST))
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS))
    tell(await latest())
  }
}

/** A request id may be the caller's own, and come twice. */
const identity = ({ at, request_id, ms }: CallRecord): string => `${at} ${ms} ${request_id}`

const inOrder = (items: readonly CallRecord[]): string =>
  items.toReversed().map(callWords).join('\n')

function callWords({
  at,
  connector,
  capability,
  outcome,
  ms,
  request_id,
  upstream,
  log,
}: CallRecord) {
  return [
    `${at}  ${connector} ${capability} → ${outcome} in ${ms.toFixed(1)} ms  (${request_id})`,
    ...upstream.map(
      (one) =>
        `    ${one.method} ${one.host}${one.path} → ${one.status ?? one.error ?? 'no answer'} in ${one.ms.toFixed(1)} ms, ${one.sent_bytes} bytes out, ${one.received_bytes} in`,
    ),
    ...log.map(({ level, message }) => `    ${level}: ${message}`),
  ].join('\n')
}
