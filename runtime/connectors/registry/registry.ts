/**
 * Registry of connectors: their states, and the version that calls are routed to. Folders enter through
 * `refresh`; the result is an immutable routing table that is replaced as a whole.
 *
 * A bad folder never stops the others. It is listed with its reason (a ghost), and its last good version
 * stays served.
 */
import { createCache } from '../../bounded/cache.ts'
import { type Manifest, normalizeId } from '../../contract/connector/manifest.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import { type ClearGrants, wantsClear } from './clear-grants.ts'
import { type Folder, FolderError, readFolder } from './folder.ts'
import type { Inspector } from './inspect.ts'
import { createJudge } from './judge.ts'
import type { Store, StoredVerdict } from './store.ts'
import { createVersion, type Version } from './version.ts'
import { widening } from './widening.ts'

/** A row of `GET /operator/connectors`. */
export type RegistryListing = ConnectorListing & {
  state: 'checking' | 'ready' | 'ghost' | 'disabled'
}

export type DropIn = 'open' | 'closed' | 'off'

type RegistryOptions = {
  inspector: Inspector
  store: Store
  /** Digests of the built-in connectors. */
  builtIn: ReadonlySet<string>
  dropIn: DropIn
  /** From `parseClearGrants`. */
  clearGrants: ClearGrants
  /** Called at every change of what is served, for the log. */
  onChange(listing: RegistryListing): void
  /** A version is no longer routed to. */
  onRetired(version: Version): void
}

export type Registry = {
  /** Returns the version that serves this id, in either spelling. */
  find(id: string): Version | null
  /** Returns a version by digest, also one that is no longer routed, as long as it is kept. */
  byDigest(id: string, digest: string): Promise<Version | null>
  /** Ids of all served connectors, sorted. */
  ids(): string[]
  list(): RegistryListing[]
  /** Reads a folder again. Resolves when its verdict is known or its inspection has started. */
  look(directory: string): Promise<Look>
  /** Reads a folder again. Resolves when it is served or a ghost. */
  refresh(directory: string): Promise<void>
  /** The folder was removed. */
  remove(directory: string): void
  /** Number of folders being inspected. */
  readonly checking: number
}

/** `checked` resolves when the folder is served or a ghost. */
type Look = { checked: Promise<void> }

type State = {
  directory: string
  /** The version served from this folder. */
  current: Version | null
  latest: {
    digest: string | null
    id: string | null
    version: string | null
    state: RegistryListing['state']
    reason: string | null
  }
  /** Number of refreshes. Only the verdict of the newest one counts. */
  turn: number
}

/** Memory of a version without the text of its manifest, in bytes. */
const VERSION_BYTES = 4096

