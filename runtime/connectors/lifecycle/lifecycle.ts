/**
 * Installed connectors of this host: follows the newest generation, stores its packages, and lets operators
 * create the next one. It uses the database and the registry. Checking a package and calling a version are
 * passed in.
 */
import path from 'node:path'
import type { Manifest } from '../../contract/connector/manifest.ts'
import type { Want } from '../../contract/endpoints/generation.ts'
import type { PackageFinding } from '../../contract/endpoints/operator.ts'
import type { Doer } from '../../core/kernel/audit/activity.ts'
import type { Db } from '../../database/database.ts'
import type { Sealer } from '../../secrets/seal.ts'
import { fileOf } from '../packages/file-of.ts'
import type { Package } from '../packages/format.ts'
import { readPackage } from '../packages/read.ts'
import type { CheckEgress } from '../registry/check-egress.ts'
import { checkManifest } from '../registry/check-manifest.ts'
import { createInstalled, type Installed, type KeptPackage } from '../registry/installed.ts'
import { logoOf } from '../registry/logo.ts'
import type { Registry } from '../registry/registry.ts'
import { restrict } from '../registry/requested-grant.ts'
import type { Store } from '../registry/store.ts'
import { createVersion, type Version } from '../registry/version.ts'
import { type CallMinutes, createCallMinutes } from './call-minutes.ts'
import { createRecentCalls, type ListOthers, type RecentCalls } from './calls.ts'
import { brokenApps } from './dependents.ts'
import { type Follower, follow } from './follow.ts'
import { keepLastKnown, readLastKnown } from './last-known.ts'
import type { InstallPolicy, OperateDeps } from './operating.ts'
import { packedOf } from './packages.ts'
import { type Probe, probeOf } from './probes.ts'

type LifecycleDeps = {
  dataDir: string
  folders: Registry
  /** Stores packages on this host's disk. */
  store: Store
  /** Null for a host without a database. */
  database: {
    db(): Db | null
    domainId(): string | null
    listen(channel: string, hear: () => void): () => Promise<void>
    now(): number
    first: Promise<void>
  } | null
  policy: InstallPolicy
  vault: Sealer
  checkEgress: CheckEgress
  checkPackage(one: Package): Promise<{ findings: PackageFinding[]; manifest: Manifest | null }>
  /** Smoke test: calls a version before it serves. @returns what went wrong, as text */
  tryOut(version: Version, probe: Probe | null): Promise<string | null>
  /** For this and `onTaken` see the registry of installed connectors. */
  onRetired(version: Version): void
  onTaken(manifestNow: Installed['manifestNow']): void
  onError(error: unknown): void
  tell(text: string): void
  /** Asks the other processes of this host for their latest calls. */
  listOtherCalls?: ListOthers
}

export type Lifecycle = {
  registry: Installed
  calls: RecentCalls
  minutes: CallMinutes
  generation(): number
  /** Like the registry's, but if it does not know the digest, looks for a newer generation first. */
  byDigest: Registry['byDigest']
  /** Resolves when the newest generation is served, after the database is available. */
  ready: Promise<void>
  /** Returns the dependencies of an operator's operation. */
  operate(db: Db, actor: Doer, email: string): OperateDeps
  /** Applies the newest generation on this host now. */
  catchUp(): Promise<void>
  stop(): Promise<void>
}

/** Generation number before the database has been asked. */
const NOT_ASKED = -1

