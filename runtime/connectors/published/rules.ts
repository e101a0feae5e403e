/** Rules of an index: adding versions, choosing a version, and detecting outdated indexes. Pure. */
import semver from 'semver'
import { INTERFACE_VERSION, normalizeId } from '../../contract/connector/manifest.ts'
import { isFromFuture } from '../../contract/endpoints/published-indexes.ts'
import { PackageError } from '../packages/format.ts'
import {
  INDEX_FORM,
  type PublishedConnector,
  type PublishedIndex,
  type PublishedVersion,
} from './form.ts'
import type { Withdrawn } from './withdrawn.ts'

const DAY_MS = 86_400_000

/** A version to publish, with the displayed data of its connector. */
export type Addition = Omit<PublishedConnector, 'versions'> & { version: PublishedVersion }

/**
 * Returns the next index. Its version is the time in seconds, and greater than the previous version, so that
 * it also increases if the previous index was lost.
 *
 * @param mirrors those of the previous index by default
 * @throws PackageError for a published version with different content, and if the clock was set back
 */
export function nextIndex(
  before: PublishedIndex | null,
  additions: readonly Addition[],
  { now, days, mirrors }: { now: Date; days: number; mirrors?: readonly string[] | undefined },
): PublishedIndex {
  if (before && Date.parse(before.published_at) > now.getTime() + DAY_MS)
    throw new PackageError(
      `the index was published at ${before.published_at}, and the clock of this machine says ${now.toISOString()}: set it right, or the new index expires too early; where it was wrong then, take that index away, and publish all packages again`,
    )
  const connectors = new Map((before?.connectors ?? []).map((one) => [one.id, one]))
  for (const addition of additions) {
    const { version, ...shown } = addition
    const other = [...connectors.keys()].find(
      (id) => id !== shown.id && normalizeId(id) === normalizeId(shown.id),
    )
    if (other !== undefined)
      throw new PackageError(
        `${shown.id} is one id with ${other}, which is published already: write it so in connector.json`,
      )
    connectors.set(shown.id, withVersion(connectors.get(shown.id), shown, version))
  }
  return {
    form: INDEX_FORM,
    version: Math.max((before?.version ?? 0) + 1, Math.floor(now.getTime() / 1000)),
    published_at: now.toISOString(),
    expires_at: new Date(now.getTime() + days * DAY_MS).toISOString(),
    mirrors: [...(mirrors ?? before?.mirrors ?? [])],
    connectors: [...connectors.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  }
}

function withVersion(
  before: PublishedConnector | undefined,
  shown: Omit<PublishedConnector, 'versions'>,
  version: PublishedVersion,
): PublishedConnector {
  const same = before?.versions.find((one) => one.version === version.version)
  if (same && same.digest !== version.digest)
    throw new PackageError(
      `${shown.id} ${version.version} is published already with another content; a version never changes: raise it in connector.json`,
    )
  const others = before?.versions.filter((one) => one !== same) ?? []
  // The signature file still exists, and publishing again does not undo a withdrawal.
  const kept = same?.withdrawn ? { withdrawn: same.withdrawn } : {}
  const added = { ...version, signed: version.signed || same?.signed === true, ...kept }
  const versions = [...others, added].sort(newestFirst)
  const isNewest = versions[0] === added
  return { ...(isNewest || !before ? shown : before), versions }
}

/**
 * Rejects an expired index, since its server may be holding back a newer one. (For an index older than the
 * last one seen, see lifecycle/published-indexes.ts.) An index from the future is rejected too, by its date
 * or by its version, which is a time in seconds: once it was seen, every later one would count as older.
 *
 * @throws PackageError
 */
export function requireFresh(index: PublishedIndex, now: Date): void {
  if (Date.parse(index.published_at) > now.getTime() + DAY_MS || isFromFuture(index.version, now))
    throw new PackageError(
      `the index ${index.version} says that it was published at ${index.published_at}, which is to come: the clock of this machine says ${now.toISOString()}; set it right, or ask the publisher`,
    )
  if (Date.parse(index.expires_at) <= now.getTime())
    throw new PackageError(
      `the index expired at ${index.expires_at}; use another mirror, or ask its publisher to run keyway publish again`,
    )
}

/** Parses `acme`, `acme@1.2.0` or `acme@^1`; null if the text does not name a connector. */
export function parseName(text: string): { id: string; range: string } | null {
  const [, id = '', range = '*'] = /^([A-Za-z0-9][A-Za-z0-9_-]{0,62})(?:@(.+))?$/.exec(text) ?? []
  return id === '' ? null : { id, range }
}

/** Reports whether a version runs on this host. */
export const isRunnable = ({ runtime }: Pick<PublishedVersion, 'runtime'>): boolean =>
  semver.validRange(runtime) !== null && semver.satisfies(INTERFACE_VERSION, runtime)

/** Reports whether a version is not withdrawn. */
const isOffered = ({ withdrawn }: PublishedVersion): boolean => withdrawn === undefined

/** Finds a connector by its id in any spelling; undefined if the index does not list it. */
export const connectorIn = (index: PublishedIndex, id: string): PublishedConnector | undefined =>
  index.connectors.find((one) => normalizeId(one.id) === normalizeId(id))

/**
 * Returns the newest version of a range that runs here. Prereleases are chosen only by a range that names
 * one.
 *
 * @throws PackageError that lists the available versions
 */
export function pick(
  index: PublishedIndex,
  { id, range }: { id: string; range: string },
): { connector: PublishedConnector; version: PublishedVersion } {
  const connector = connectorIn(index, id)
  if (!connector) throw new PackageError(`there is no connector ${id}; keyway search lists all`)
  if (semver.validRange(range) === null)
    throw new PackageError(`${JSON.stringify(range)} is no range of versions; write 1.2.0 or ^1.2`)
  const fitting = fittingOf(connector.versions, range.trim())
  const found = newestOf(fitting.filter((one) => isOffered(one) && isRunnable(one)))
  if (found) return { connector, version: found }
  throw new PackageError(noVersionReason(connector, { id, range }, fitting))
}

/** Explains why no version of a range can be chosen, and what to do. */
function noVersionReason(
  { versions }: PublishedConnector,
  { id, range }: { id: string; range: string },
  fitting: readonly PublishedVersion[],
): string {
  const offered = versions.filter(isOffered)
  const other = fitting.find(isOffered)
  if (other)
    return `${id} ${other.version} needs the runtime ${other.runtime}; this one has ${INTERFACE_VERSION}`
  const [first] = fitting
  if (first) return `${wordsOfWithdrawal(id, first)}; ${insteadOf(id, versions)}`
  const [early] = offered
  if (!early) return `there is no ${id} of ${range}, and all that there was is withdrawn`
  if (offered.every((one) => semver.prerelease(one.version)))
    return `all versions of ${id} are before a release: name one, such as ${id}@${early.version}`
  const there = offered.slice(0, 10).map(({ version }) => version)
  return `there is no ${id} of ${range}; there are ${there.join(', ')}`
}

/** States that a version is withdrawn, when and why; advice is left to the caller. */
export const wordsOfWithdrawal = (
  id: string,
  { version, withdrawn }: Pick<PublishedVersion, 'version' | 'withdrawn'>,
): string =>
  `${id} ${version} was withdrawn on ${withdrawn?.at.slice(0, 10)} (${JSON.stringify(withdrawn?.reason)})`

function insteadOf(id: string, versions: readonly PublishedVersion[]): string {
  const instead = newestHere(versions)
  return instead
    ? `take ${id}@${instead.version}`
    : 'there is no other that runs here: ask its publisher'
}

/**
 * Returns the versions in a range. semver treats all builds of a version as equal, but a package belongs to
 * one build.
 */
function fittingOf(versions: readonly PublishedVersion[], range: string): PublishedVersion[] {
  const named = versions.filter(({ version }) => version === range)
  if (named.length > 0 || (semver.parse(range)?.build.length ?? 0) > 0) return named
  return versions.filter(({ version }) => semver.satisfies(version, range))
}

const newestOf = (versions: readonly PublishedVersion[]): PublishedVersion | undefined =>
  [...versions].sort(newestFirst)[0]

/**
 * Returns the version displayed as the newest that runs here: the one installed by a name without a range.
 * Without any release, the newest prerelease.
 */
export function newestHere(versions: readonly PublishedVersion[]): PublishedVersion | undefined {
  const running = versions.filter((one) => isOffered(one) && isRunnable(one))
  const released = running.filter(({ version }) => semver.prerelease(version) === null)
  return newestOf(released) ?? newestOf(running)
}

/** Sorts newest first, and builds of one version by name. */
const newestFirst = (a: PublishedVersion, b: PublishedVersion): number =>
  semver.compareBuild(b.version, a.version)

/** An installed version that is withdrawn or outdated; `newest` is null if there is no newer one to install. */
export type Outdated = {
  id: string
  installed: string
  newest: string | null
  withdrawn?: Withdrawn
}

/** `digest` is the package's; null if the connector was not installed from a package. */
export type InstalledHere = { id: string; version: string; digest: string | null }

/** The withdrawal of an installed package, matched by digest: another package may have the same name and version. */
export const withdrawalOf = (
  index: PublishedIndex,
  { id, digest }: Pick<InstalledHere, 'id' | 'digest'>,
): Withdrawn | null =>
  connectorIn(index, id)?.versions.find((one) => one.digest === digest)?.withdrawn ?? null

/** Returns the released versions that run here and are newer than the installed one, newest first. */
export const newerOf = (
  index: PublishedIndex,
  { id, version }: Pick<InstalledHere, 'id' | 'version'>,
): { connector: PublishedConnector; version: PublishedVersion }[] => {
  const connector = connectorIn(index, id)
  if (!connector || semver.valid(version) === null) return []
  return connector.versions
    .filter((one) => isOffered(one) && isRunnable(one))
    .filter((one) => semver.prerelease(one.version) === null)
    .filter((one) => semver.gt(one.version, version))
    .sort((a, b) => semver.rcompare(a.version, b.version))
    .map((one) => ({ connector, version: one }))
}

/**
 * Returns the connectors that contain all words of a search in their id, name, description or capabilities.
 * An exact id comes first.
 */
export function searched(index: PublishedIndex, words: readonly string[]): PublishedConnector[] {
  const wanted = words.map((word) => word.toLowerCase())
  const found = index.connectors.filter(({ id, name, description, versions }) => {
    const shown = versions.find(isOffered) ?? versions[0]
    const offered = (shown?.wants ?? []).flatMap(({ kind, subject }) =>
      kind === 'capability' ? [subject] : [],
    )
    const text = [id, normalizeId(id), name, description, ...offered].join('\n').toLowerCase()
    return wanted.every((word) => text.includes(word))
  })
  const isNamed = ({ id }: PublishedConnector) =>
    wanted.some((word) => normalizeId(word) === normalizeId(id))
  return [...found.filter(isNamed), ...found.filter((one) => !isNamed(one))]
}
