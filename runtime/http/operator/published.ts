/**
 * Contents of a registry, and packages fetched from it. Only the registries of KEYWAY_REGISTRY and their
 * mirrors are reached.
 */
import { newest } from '../../connectors/lifecycle/generations.ts'
import type { UploadedPackage } from '../../connectors/lifecycle/packages.ts'
import { seeIndex } from '../../connectors/lifecycle/published-indexes.ts'
import { PackageError } from '../../connectors/packages/format.ts'
import type { PublishedConnector, SignedIndex } from '../../connectors/published/form.ts'
import { fetchPackage, type Opened, openRegistry } from '../../connectors/published/open.ts'
import { outdatedHere } from '../../connectors/published/outdated.ts'
import {
  isRunnable,
  newestHere,
  type Outdated,
  parseName,
  pick,
  searched,
} from '../../connectors/published/rules.ts'
import { sourceOf } from '../../connectors/published/source.ts'
import { normalizeId } from '../../contract/connector/manifest.ts'
import { MAX_VERSIONS_SHOWN, type Published } from '../../contract/endpoints/published-indexes.ts'
import { CoreError, conflict } from '../../contract/errors/problem.ts'
import type { Operating } from './handler.ts'
import { uploadedOf } from './package-upload.ts'

/**
 * Longest time to fetch one file, in milliseconds. People wait for a page with the index; a package is also
 * checked.
 */
const INDEX_MS = 5000
const PACKAGE_MS = 30_000

type Asking = { search: string | null; outdated: boolean; limit: number; page: number }

/** Lists published connectors. @throws CoreError `conflict` if no registry can be used */
export async function listPublished(op: Operating, { search, outdated, limit, page }: Asking) {
  const registry = await opened(op, INDEX_MS)
  const { index, publisher, source } = registry
  const served = op
    .listConnectors()
    .flatMap(({ id, version, digest }) =>
      id === null || version === null ? [] : [{ id, version, digest }],
    )
  const { statement } = await newest(op.db, op.actor.domainId)
  const here = { statement, onlyTrusted: op.policy === 'trusted' }
  const old = new Map(
    (await outdatedHere(registry, served, here)).map((one) => [normalizeId(one.id), one]),
  )
  const installed = new Map(served.map(({ id, version }) => [normalizeId(id), version]))
  const words = (search ?? '').split(/\s+/).filter((word) => word !== '')
  const found = searched(index, words).filter(({ id }) => !outdated || old.has(normalizeId(id)))
  return {
    ...{ registry: source.address, publisher, total: found.length },
    ...{ published_at: index.published_at, expires_at: index.expires_at },
    items: found.slice((page - 1) * limit, page * limit).map((one) => {
      const id = normalizeId(one.id)
      return toPublished(one, installed.get(id) ?? null, old.get(id))
    }),
  }
}

const toPublished = (
  { id, name, description, versions }: PublishedConnector,
  installed: string | null,
  old: Outdated | undefined,
): Published => ({
  ...{ id, name, description, installed, withdrawn: old?.withdrawn ?? null },
  outdated: (old?.newest ?? null) !== null,
  newest: newestHere(versions)?.version ?? null,
  versions: versions.slice(0, MAX_VERSIONS_SHOWN).map((one) => ({
    ...{ version: one.version, digest: one.digest, signed: one.signed },
    ...{ runs_here: isRunnable(one), withdrawn: one.withdrawn ?? null },
  })),
})

/**
 * Fetches the package for a name such as `acme@^1`.
 *
 * @throws CoreError `conflict` if no registry can be used; PackageError; RuntimeError `input_invalid`
 */
export async function fetchPublished(op: Operating, name: string): Promise<UploadedPackage> {
  const wish = parseName(name)
  if (wish === null)
    throw new PackageError(
      `${JSON.stringify(name)} is not a connector name; write acme, acme@1.2.0 or acme@^1`,
    )
  const registry = await opened(op, PACKAGE_MS)
  const { packed, signature } = await fetchPackage(pick(registry.index, wish), registry)
  return uploadedOf(packed, signature?.toString('utf8') ?? null)
}

/** Opens the first usable registry. @throws CoreError `conflict` if there is none */
async function opened(op: Operating, patienceMs: number): Promise<Opened> {
  const { db, actor, registries } = op
  if (registries.length === 0)
    throw conflict(
      'No registry is configured: set KEYWAY_REGISTRY to an https:// address or a folder, and restart the host',
    )
  const { publishers } = (await newest(db, actor.domainId)).statement
  const seen = ({ key, index: { version } }: SignedIndex, addresses: string[]) =>
    seeIndex(op, { key, version, registries: addresses }).then(
      () => undefined,
      (error: unknown) => {
        throw error instanceof CoreError ? new PackageError(error.message) : error
      },
    )
  try {
    const sources = registries.map((one) => sourceOf(one, patienceMs))
    return await openRegistry(sources, publishers, seen)
  } catch (error) {
    if (!(error instanceof PackageError)) throw error
    throw conflict(`No registry can be used: ${error.message}`)
  }
}
