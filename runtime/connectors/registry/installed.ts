/**
 * Connectors installed by operators, in addition to the folders. Applies a statement as a whole and takes
 * precedence over folders. A package that cannot be applied never stops the others.
 */
import type { CapabilityName } from '../../contract/capabilities/capabilities.ts'
import { type Manifest, normalizeId } from '../../contract/connector/manifest.ts'
import { offers } from '../../contract/connector/oauth.ts'
import type {
  InstalledConnector,
  InstalledVersion,
  Statement,
} from '../../contract/endpoints/generation.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import type { Registry, RegistryListing } from './registry.ts'
import { restrict } from './requested-grant.ts'
import { createVersion, type Version } from './version.ts'

/** A package on this host. */
export type KeptPackage = { manifest: Manifest; readCode(): Promise<string> }

type InstalledOptions = {
  folders: Registry
  /**
   * Returns a package by digest, and fetches it if necessary. The error message says why it cannot be
   * fetched.
   */
  kept(digest: string): Promise<KeptPackage>
  /** A version is no longer routed to. */
  onRetired(version: Version): void
  /** A statement took effect. Running calls may have lost permissions they started with. */
  onTaken(manifestNow: Installed['manifestNow']): void
}

/** Folders and packages as one registry. */
export type Installed = Registry & {
  /**
   * Returns the version on which started page sequences may finish while a connector is disabled for new
   * calls; else null.
   */
  ending(id: string): Version | null
  /** Applies a statement. @returns the problems, as text */
  take(statement: Statement): Promise<string[]>
  /**
   * Returns what a running call of a version may still use: the manifest restricted to the current grants.
   *
   * @throws connector_unknown, egress_undeclared if the call must be ended
   */
  manifestNow(
    version: { key: string; digest: string; manifest: Manifest },
    capability: CapabilityName,
  ): Manifest
}

type Entry = {
  state: InstalledConnector
  active: Version | null
  problem: string | null
  /** Versions with the grants of this entry, created on demand. */
  made: Map<string, Promise<Version>>
  /** Manifests with the grants of this entry, by digest. */
  manifests: Map<string, Manifest>
}

const unread = () => ({ made: new Map(), manifests: new Map() })

/** Reports whether a state is unchanged. Unchanged states are mostly the same object. */
const isSame = (one: InstalledConnector, other: InstalledConnector): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other)

/** Number of packages read at the same time when a statement is applied. */
const AT_ONCE = 16

