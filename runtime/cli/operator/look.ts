/** Verbs that only read. */
import {
  type Generation,
  type Grant,
  type InstalledConnector,
  type NodeRow,
  type Publisher,
  sentBy,
  type Want,
} from '../../contract/endpoints/generation.ts'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { ask, briefly, connectorPath, print } from './change.ts'

/** Aligns cells in columns. */
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
  const answer = await ask<{ items: ConnectorListing[] }>(flags, '/operator/connectors')
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
  print(flags, await ask<Shown>(flags, connectorPath(id)), shownWords)
}

/** Describes an installed connector. Each want and grant is listed once. */
const shownWords = (one: Shown): string =>
  [
    `${one.id}${one.disabled ? ` (disabled${one.at_once ? ' at once' : ''})` : ''}`,
    '',
    'Versions (* is active):',
    ...one.versions.map(
      ({ digest, version, trust, publisher, installed_at }) =>
        `  ${digest === one.active ? '*' : ' '} ${version}  ${digest.slice(0, 12)}  ${trust}${publisher === null ? '' : ` (${publisher})`}  ${installed_at}`,
    ),
    ...(one.versions.length === 0
      ? ['', 'None is installed: the connector is built in or in a folder, and needs no grants.']
      : one.active === null
        ? ['', `None is active: keyway upgrade ${one.id} --to VERSION activates one.`]
        : one.withheld.length === 0
          ? ['', 'Everything that the active version wants is granted.']
          : [
              '',
              `The active version wants, but is not granted (keyway grant ${one.id} WANT):`,
              ...wantLines(one.withheld, () => '!'),
            ]),
    ...(one.grants.length === 0
      ? []
      : ['', 'Granted (- is no longer wanted):', ...grantLines(one)]),
    '',
    one.probe
      ? 'New versions are tried with the credentials of the probe.'
      : 'No probe: new versions are only loaded before calls go to them (keyway probe).',
  ].join('\n')

/**
 * Returns a line for each thing that can be granted by name, with a mark. Requests follow the address to
 * which they go.
 */
function wantLines(wants: readonly Want[], markOf: (want: Want) => string): string[] {
  const groups = Map.groupBy(wants, ({ kind, subject }) => `${kind} ${subject}`)
  return [...groups].flatMap(([name, group]) => {
    const [first] = group
    const mark = first === undefined ? ' ' : markOf(first)
    if (first?.kind === 'egress') return [`  ${mark} ${name}`, ...requestLines(group)]
    const more =
      first?.kind === 'capability' ? '' : `: ${group.map(({ words }) => words).join('; ')}`
    return [`  ${mark} ${name}${more}`]
  })
}

/** Returns a line for each kind of request to an origin, with the capabilities that send it. */
const requestLines = (group: readonly Want[]): string[] =>
  sentBy(group).map(
    ({ methods, url, capabilities }) => `        ${methods} ${url} for ${capabilities}`,
  )

/** Returns the grants, grouped by when they were given. */
function grantLines({ grants, wants }: Shown): string[] {
  const isWanted = new Set(wants.map(({ kind, key }) => `${kind} ${key}`))
  const markOf = ({ kind, key }: Want) => (isWanted.has(`${kind} ${key}`) ? ' ' : '-')
  const groups = Map.groupBy(
    grants,
    ({ granted_at, granted_by, reason }: Grant) =>
      `${granted_at} by ${granted_by}${reason === '' ? '' : ` (${reason})`}`,
  )
  return [...groups].flatMap(([of, given]) => [`  ${of}:`, ...wantLines(given, markOf)])
}

export async function diff(from: number, to: number | undefined, flags: ReadFlags): Promise<void> {
  const newest =
    to ?? (await ask<{ generation: number }>(flags, '/operator/generations/newest')).generation
  const path = `/operator/generations/${newest}/difference?since=${from}`
  const answer = await ask<{ from: number; to: number; difference: string[] }>(flags, path)
  print(flags, answer, ({ difference }) =>
    difference.length === 0
      ? `Generations ${from} and ${newest} are the same.`
      : briefly(difference).join('\n'),
  )
}

export async function history(
  flags: ReadFlags & { limit: number; before?: number },
): Promise<void> {
  const { limit, before } = flags
  const query = `limit=${limit}${before === undefined ? '' : `&before=${before}`}`
  const answer = await ask<{ items: Generation[] }>(flags, `/operator/generations?${query}`)
  print(flags, answer, ({ items }) =>
    items.length === 0
      ? before === undefined
        ? 'Nothing has been installed yet.'
        : `Nothing is older than generation ${before}.`
      : items
          .map(({ generation, at, by, action, reason, difference }) =>
            [
              `${generation}  ${at}  ${action} by ${by}${reason === '' ? '' : `: ${reason}`}`,
              ...briefly(difference).map((line) => `     ${line}`),
            ].join('\n'),
          )
          .join('\n'),
  )
}

export async function nodes(flags: ReadFlags): Promise<void> {
  const answer = await ask<{ generation: number; items: NodeRow[] }>(flags, '/operator/nodes')
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
  const answer = await ask<{ items: Publisher[] }>(flags, '/operator/publishers')
  print(flags, answer, ({ items }) =>
    items.length === 0
      ? 'No publisher is trusted. Trust one with keyway trust <key.pub> --name <who>.'
      : columns([
          ['KEY', 'PUBLISHER', 'TRUSTED SINCE', ''],
          ...items.map(({ key, name, trusted_at, revoked_at }) => [
            key,
            name,
            trusted_at,
            revoked_at === null ? '' : `no longer trusted since ${revoked_at}`,
          ]),
        ]),
  )
}