/** Serves what was installed last, and follows newer generations from there. */
export async function createLifecycle(deps: LifecycleDeps): Promise<Lifecycle> {
  const { dataDir, store, database, vault, onError } = deps
  const directory = path.join(dataDir, 'installed')
  const { folders, onRetired, onTaken } = deps
  const registry = createInstalled({ folders, kept, onRetired, onTaken })

  /** Reads a package from this host's disk, else from the database. */
  async function kept(digest: string): Promise<KeptPackage> {
    const known = await store.manifest(digest)
    if (known) return { manifest: known, readCode: () => store.code(digest) }
    const db = database?.db()
    const domainId = database?.domainId()
    if (!db || !domainId)
      throw new Error('its package is not on this host yet, and the database is away')
    const packed = await packedOf(db, domainId, digest)
    if (!packed) throw new Error('its package is not in the database; install it again')
    const manifest = await unpack(digest, packed)
    return { manifest, readCode: () => store.code(digest) }
  }

  async function unpack(digest: string, packed: Buffer): Promise<Manifest> {
    const one = await readPackage(packed)
    if (one.digest !== digest) throw new Error('its package in the database is another one')
    const { files } = one
    const text = fileOf(files, 'connector.json').toString('utf8')
    const checked = checkManifest(text, deps.checkEgress)
    if (!checked.ok) throw new Error(checked.findings.join('; '))
    const { manifest } = checked
    const logo = logoOf(manifest, { files: new Map(files) })
    await store.keep(digest, {
      ok: true,
      manifest,
      code: fileOf(files, 'code.js').toString('utf8'),
      map: files.get('code.js.map')?.toString('utf8') ?? null,
      logo: logo.ok ? logo.url : null,
    })
    return manifest
  }

  async function tryOut(digest: string, grants: readonly Want[], probe: Probe | null) {
    const { manifest, readCode } = await kept(digest)
    const version = createVersion(restrict(manifest, grants), digest, 'stranger', readCode)
    return deps.tryOut(version, probe)
  }

  const last = await readLastKnown(directory)
  let problems = await registry.take(last.statement)
  for (const problem of problems) deps.tell(problem)
  /** Number of the generation on disk. */
  let onDisk = -1

  let follower: Follower | null = null
  let stopped = false

  async function begin(): Promise<void> {
    await database?.first
    const domain = database?.domainId()
    if (!database || !domain || stopped) return
    // Apply it in any case: the database may be another or a restored one, and a package may have been lost.
    const served = { number: NOT_ASKED, statement: last.statement }
    follower = follow(
      {
        db: database.db,
        domainId: () => domain,
        keyIds: vault.keyIds,
        listen: database.listen,
        async apply(stated) {
          const found = await registry.take(stated.statement)
          for (const problem of found) if (!problems.includes(problem)) deps.tell(problem)
          problems = found
          // It is served all the same: the disk may be full, and the next start asks the database.
          if (onDisk !== stated.number)
            await keepLastKnown(directory, { ...stated, domain }).then(() => {
              onDisk = stated.number
            }, onError)
          return found
        },
        onError,
      },
      served,
    )
    await follower.catchUp()
  }

  const ready = begin().catch(onError)
  const minutes = createCallMinutes({
    place() {
      const [db, domainId] = [database?.db(), database?.domainId()]
      return db && domainId ? { db, domainId } : null
    },
    now: () => database?.now() ?? Date.now(),
    onError,
  })
  return {
    registry,
    calls: createRecentCalls(deps.listOtherCalls),
    minutes,
    generation() {
      const served = follower?.generation() ?? NOT_ASKED
      return served === NOT_ASKED ? last.number : served
    },
    ready,
    async byDigest(id, digest) {
      const known = await registry.byDigest(id, digest)
      if (known || !follower) return known
      // Another host may have started a page sequence on a newer generation.
      await follower.catchUp()
      return registry.byDigest(id, digest)
    },
    operate: (db, actor, email) => ({
      db,
      actor,
      email,
      policy: deps.policy,
      check: deps.checkPackage,
      manifestOf: async (digest) => (await kept(digest)).manifest,
      tryOut,
      probeOf: (id) => probeOf(db, vault, actor.domainId, id),
      brokenApps: (id, manifest, findings) =>
        brokenApps(db, vault, actor.domainId, { id, manifest, findings }),
    }),
    catchUp: async () => follower?.catchUp(),
    async stop() {
      // Not `ready`: the host would wait for a database that never became available.
      stopped = true
      await Promise.all([follower?.stop(), minutes.stop()])
    },
  }
}
