/**
 * Which connectors there are, in which state, and which version a call goes to. Folders come in
 * through `refresh`; what leaves is an immutable routing table that is swapped whole.
 *
 * One bad folder never stops the others: it is a ghost, listed with its reason, and what it served
 * before goes on being served.
 */
import { createCache } from '../../bounded/cache.ts'
import { type Manifest, normalizeId } from '../../contract/connector/manifest.ts'
import { messageOf } from '../../contract/errors/thrown.ts'
import { type ClearGrants, wantsClear } from './clear-grants.ts'
import { type Folder, FolderError, readFolder } from './folder.ts'
import type { Inspector } from './inspect.ts'
import { createJudge } from './judge.ts'
import type { Store, StoredVerdict } from './store.ts'
import { createVersion, type Version } from './version.ts'
import { widening } from './widening.ts'

/** A row of `GET /operator/connectors`. */
export type RegistryListing = {
  id: string | null
  version: string | null
  digest: string | null
  source: 'built-in' | 'drop-in' | 'installed'
  state: 'checking' | 'ready' | 'ghost' | 'disabled'
  reason: string | null
  serving: boolean
  /** Where it lies; null for what is installed. */
  folder: string | null
}

export type DropIn = 'open' | 'closed' | 'off'

type RegistryOptions = {
  inspector: Inspector
  store: Store
  /** Digests of the connectors that the runtime ships. */
  builtIn: ReadonlySet<string>
  dropIn: DropIn
  /** From `parseClearGrants`. */
  clearGrants: ClearGrants
  /** Told of every change of what is served, for the log. */
  onChange(listing: RegistryListing): void
  /** A version is no longer routed to. */
  onRetired(version: Version): void
}

export type Registry = {
  /** The version that serves this id, in either spelling. */
  find(id: string): Version | null
  /** A version by its digest, also one that is no longer routed to, while it is kept. */
  byDigest(id: string, digest: string): Promise<Version | null>
  /** Ids of everything served, sorted. */
  ids(): string[]
  list(): RegistryListing[]
  /** Reads a folder again; resolves when its verdict is known, or its check has begun. */
  look(directory: string): Promise<Look>
  /** Reads a folder again; resolves when it is served or a ghost. */
  refresh(directory: string): Promise<void>
  /** The folder is gone. */
  remove(directory: string): void
  /** How many folders are being checked. */
  readonly checking: number
}

/** `checked` resolves when the folder is served or a ghost. */
type Look = { checked: Promise<void> }

type State = {
  directory: string
  /** What is served from this folder. */
  current: Version | null
  latest: {
    digest: string | null
    id: string | null
    version: string | null
    state: RegistryListing['state']
    reason: string | null
  }
  /** Counts refreshes: only the newest one's verdict counts. */
  turn: number
}

/** What a version takes in memory without its manifest's text, in bytes. */
const VERSION_BYTES = 4096

export function createRegistry(options: RegistryOptions): Registry {
  const { inspector, store, builtIn, dropIn, clearGrants, onChange, onRetired } = options
  const states = new Map<string, State>()
  let routes: ReadonlyMap<string, Version> = new Map()
  let conflicts: ReadonlyMap<string, string> = new Map()
  /** Folders by the key that they want to serve. */
  const claims = new Map<string, Set<State>>()
  /** Keys, and folders that left one, since the routes were made. */
  const touched = new Set<string>()
  const freed = new Set<string>()
  // The store brings one back that is asked for.
  const seen = createCache<Version>('versions', {
    bytesOf: ({ manifest }) => VERSION_BYTES + 2 * JSON.stringify(manifest).length,
    isBusy: (version) => routes.get(version.key) === version,
  })
  const judge = createJudge(inspector, store)
  let checking = 0

  /** Changes what a folder serves; the routes know with the next `reroute`. */
  function serve(state: State, version: Version): void {
    leave(state)
    state.current = version
    touched.add(version.key)
    claims.set(version.key, (claims.get(version.key) ?? new Set()).add(state))
  }

  /** The folder claims nothing any more. */
  function leave({ current, directory }: State): void {
    freed.add(directory)
    if (!current) return
    touched.add(current.key)
    for (const one of claims.get(current.key) ?? [])
      if (one.directory === directory) claims.get(current.key)?.delete(one)
  }

  /**
   * Routes the ids that were touched again; of two folders with one id, the first by name keeps it. The
   * others stay as they are: with a thousand connectors, each that comes would sort them all.
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

  /** Built-in ones first, then the one that serves already, then by folder. */
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

  /** A kept manifest, unless what it was granted before is not granted any more. */
  async function permitted(digest: string): Promise<Manifest | null> {
    const manifest = await store.manifest(digest)
    return manifest && wantsClear(clearGrants, manifest) === null ? manifest : null
  }

  /** Whether a folder with this content is not for this host at all. */
  const isOff = (digest: string): boolean => dropIn === 'off' && !builtIn.has(digest)

  /** What was last good in this folder before the process started, if it is still kept. */
  async function restore(state: State): Promise<void> {
    if (state.current) return
    const digest = await store.lastGood(state.directory)
    if (digest === null || isOff(digest)) return
    const manifest = await permitted(digest)
    if (manifest) serve(state, keep(manifest, digest))
  }

  const isStale = (state: State, turn: number): boolean =>
    state.turn !== turn || states.get(state.directory) !== state

  /** The verdict that is kept, or a new one; while that is made, what was last good is served. */
  async function verdictOn(
    state: State,
    folder: Folder,
    turn: number,
    onBegun: () => void,
  ): Promise<StoredVerdict> {
    const known = await store.find(folder.digest)
    if (known) return known
    const made = judge(folder)
    // Told at the end, where it is awaited: restoring may fail meanwhile.
    made.catch(() => undefined)
    await restore(state)
    if (!isStale(state, turn)) reroute()
    onBegun()
    return made
  }

  async function settle(state: State, folder: Folder, turn: number, onBegun: () => void) {
    const verdict = await verdictOn(state, folder, turn, onBegun)
    if (isStale(state, turn)) return
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
      return
    }
    const { manifest } = verdict
    const latest = { digest: folder.digest, id: manifest.id, version: manifest.version }
    const reason =
      (await refusal(state, manifest, folder.digest)) ?? wantsClear(clearGrants, manifest)
    if (reason !== null) {
      await restore(state)
      state.latest = { ...latest, state: 'ghost', reason }
      return
    }
    serve(state, keep(manifest, folder.digest))
    state.latest = { ...latest, state: 'ready', reason: null }
    // Before anything is waited for: nobody may see a folder that is ready and not served.
    reroute()
    await store.setLastGood(state.directory, folder.digest)
  }

  /** Why a good edit is not taken over, or null. What was served before goes on then. */
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

  /** Reads a folder and settles what it is; `onBegun` is told when that needs a check. */
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
      else await settle(state, folder, turn, onBegun)
    } catch (error) {
      if (state.turn !== turn) return
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
      // A note that stays behind does no harm: it is only read for a folder that is there.
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

/** A folder that was not even looked into: only its content is known. */
const offRow = ({ digest }: Folder): State['latest'] => ({
  digest,
  id: null,
  version: null,
  state: 'ghost',
  reason: 'drop-in connectors are off; start with KEYWAY_DROP_IN=open or closed to serve it',
})
