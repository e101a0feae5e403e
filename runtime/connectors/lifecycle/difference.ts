/** Describes the difference between two statements, for the operator's decision. */
import {
  entryOf,
  type InstalledConnector,
  type Statement,
  sentBy,
  type Want,
} from '../../contract/endpoints/generation.ts'

/** Returns one line per change; empty if the statements are equal. */
export function difference(before: Statement, after: Statement): string[] {
  const keys = [...new Set([...Object.keys(before.connectors), ...Object.keys(after.connectors)])]
  return [
    ...keys.sort().flatMap((key) => ofConnector(entryOf(before, key), entryOf(after, key))),
    ...ofPublishers(before, after),
  ]
}

function ofConnector(
  before: InstalledConnector | null,
  after: InstalledConnector | null,
): string[] {
  if (!after) {
    if (!before) return []
    // A statement mentions a connector that is not installed only if it is disabled.
    return [`${before.id}: ${before.versions.length === 0 ? 'enabled' : 'removed'}`]
  }
  const { id } = after
  const lines = [
    ...versions(before, after),
    ...routing(before, after),
    ...grants(after.grants, before?.grants ?? []).map((words) => `may ${words}`),
    ...grants(before?.grants ?? [], after.grants).map((words) => `may no longer ${words}`),
  ]
  return lines.map((line) => `${id}: ${line}`)
}

function versions(before: InstalledConnector | null, after: InstalledConnector): string[] {
  const had = new Map(before?.versions.map((one) => [one.digest, one]))
  const has = new Set(after.versions.map(({ digest }) => digest))
  return [
    ...after.versions.flatMap((one) => {
      const old = had.get(one.digest)
      if (!old) return [`${one.version} installed (${one.trust}, ${short(one.digest)})`]
      if (old.trust === one.trust && old.key === one.key) return []
      const by = one.key === null || old.key === one.key ? '' : `, signed by the key ${one.key}`
      return [`${one.version} is ${one.trust} now${by}`]
    }),
    ...[...had.values()]
      .filter(({ digest }) => !has.has(digest))
      .map(({ version, digest }) => `${version} forgotten (${short(digest)})`),
  ]
}

function routing(before: InstalledConnector | null, after: InstalledConnector): string[] {
  const lines: string[] = []
  if ((before?.active ?? null) !== after.active) {
    const from = before && numberOf(before)
    const to = numberOf(after)
    lines.push(to === null ? 'serves nothing' : from === null ? `serves ${to}` : `${from} → ${to}`)
  }
  const now = disabling(after)
  if (disabling(before) !== now) lines.push(now)
  return lines
}

const disabling = (one: InstalledConnector | null): string =>
  !one?.disabled ? 'enabled' : one.at_once ? 'disabled at once' : 'disabled for new calls'

const numberOf = ({ active, versions }: InstalledConnector): string | null =>
  versions.find(({ digest }) => digest === active)?.version ?? null

/** Lists the wants of `some` that are not in `others`, grouped by kind and subject. */
function grants(some: readonly Want[], others: readonly Want[]): string[] {
  const known = new Set(others.map(identity))
  return describeWants(some.filter((one) => !known.has(identity(one))))
}

const identity = ({ kind, key, amount, secrets }: Want): string =>
  JSON.stringify([kind, key, amount, secrets])

/**
 * Describes wants. Requests are listed once per address and list of methods, with the capabilities that share
 * both.
 */
export function describeWants(wants: readonly Want[]): string[] {
  const sent = sentBy(wants.filter(({ kind }) => kind === 'egress')).map(
    ({ methods, url, capabilities }) => {
      // The position of a statement shows that it is a database.
      const what = url.startsWith('in ') ? `run ${methods} ${url}` : `send ${methods} to ${url}`
      return `${what} (for ${capabilities})`
    },
  )
  return [...sent, ...wants.filter(({ kind }) => kind !== 'egress').map(inWords)]
}

const inWords = ({ kind, words }: Want): string =>
  kind === 'login' ? `log in by ${words}` : (VERBS[kind]?.(words) ?? words)

const VERBS: Partial<Record<Want['kind'], (words: string) => string>> = {
  capability: (words) => words.replace(/^offers/, 'offer'),
  clear_secret: (words) => words.replace(/^sees/, 'see'),
  limit: (words) => `use ${words}`,
}

function ofPublishers(before: Statement, after: Statement): string[] {
  const had = new Map(before.publishers.map((one) => [one.key, one]))
  return after.publishers.flatMap(({ key, name, revoked_at }) => {
    const old = had.get(key)
    if (!old) return [`publisher ${name}: trusted (key ${key})`]
    if ((old.revoked_at === null) === (revoked_at === null)) return []
    return [`publisher ${name}: ${revoked_at ? 'trusted no more' : 'trusted again'} (key ${key})`]
  })
}

const short = (digest: string): string => digest.slice(0, 12)
