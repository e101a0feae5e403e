/**
 * Finds outdated and withdrawn connectors and the versions that an install would choose. Versions of other
 * publishers are ignored.
 */
import { entryOf, ownerOf, type Statement } from '../../contract/endpoints/generation.ts'
import { PackageError } from '../packages/format.ts'
import { namedKey } from '../packages/sign.ts'
import {
  MAX_INDEX_SIGNATURE_BYTES,
  type PublishedConnector,
  type PublishedVersion,
  packageFile,
} from './form.ts'
import type { Opened } from './open.ts'
import { type InstalledHere, newerOf, type Outdated, withdrawalOf } from './rules.ts'
import { SourceError } from './source.ts'

/** Maximum number of versions per connector whose signatures are read, newest first. */
const MAX_READ = 20
/** Time after which no further signature is read, in milliseconds. Unread versions are reported. */
const READING_MS = 10_000
/** Number of connectors examined at the same time. */
const AT_ONCE = 8

type Here = {
  statement: Statement
  /** Whether only packages signed by a trusted publisher may be installed (KEYWAY_INSTALL). */
  onlyTrusted: boolean
}
type Published = { connector: PublishedConnector; version: PublishedVersion }

/** @param serving versions that calls are routed to */
export async function outdatedHere(
  registry: Opened,
  serving: readonly InstalledHere[],
  here: Here,
): Promise<Outdated[]> {
  const endMs = performance.now() + READING_MS
  const left = [...serving]
  const found: Outdated[] = []
  const work = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const newer = newerOf(registry.index, one).slice(0, MAX_READ)
      const taken = await firstTaken(newer, registry, here, endMs)
      const withdrawn = withdrawalOf(registry.index, one)
      if (taken === null && withdrawn === null) continue
      found.push({
        ...{ id: one.id, installed: one.version, newest: taken?.version.version ?? null },
        ...(withdrawn === null ? {} : { withdrawn }),
      })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  // Withdrawn connectors first.
  const rank = ({ withdrawn }: Outdated) => (withdrawn === undefined ? 1 : 0)
  return found.sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))
}

async function firstTaken(
  newer: readonly Published[],
  registry: Opened,
  here: Here,
  endMs: number,
): Promise<Published | null> {
  for (const one of newer) if (await isTaken(one, registry, here, endMs)) return one
  return null
}

async function isTaken(
  published: Published,
  registry: Opened,
  { statement, onlyTrusted }: Here,
  endMs: number,
): Promise<boolean> {
  const { connector, version } = published
  const kept = entryOf(statement, connector.id)?.versions ?? []
  if (kept.some((one) => one.version === version.version && one.digest !== version.digest))
    return false
  const owner = ownerOf(kept)
  if (!version.signed) return owner === null && !onlyTrusted
  const trusted = statement.publishers.filter(({ revoked_at }) => revoked_at === null)
  const keys = trusted.map(({ key }) => key).filter((key) => owner === null || key === owner)
  return isSignedBy(keys, published, registry, endMs)
}

/**
 * Reports whether a signature names one of the keys at any readable address, since a mirror may have a
 * different one. An unreadable signature counts as one of them: otherwise a server that omits or corrupts a
 * signature could hide a version.
 */
async function isSignedBy(
  keys: readonly string[],
  { connector, version }: Published,
  { sources }: Pick<Opened, 'sources'>,
  endMs: number,
): Promise<boolean> {
  const file = `${packageFile(connector.id, version)}.sig`
  let isRead = false
  for (const [address, source] of new Map(sources.map((one) => [one.address, one]))) {
    if (performance.now() > endMs) return true
    const key = await source.read(file, MAX_INDEX_SIGNATURE_BYTES).then(
      (text) => namedKey(text.toString('utf8')),
      (error: unknown) => {
        // The next mirror may have it.
        if (error instanceof SourceError || error instanceof PackageError) return null
        throw new Error(`the signature of ${file} at ${address}`, { cause: error })
      },
    )
    if (key !== null && keys.includes(key)) return true
    isRead ||= key !== null
  }
  return !isRead
}
