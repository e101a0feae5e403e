/** Outdated and withdrawn connectors, with the versions that an install would take; those of other publishers are left out. */
import { ownerOf, type Statement, saidOf } from '../../contract/endpoints/generation.ts'
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

/** Most versions of a connector whose signatures are read, the newest first. */
const MAX_READ = 20
/** From so long on no signature is read any more, in milliseconds: what is not read is told. */
const READING_MS = 10_000
/** Connectors that are looked at side by side. */
const AT_ONCE = 8

type Here = {
  statement: Statement
  /** Whether only what a trusted publisher has signed is installed (KEYWAY_INSTALL). */
  onlyTrusted: boolean
}
type Published = { connector: PublishedConnector; version: PublishedVersion }

/** @param serving What calls go to. */
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
  // Withdrawn connectors come first.
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
  const kept = saidOf(statement, connector.id)?.versions ?? []
  if (kept.some((one) => one.version === version.version && one.digest !== version.digest))
    return false
  const owner = ownerOf(kept)
  if (!version.signed) return owner === null && !onlyTrusted
  const trusted = statement.publishers.filter(({ revoked_at }) => revoked_at === null)
  const keys = trusted.map(({ key }) => key).filter((key) => owner === null || key === owner)
  return isSignedBy(keys, published, registry, endMs)
}

/**
 * Whether a signature names one of the keys, wherever one can be read: a mirror can have another one. What cannot be read is
 * taken for it: a server that leaves out a signature, or spoils it, would hold back a version unseen.
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
