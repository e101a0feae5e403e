/**
 * Computes the next statement from an operator's change. Pure: a refused change throws, and nothing is half
 * done.
 */
import semver from 'semver'
import { normalizeId } from '../../contract/connector/manifest.ts'
import {
  entryOf,
  type Grant,
  type InstalledConnector,
  type InstalledVersion,
  ownerOf,
  type Publisher,
  type Statement,
  type Want,
} from '../../contract/endpoints/generation.ts'
import { CoreError, conflict } from '../../contract/errors/problem.ts'

/** Minimum number of kept versions per connector, so that a rollback finds them. */
const KEPT_VERSIONS = 20
/** How long a version is kept after calls left it, in milliseconds: the lifetime of its page tokens. */
const TOKENS_MS = 24 * 3_600_000

/** Finds a connector in a statement, ignoring the spelling of its id. */
export function connectorOf(statement: Statement, id: string): InstalledConnector {
  const found = entryOf(statement, id)
  if (found) return found
  throw new CoreError(
    'not_found',
    `There is no installed connector ${JSON.stringify(id.slice(0, 64))}`,
  )
}

const withConnector = (statement: Statement, connector: InstalledConnector): Statement => ({
  ...statement,
  connectors: { ...statement.connectors, [normalizeId(connector.id)]: connector },
})

/**
 * Adds a package to its connector without routing calls to it. For a package that is already kept, a better
 * or different signature counts; a missing one removes nothing.
 *
 * @throws CoreError `conflict` for the same version with different content, and for an id of another
 * publisher
 */
export function installed(
  statement: Statement,
  id: string,
  version: InstalledVersion,
  { changePublisher }: { changePublisher: boolean },
): Statement {
  const before = entryOf(statement, id)
  const had = before?.versions ?? []
  const known = had.find(({ digest }) => digest === version.digest)
  if (known && (version.key === null || isJudgedAlike(known, version))) return statement
  const same = had.find((one) => one.version === version.version)
  if (same && !known)
    throw conflict(
      `${id} ${version.version} is installed with other content (${same.digest.slice(0, 12)}): a version never changes; give the new content another version`,
    )
  const owner = ownerOf(had)
  if (owner !== null && owner !== version.key && !changePublisher)
    throw conflict(
      `${id} belongs to the publisher of key ${owner}; this package is ${version.key === null ? 'not signed: sign it first with that key (keyway sign PACKAGE --key KEY)' : `signed by ${version.key}`}. If the connector has really changed hands, install it with change_publisher`,
    )
  const connector = before ?? blank(id)
  const kept = known
    ? had.map((one) => (one === known ? signedAnew(known, version) : one))
    : [...had, version]
  const versions = withoutSurplus(kept, connector.active, version.installed_at)
  return withConnector(statement, { ...connector, id, versions })
}

/** Removes the oldest versions that are no longer needed. */
function withoutSurplus(
  versions: readonly InstalledVersion[],
  active: string | null,
  now: string,
): InstalledVersion[] {
  const since = Date.parse(now) - TOKENS_MS
  let surplus = versions.length - KEPT_VERSIONS
  return versions.filter(({ digest, served_until, installed_at }) => {
    const isNeeded = digest === active || Date.parse(served_until ?? installed_at) > since
    if (surplus <= 0 || isNeeded) return true
    surplus -= 1
    return false
  })
}

/** Returns the versions of a connector after calls have moved to another one. */
const moved = (
  { versions, active }: InstalledConnector,
  to: string | null,
  at: string,
): InstalledVersion[] =>
  versions.map((one) => {
    if (one.digest === to) return { ...one, served_until: null }
    return one.digest === active ? { ...one, served_until: at } : one
  })

/** Returns a kept version with the trust of its new signature. */
const signedAnew = (
  { installed_at, served_until }: InstalledVersion,
  signed: InstalledVersion,
): InstalledVersion => ({ ...signed, installed_at, served_until })

const isJudgedAlike = (one: InstalledVersion, other: InstalledVersion): boolean =>
  one.trust === other.trust && one.key === other.key

type Activation = {
  digest: string
  /** Grants given with the activation. */
  grants: readonly Grant[]
  /** Wants of all kept versions. Grants that match none are dropped. */
  wanted: readonly Want[]
  allowDowngrade: boolean
  /** Time in UTC. */
  at: string
}

/**
 * Routes calls to a version.
 *
 * @throws CoreError `not_found` for a version that is not installed, `conflict` for a downgrade
 */
export function activated(statement: Statement, id: string, wish: Activation): Statement {
  const connector = connectorOf(statement, id)
  const next = versionOf(connector, wish.digest)
  const active = connector.versions.find(({ digest }) => digest === connector.active)
  if (active && semver.lt(next.version, active.version) && !wish.allowDowngrade)
    throw conflict(
      `${connector.id} ${active.version} serves, ${next.version} is older: roll back to a generation that served it, or activate it with allow_downgrade`,
    )
  const wanted = new Set(wish.wanted.map(({ kind, key }) => `${kind} ${key}`))
  const grants = merged(connector.grants, wish.grants).filter(({ kind, key }) =>
    wanted.has(`${kind} ${key}`),
  )
  return withConnector(statement, {
    ...connector,
    active: wish.digest,
    versions: moved(connector, wish.digest, wish.at),
    disabled: false,
    at_once: false,
    grants,
  })
}

