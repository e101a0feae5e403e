/** Verbs that only look: `list`, `show`, `diff`, `history`, `nodes`, `publishers`, `logs`. */
import type { CallRecord } from '../../contract/endpoints/operator.ts'
import type {
  Generation,
  Grant,
  InstalledConnector,
  NodeRow,
  Publisher,
  Want,
} from '../../contract/generation.ts'
import { visible } from '../../contract/visible.ts'
import { ask, connectorPath, print, type ReadFlags } from './change.ts'

type Row = {
  id: string | null
  version: string | null
  source: string
  state: string
  reason: string | null
  serving: boolean
  folder: string | null
}

const get = <T>(flags: ReadFlags, path: string): Promise<T> =>
  ask<T>(flags, { method: 'GET', path })

/** Cells in columns as wide as their widest. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export async function list(flags: ReadFlags): Promise<void> {
  const answer = await get<{ items: Row[] }>(flags, '/operator/connectors')
  print(flags, answer, ({ items }) =>
    columns([
      ['CONNECTOR', 'VERSION', 'FROM', 'STATE', ''],
      ...items.map(({ id, version, source, state, serving, reason, folder }) => [
        id ?? folder ?? '?',
        version ?? '-',
        source,
        state === 'ready' && !serving ? 'not serving' : state,
        reason?.split('\n')[0] ?? '',
      ]),
    ]),
  )
}

type Shown = InstalledConnector & { wants: Want[]; withheld: Want[]; probe: boolean }

export async function show(id: string, flags: ReadFlags): Promise<void> {
  print(flags, await get<Shown>(flags, connectorPath(id)), (one) => {
    const withheld = new Set(one.withheld.map(({ kind, key }) => `${kind} ${key}`))
    return [
      `${one.id}${one.disabled ? ` (disabled${one.at_once ? ', at once' : ''})` : ''}`,
      '',
      'Versions:',
      ...one.versions.map(
        ({ digest, version, trust, publisher, installed_at }) =>
          `  ${digest === one.active ? '*' : ' '} ${version}  ${digest.slice(0, 12)}  ${trust}${publisher === null ? '' : ` (${publisher})`}  ${installed_at}`,
      ),
      '',
      'What the active version wants (! is not granted):',
      ...one.wants.map(
        (want) =>
          `  ${withheld.has(`${want.kind} ${want.key}`) ? '!' : ' '} ${want.kind} ${want.subject}: ${want.words}`,
      ),
      '',
      'Granted:',
      ...grantLines(one.grants),
      '',
      one.probe
        ? 'New versions are tried with the credentials of the probe.'
        : 'No probe: new versions are only loaded before calls go to them (keyway probe).',
    ].join('\n')
  })
}

/** Grants that were given together, once. */
function grantLines(grants: readonly Grant[]): string[] {
  const groups = new Map<string, Set<string>>()
  for (const { granted_at, granted_by, reason, kind, subject } of grants) {
    const of = `${granted_at} by ${granted_by}${reason === '' ? '' : ` (${reason})`}`
    groups.set(of, (groups.get(of) ?? new Set()).add(`${kind} ${subject}`))
  }
  return [...groups].flatMap(([of, what]) => [`  ${of}:`, ...[...what].map((one) => `    ${one}`)])
}

export async function diff(from: number, to: number | undefined, flags: ReadFlags): Promise<void> {
  const newest =
    to ?? (await get<{ generation: number }>(flags, '/operator/generations/newest')).generation
  const path = `/operator/generations/${newest}/difference?since=${from}`
  const answer = await get<{ from: number; to: number; difference: string[] }>(flags, path)
  print(flags, answer, ({ difference }) =>
    difference.length === 0
      ? `Generations ${from} and ${newest} say the same.`
      : difference.join('\n'),
  )
}

export async function history(flags: ReadFlags & { limit: number }): Promise<void> {
  const answer = await get<{ items: Generation[] }>(
    flags,
    `/operator/generations?limit=${flags.limit}`,
  )
  print(flags, answer, ({ items }) =>
    items.length === 0
      ? 'Nothing was ever installed.'
      : items
          .map(({ generation, at, by, action, reason, difference }) =>
            [
              `${generation}  ${at}  ${action} by ${by}${reason === '' ? '' : `: ${reason}`}`,
              ...difference.map((line) => `     ${line}`),
            ].join('\n'),
          )
          .join('\n'),
  )
}

export async function nodes(flags: ReadFlags): Promise<void> {
  const answer = await get<{ generation: number; items: NodeRow[] }>(flags, '/operator/nodes')
  print(flags, answer, ({ items }) =>
    columns([
      ['HOST', 'GENERATION', 'SEEN', ''],
      ...items.map(({ node, generation, seen_at, live, problems }) => [
        node,
        String(generation),
        `${seen_at}${live ? '' : ' (gone)'}`,
        problems.join('; '),
      ]),
    ]),
  )
}

export async function publishers(flags: ReadFlags): Promise<void> {
  const answer = await get<{ items: Publisher[] }>(flags, '/operator/publishers')
  print(flags, answer, ({ items }) =>
    items.length === 0
      ? 'No publisher is trusted. Trust one with keyway trust <key.pub> --name <who>.'
      : columns([
          ['KEY', 'PUBLISHER', 'TRUSTED SINCE', ''],
          ...items.map(({ key, name, trusted_at, revoked_at }) => [
            key,
            name,
            trusted_at,
            revoked_at === null ? '' : `trusted no more since ${revoked_at}`,
          ]),
        ]),
  )
}

/** How often `--follow` asks, in milliseconds. */
const FOLLOW_MS = 1000

export type LogsFlags = ReadFlags & { limit: number; follow?: true }

export async function logs(id: string | undefined, flags: LogsFlags): Promise<void> {
  const query = new URLSearchParams({ limit: String(flags.limit) })
  if (id !== undefined) query.set('connector_id', id)
  const ask = () => get<{ items: CallRecord[] }>(flags, `/operator/calls?${query}`)
  const first = await ask()
  if (!flags.follow) {
    print(flags, first, ({ items }) =>
      items.length === 0 ? 'No calls yet on this host.' : inOrder(items),
    )
    return
  }
  const seen = new Set<string>()
  const tell = ({ items }: { items: CallRecord[] }) => {
    const fresh = items.filter(({ request_id }) => !seen.has(request_id))
    for (const { request_id } of fresh) seen.add(request_id)
    if (fresh.length === 0) return
    if (flags.json) for (const one of fresh.toReversed()) console.log(JSON.stringify(one))
    else console.log(visible(inOrder(fresh)))
  }
  tell(first)
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS))
    tell(await ask())
  }
}

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