export function createInstalled({
  folders,
  kept,
  onRetired,
  onTaken,
}: InstalledOptions): Installed {
  let entries: ReadonlyMap<string, Entry> = new Map()
  /** Unrestricted manifests of the versions here. */
  const whole = new WeakMap<object, Manifest>()

  const restricted = (entry: Entry, digest: string, manifest: Manifest): Manifest => {
    const known = entry.manifests.get(digest) ?? restrict(manifest, entry.state.grants)
    entry.manifests.set(digest, known)
    return known
  }

  const versionIn = (entry: Entry, { digest, trust }: InstalledVersion): Promise<Version> => {
    const known = entry.made.get(digest)
    if (known !== undefined) return known
    const made = kept(digest).then(({ manifest, readCode }) => {
      const origin = trust === 'trusted' ? 'trusted' : 'stranger'
      const version = createVersion(restricted(entry, digest, manifest), digest, origin, readCode)
      whole.set(version, manifest)
      return version
    })
    entry.made.set(digest, made)
    // Retried next time: the database may have been away.
    made.catch(() => entry.made.delete(digest))
    return made
  }

  async function entryOf(key: string, state: InstalledConnector): Promise<Entry> {
    const before = entries.get(key)
    if (before && before.problem === null && isSame(before.state, state)) return before
    const entry: Entry = { state, active: null, problem: null, ...unread() }
    const wanted = state.versions.find(({ digest }) => digest === state.active)
    // If it is disabled for new calls only, running ones may finish on it.
    if (!wanted || (state.disabled && state.at_once)) return entry
    if (wanted.trust === 'invalid') {
      entry.problem = `${state.id} ${wanted.version}: its signature is invalid now; install a version that a trusted publisher has signed`
      return entry
    }
    try {
      entry.active = await versionIn(entry, wanted)
    } catch (error) {
      entry.problem = `${state.id} ${wanted.version}: ${messageOf(error)}`
      // The last good version stays, with the current grants.
      const last = before?.active
      const old = state.versions.find(({ digest }) => digest === last?.digest)
      if (old && old.trust !== 'invalid')
        entry.active = await versionIn(entry, old).catch(() => null)
    }
    return entry
  }

  async function take(statement: Statement): Promise<string[]> {
    const all = Object.entries(statement.connectors)
    const next = new Map<string, Entry>()
    for (let at = 0; at < all.length; at += AT_ONCE) {
      const some = all.slice(at, at + AT_ONCE)
      const made = await Promise.all(some.map(([key, state]) => entryOf(key, state)))
      for (const [index, entry] of made.entries()) next.set(some[index]?.[0] ?? '', entry)
    }
    const before = entries
    entries = next
    for (const [key, { active }] of before) {
      if (active && next.get(key)?.active?.digest !== active.digest) onRetired(active)
    }
    onTaken(manifestNow)
    return [...next.values()].flatMap(({ problem }) => problem ?? [])
  }

  /** Returns the version that an entry routes to; undefined if it leaves the id to the folders. */
  const routed = (entry: Entry | undefined): Version | null | undefined => {
    if (!entry) return undefined
    if (entry.state.disabled) return null
    return entry.active ?? (entry.state.active === null ? undefined : null)
  }

  function ending(id: string): Version | null {
    const entry = entries.get(normalizeId(id))
    if (!entry?.state.disabled || entry.state.at_once) return null
    return entry.state.active === null ? folders.find(id) : entry.active
  }

  function find(id: string): Version | null {
    const found = routed(entries.get(normalizeId(id)))
    return found === undefined ? folders.find(id) : found
  }

  function stillServed(version: {
    key: string
    digest: string
    manifest: Manifest
  }): Manifest | null {
    const entry = entries.get(version.key)
    if (entry?.state.disabled && entry.state.at_once) return null
    const manifest = whole.get(version)
    if (!manifest) return version.manifest
    const kept = entry?.state.versions.find(({ digest }) => digest === version.digest)
    if (!entry || !kept || kept.trust === 'invalid') return null
    return restricted(entry, version.digest, manifest)
  }

  function manifestNow(
    version: { key: string; digest: string; manifest: Manifest },
    capability: CapabilityName,
  ): Manifest {
    const manifest = stillServed(version)
    if (!manifest)
      throw new RuntimeError('connector_unknown', 'the operator has just taken this connector away')
    // Without its capability a call would be checked against the list that is left for the login.
    if (offers(manifest, capability)) return manifest
    throw new RuntimeError('egress_undeclared', 'the operator has just taken this capability away')
  }

  function rowOf({ state, active, problem }: Entry): RegistryListing {
    const { id, versions, disabled } = state
    const meant = versions.find(({ digest }) => digest === state.active)
    const shown = active ?? meant ?? null
    const [listed, reason] = disabled
      ? (['disabled', `disabled by the operator${state.at_once ? ', at once' : ''}`] as const)
      : problem !== null
        ? (['ghost', problem] as const)
        : active
          ? (['ready', null] as const)
          : (['ghost', `installed, not active: run keyway upgrade ${id} --to VERSION`] as const)
    return {
      id,
      version: shown?.version ?? null,
      digest: shown?.digest ?? null,
      source: 'installed',
      state: listed,
      reason,
      serving: !disabled && active !== null,
      folder: null,
    }
  }

  /** Returns the row of a folder. If an operator has decided otherwise, calls are not routed to it. */
  function behind(row: RegistryListing): RegistryListing {
    const entry = row.id === null ? undefined : entries.get(normalizeId(row.id))
    const version = routed(entry)
    if (version === undefined || !row.serving) return row
    const reason = version
      ? `the installed ${version.id} ${version.version} serves in its place`
      : 'disabled by the operator'
    return { ...row, serving: false, state: version ? row.state : 'disabled', reason }
  }

  return {
    take,
    find,
    ending,
    async byDigest(id, digest) {
      const entry = entries.get(normalizeId(id))
      if (entry?.state.disabled && entry.state.at_once) return null
      const version = entry?.state.versions.find((one) => one.digest === digest)
      if (!entry || !version) return folders.byDigest(id, digest)
      return version.trust === 'invalid' ? null : versionIn(entry, version)
    },
    ids() {
      const own = [...entries].flatMap(([, entry]) => routed(entry)?.id ?? [])
      const others = folders
        .ids()
        .filter((id) => routed(entries.get(normalizeId(id))) === undefined)
      return [...own, ...others].sort()
    },
    list: () =>
      [
        ...[...entries.values()].filter(({ state }) => state.versions.length > 0).map(rowOf),
        ...folders.list().map(behind),
      ].sort((a, b) => ((a.id ?? a.folder ?? '') < (b.id ?? b.folder ?? '') ? -1 : 1)),
    manifestNow,
    look: folders.look,
    refresh: folders.refresh,
    remove: folders.remove,
    get checking() {
      return folders.checking
    },
  }
}
