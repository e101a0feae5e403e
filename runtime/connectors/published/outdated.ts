/** What is outdated, with the versions that an install would take: not those of another publisher. */
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
import { newerOf, type Outdated, outdatedOf } from './rules.ts'
import { SourceError } from './source.ts'

/** Most versions of a connector whose signatures are read, the newest first. */
const MAX_READ = 20

type Here = {
  statement: Statement
  /** Whether only what a trusted publisher has signed is installed (KEYWAY_INSTALL). */
  onlyTrusted: boolean
}
type Published = { connector: PublishedConnector; version: PublishedVersion }

/** @param serving What calls go to. */
export async function outdatedHere(
  registry: Opened,
  serving: readonly { id: string; version: string }[],
  here: Here,
): Promise<Outdated[]> {
  const found = outdatedOf(registry.index, serving).map(async ({ id, installed }) => {
    const newer = newerOf(registry.index, { id, version: installed }).slice(0, MAX_READ)
    for (const one of newer)
      if (await isTaken(one, registry, here))
        return [{ id, installed, newest: one.version.version }]
    return []
  })
  return (await Promise.all(found)).flat()
}

async function isTaken(
  published: Published,
  registry: Opened,
  { statement, onlyTrusted }: Here,
): Promise<boolean> {
  const { connector, version } = published
  const kept = saidOf(statement, connector.id)?.versions ?? []
  if (kept.some((one) => one.version === version.version && one.digest !== version.digest))
    return false
  const owner = ownerOf(kept)
  if (!version.signed) return owner === null && !onlyTrusted
  const trusted = statement.publishers.filter(({ revoked_at }) => revoked_at === null)
  const keys = trusted.map(({ key }) => key).filter((key) => owner === null || key === owner)
  const named = await keysNamed(published, registry)
  // What cannot be read is told: a server that leaves out a signature would hold back a version unseen.
  return named.length === 0 || named.some((key) => key !== null && keys.includes(key))
}

/** The keys that the signatures of a version name, wherever one can be read: a mirror can have another one. */
async function keysNamed(
  { connector, version }: Published,
  { sources }: Pick<Opened, 'sources'>,
): Promise<(string | null)[]> {
  const named: (string | null)[] = []
  const file = `${packageFile(connector.id, version)}.sig`
  for (const source of sources) {
    try {
      const text = (await source.read(file, MAX_INDEX_SIGNATURE_BYTES)).toString('utf8')
      named.push(namedKey(text))
    } catch (error) {
      // The next mirror may have it.
      if (!(error instanceof SourceError || error instanceof PackageError)) throw error
    }
  }
  return named
}