/** Returns a version by digest. @throws CoreError `not_found` */
export function versionOf({ id, versions }: InstalledConnector, digest: string): InstalledVersion {
  const found = versions.find((one) => one.digest === digest)
  if (found) return found
  throw new CoreError(
    'not_found',
    `${id} has no installed version with the digest ${digest.slice(0, 12)}; upload its package first`,
  )
}

/**
 * Returns a version that calls may be routed to.
 *
 * @throws CoreError `not_found` for a version that is not installed, `conflict` for one whose key is no
 * longer trusted
 */
export function requireTrust(connector: InstalledConnector, digest: string): InstalledVersion {
  const found = versionOf(connector, digest)
  if (found.trust !== 'invalid') return found
  throw conflict(
    `${connector.id} ${found.version} is signed by a key that is trusted no more; install a version that a trusted publisher has signed`,
  )
}

/** Merges grants. Newer ones replace those that they cover. */
function merged(before: readonly Grant[], more: readonly Grant[]): Grant[] {
  const identity = ({ kind, key, amount, secrets }: Grant) =>
    JSON.stringify([kind, key, amount, secrets])
  const known = new Set(before.map(identity))
  return [...before, ...more.filter((one) => !known.has(identity(one)))]
}

/**
 * Disables or enables a connector. One that is not installed (built in, or dropped in) can be disabled too:
 * the statement takes precedence.
 */
export function switched(
  statement: Statement,
  id: string,
  { disabled, atOnce }: { disabled: boolean; atOnce: boolean },
): Statement {
  const key = normalizeId(id)
  const before = entryOf(statement, id)
  if (!before && !disabled)
    throw new CoreError('not_found', `${id} is neither installed nor disabled`)
  const connector = before ?? blank(id)
  if (!disabled && connector.versions.length === 0) return without(statement, key)
  return withConnector(statement, { ...connector, disabled, at_once: disabled && atOnce })
}

/** Returns the state of a connector that the statement does not mention. */
export const blank = (id: string): InstalledConnector => ({
  id,
  active: null,
  disabled: false,
  at_once: false,
  versions: [],
  grants: [],
})

/** Removes a connector with its versions and grants. A built-in or dropped-in one is served again. */
export function removed(statement: Statement, id: string): Statement {
  connectorOf(statement, id)
  return without(statement, normalizeId(id))
}

function without(statement: Statement, key: string): Statement {
  const { [key]: _gone, ...connectors } = statement.connectors
  return { ...statement, connectors }
}

/** Adds grants. @throws CoreError `not_found` */
export function granted(statement: Statement, id: string, more: readonly Grant[]): Statement {
  const connector = connectorOf(statement, id)
  return withConnector(statement, { ...connector, grants: merged(connector.grants, more) })
}

/** Revokes grants. @throws CoreError `not_found`, also if nothing matching was granted */
export function revoked(
  statement: Statement,
  id: string,
  isMeant: (grant: Grant) => boolean,
): Statement {
  const connector = connectorOf(statement, id)
  const grants = connector.grants.filter((one) => !isMeant(one))
  if (grants.length === connector.grants.length)
    throw new CoreError('not_found', `Nothing of that is granted to ${connector.id}`)
  return withConnector(statement, { ...connector, grants })
}

/**
 * Restores an earlier generation with the current grants and publishers: what was revoked since stays
 * revoked.
 */
export function rolledBack(now: Statement, then: Statement, at: string): Statement {
  const connectors = Object.fromEntries(
    Object.entries(then.connectors).map(([key, old]) => {
      const present = entryOf(now, key)
      // If the connector was removed since, its grants were removed with it.
      if (!present) return [key, { ...old, grants: [] }]
      const known = new Set(present.versions.map(({ digest }) => digest))
      const versions = [
        ...old.versions.filter(({ digest }) => !known.has(digest)),
        ...moved(present, old.active, at),
      ]
      return [key, { ...old, versions, grants: present.grants }]
    }),
  )
  return { connectors, publishers: now.publishers }
}

/** Trusts a key, also one that was revoked. */
export function trusting(statement: Statement, publisher: Publisher): Statement {
  const others = statement.publishers.filter(({ key }) => key !== publisher.key)
  return { ...statement, publishers: [...others, publisher] }
}

/** Revokes the trust in a key. @throws CoreError `not_found` */
export function distrusting(statement: Statement, key: string, at: string): Statement {
  const found = statement.publishers.find((one) => one.key === key)
  if (!found) throw new CoreError('not_found', `There is no trusted key ${key.slice(0, 64)}`)
  return trusting(statement, { ...found, revoked_at: found.revoked_at ?? at })
}