export function createRegistry(options: RegistryOptions): Registry {
  const { inspector, store, builtIn, dropIn, clearGrants, onChange, onRetired } = options
  const states = new Map<string, State>()
  let routes: ReadonlyMap<string, Version> = new Map()
  let conflicts: ReadonlyMap<string, string> = new Map()
  /** Folders by the key that they claim. */
  const claims = new Map<string, Set<State>>()
  /** Keys that folders claimed or left since the routes were computed. */
  const touched = new Set<string>()
  const freed = new Set<string>()
  // Evicted versions are restored from the store when needed.
  const seen = createCache<Version>('versions', {
    bytesOf: ({ manifest }) => VERSION_BYTES + 2 * JSON.stringify(manifest).length,
    isBusy: (version) => routes.get(version.key) === version,
  })
  const judge = createJudge(inspector, store)
  let checking = 0

  /** Sets what a folder serves. The next `reroute` applies it. */
  function serve(state: State, version: Version): void {
    leave(state)
    state.current = version
    touched.add(version.key)
    claims.set(version.key, (claims.get(version.key) ?? new Set()).add(state))
  }

  /** Removes the claim of a folder. */
  function leave({ current, directory }: State): void {
    freed.add(directory)
    if (!current) return
    touched.add(current.key)
    for (const one of claims.get(current.key) ?? [])
      if (one.directory === directory) claims.get(current.key)?.delete(one)
  }

  /**
   * Recomputes the routes of the touched keys. Of two folders with one id, the first by name serves it. Other
   * routes stay: with a thousand connectors, each new one would otherwise sort them all.
   */
  function reroute(): void {
    if (touched.size === 0) return
    const next = new Map(routes)
    const refused = new Map([...conflicts].filter(([directory]) => !freed.has(directory)))
    const gone: Version[] = []
    for (const key of touched) {
      const before = routes.get(key)
      const held = [...(claims.get(key) ?? [])]
        .filter((state) => states.get(state.directory) === state)
        .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
      const [first, ...others] = held
      const holder = first?.current
      if (holder) next.set(key, holder)
      else next.delete(key)
      if (before && before !== holder) gone.push(before)
      if (first) refused.delete(first.directory)
      for (const { directory, current } of others)
        if (holder && current) refused.set(directory, takenBy(current.id, holder))
    }
    touched.clear()
    freed.clear()
    routes = next
    conflicts = refused
    for (const one of gone) onRetired(one)
  }

  /** Sort key: built-in connectors first, then the one already serving, then by folder. */
  const rank = ({ directory, current }: State): string => {
    const first = current?.builtIn
      ? '0'
      : current && routes.get(current.key) === current
        ? '1'
        : '2'
    return `${first} ${directory}`
  }

  function keep(manifest: Parameters<typeof createVersion>[0], digest: string): Version {
    const known = seen.get(digest)
    if (known) return known
    const origin = builtIn.has(digest) ? 'built-in' : 'stranger'
    const made = createVersion(manifest, digest, origin, () => store.code(digest))
    seen.set(digest, made)
    return made
  }

  async function fromStore(digest: string): Promise<Version | null> {
    const manifest = await permitted(digest)
    return manifest && keep(manifest, digest)
  }

  /** Returns a kept manifest, unless a grant it had has been revoked. */
  async function permitted(digest: string): Promise<Manifest | null> {
    const manifest = await store.manifest(digest)
    return manifest && wantsClear(clearGrants, manifest) === null ? manifest : null
  }

  /** Reports whether a folder with this content is disabled on this host. */
  const isOff = (digest: string): boolean => dropIn === 'off' && !builtIn.has(digest)

  /** Serves the last good version of this folder from before the process started, if it is still stored. */
  async function restore(state: State): Promise<void> {
    if (state.current) return
    const digest = await store.lastGood(state.directory)
    if (digest === null || isOff(digest)) return
    const manifest = await permitted(digest)
    if (manifest) serve(state, keep(manifest, digest))
  }

  const isStale = (state: State, turn: number): boolean =>
    state.turn !== turn || states.get(state.directory) !== state

  /**
   * Returns the verdict from the store or by inspection. Until it is known, the last good version is served.
   */
  async function verdictOn(
    state: State,
    folder: Folder,
    turn: number,
    onBegun: () => void,
  ): Promise<StoredVerdict> {
    const known = await store.find(folder.digest)
    if (known) return known
    const made = judge(folder)
    // Reported at the end, where it is awaited. Restoring may fail in the meantime.
    made.catch(() => undefined)
    await restore(state)
    if (!isStale(state, turn)) reroute()
    onBegun()
    return made
  }

  /** Applies the verdict. Returns false if a newer look has taken over, which reports the state instead. */
  async function settle(
    state: State,
    folder: Folder,
    turn: number,
    onBegun: () => void,
  ): Promise<boolean> {
    const verdict = await verdictOn(state, folder, turn, onBegun)
    if (isStale(state, turn)) return false
    if (!verdict.ok) {
      await restore(state)
      const { id, version, findings } = verdict
      state.latest = {
        digest: folder.digest,
        id,
        version,
        state: 'ghost',
        reason: findings.join('\n'),
      }
      return true
    }
    const { manifest } = verdict
    const latest = { digest: folder.digest, id: manifest.id, version: manifest.version }
    const reason =
      (await refusal(state, manifest, folder.digest)) ?? wantsClear(clearGrants, manifest)
    if (reason !== null) {
      await restore(state)
      state.latest = { ...latest, state: 'ghost', reason }
      return true
    }
    serve(state, keep(manifest, folder.digest))
    state.latest = { ...latest, state: 'ready', reason: null }
    // Before any await: a folder must not be visible as ready without being served.
    reroute()
    await store.setLastGood(state.directory, folder.digest)
    return true
  }

  /** Returns why a valid edit is not applied, or null. The previous version then stays served. */
  async function refusal(state: State, manifest: Manifest, digest: string): Promise<string | null> {
    if (dropIn === 'closed' && !builtIn.has(digest)) await restore(state)
    const before = state.current
    if (!before) return null
    const holder = routes.get(normalizeId(manifest.id))
    if (holder && holder.key !== before.key) return takenBy(manifest.id, holder)
    if (dropIn !== 'closed' || builtIn.has(digest) || before.id !== manifest.id) return null
    const more = widening(before.manifest, manifest)
    if (more.length === 0) return null
    return `wants more: ${more.join(', ')}; under KEYWAY_DROP_IN=closed an edit may not reach further than what it replaces: start with KEYWAY_DROP_IN=open to take it`
  }

  function rows(state: State): RegistryListing[] {
    const { directory, current, latest } = state
    const source = (digest: string | null) =>
      digest !== null && builtIn.has(digest) ? 'built-in' : 'drop-in'
    const conflict = conflicts.get(directory) ?? null
    const listed: RegistryListing[] = []
    if (current) {
      const { id, version, digest } = current
      const serving = conflict === null && routes.get(current.key) === current
      const state = conflict === null ? 'ready' : 'ghost'
      listed.push({
        id,
        version,
        digest,
        source: source(digest),
        state,
        reason: conflict,
        serving,
        folder: directory,
      })
    }
    if (!current || latest.digest !== current.digest)
      listed.push({ ...latest, source: source(latest.digest), serving: false, folder: directory })
    return listed
  }

  /** Reads a folder and determines its state. `onBegun` is called if that needs an inspection. */
  async function check(state: State, onBegun: () => void): Promise<void> {
    const { directory } = state
    state.turn += 1
    const { turn } = state
    checking += 1
    try {
      const folder = await readFolder(directory)
      if (folder.digest === state.latest.digest && state.latest.state !== 'checking') return
      state.latest = {
        digest: folder.digest,
        id: null,
        version: null,
        state: 'checking',
        reason: null,
      }
      if (isOff(folder.digest)) state.latest = offRow(folder)
      else if (!(await settle(state, folder, turn, onBegun))) return
    } catch (error) {
      if (isStale(state, turn)) return
      await restore(state)
      const reason =
        error instanceof FolderError ? error.message : `could not be checked: ${messageOf(error)}`
      state.latest = { digest: null, id: null, version: null, state: 'ghost', reason }
    } finally {
      checking -= 1
    }
    reroute()
    for (const row of rows(state)) onChange(row)
  }

  async function look(directory: string): Promise<Look> {
    const state = states.get(directory) ?? {
      directory,
      current: null,
      latest: { digest: null, id: null, version: null, state: 'checking', reason: null },
      turn: 0,
    }
    states.set(directory, state)
    const begun = Promise.withResolvers<void>()
    const checked = check(state, begun.resolve)
    await Promise.race([begun.promise, checked])
    return { checked }
  }

  return {
    find: (id) => routes.get(normalizeId(id)) ?? null,
    async byDigest(id, digest) {
      const kept = seen.get(digest) ?? (await fromStore(digest))
      return kept && kept.key === normalizeId(id) ? kept : null
    },
    ids: () => [...routes.values()].map(({ id }) => id).sort(),
    list: () =>
      [...states.values()]
        .flatMap(rows)
        .sort((a, b) => ((a.id ?? a.folder ?? '') < (b.id ?? b.folder ?? '') ? -1 : 1)),
    look,
    refresh: async (directory) => (await look(directory)).checked,
    remove(directory) {
      const state = states.get(directory)
      if (!state) return
      states.delete(directory)
      leave(state)
      reroute()
      // A note that stays does no harm: it is only read for an existing folder.
      store.setLastGood(directory, null).catch(() => undefined)
      for (const row of rows(state))
        onChange({ ...row, serving: false, reason: 'the folder is gone' })
    },
    get checking() {
      return checking
    },
  }
}

const takenBy = (id: string, { id: taken, version }: Version): string =>
  `the id ${id} is taken by ${taken} ${version}; "-" and "_" are one spelling`

/** Row of a folder that was not inspected. Only its content is known. */
const offRow = ({ digest }: Folder): State['latest'] => ({
  digest,
  id: null,
  version: null,
  state: 'ghost',
  reason: 'drop-in connectors are off; start with KEYWAY_DROP_IN=open or closed to serve it',
})
