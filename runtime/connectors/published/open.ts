/** Opens a registry: its index is verified, and its packages are checked against the index. */
import { setTimeout as pause } from 'node:timers/promises'
import { normalizeId } from '../../contract/connector/manifest.ts'
import { MAX_PACKED_BYTES, type Package, PackageError } from '../packages/format.ts'
import { readPackage } from '../packages/read.ts'
import { type KnownPublisher, trustOf } from '../packages/sign.ts'
import {
  INDEX_FILE,
  INDEX_SIGNATURE,
  MAX_INDEX_BYTES,
  MAX_INDEX_SIGNATURE_BYTES,
  type PublishedConnector,
  type PublishedVersion,
  packageFile,
  readIndex,
  type SignedIndex,
} from './form.ts'
import { requireFresh } from './rules.ts'
import { type Source, SourceError, spelled } from './source.ts'

/**
 * `sources` serve the packages of the index: first the one the index was read from, then the named ones, then
 * its mirrors. `publishers` may have signed the packages.
 */
export type Opened = SignedIndex & {
  source: Source
  sources: readonly Source[]
  publishers: readonly KnownPublisher[]
}

/** A package of a registry, with its own signature if it has one. */
export type Fetched = { packed: Buffer; signature: Buffer | null }

/** Maximum number of addresses asked for an index, since mirrors may name mirrors. */
const MAX_ASKED = 20
/** Time after which only addresses named by the operator are asked, in milliseconds. */
const ASKING_MS = 15_000
/**
 * Pause before an index whose signature does not match is read again, in milliseconds. It may just be being
 * published.
 */
const AGAIN_MS = 300

/**
 * Opens the first registry whose index is signed by a trusted key, has not expired and is not older than one
 * seen before. From an outdated but signed index only the mirrors are used; they are asked after the
 * addresses that the operator named.
 *
 * @param sources addresses of one registry and its mirrors
 * @param seen records the index for all named addresses and the one it was read from; throws PackageError for
 * an older one
 * @throws PackageError with the reason for each registry
 */
export async function openRegistry(
  sources: readonly Source[],
  publishers: readonly KnownPublisher[],
  seen: (signed: SignedIndex, registries: string[]) => Promise<void>,
): Promise<Opened> {
  const reasons = new Map<string, string>()
  const waiting = [...sources]
  const endMs = performance.now() + ASKING_MS
  for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
    if (reasons.has(source.address) || reasons.size >= MAX_ASKED) continue
    if (performance.now() > endMs && !sources.includes(source)) {
      reasons.set(source.address, 'not asked: the others took too long')
      continue
    }
    let signed: SignedIndex | null = null
    try {
      signed = await readSigned(source, publishers)
      requireFresh(signed.index, new Date())
      const registries = [...sources, source].map((one) => spelled(one.address))
      await seen(signed, [...new Set(registries)])
      const all = [source, ...sources, ...mirrorsOf(source, signed)]
      return { ...signed, source, sources: all, publishers }
    } catch (error) {
      reasons.set(source.address, reasonOf(error))
      if (signed !== null) waiting.push(...mirrorsOf(source, signed))
    }
  }
  throw new PackageError([...reasons].map(([address, why]) => `${address}: ${why}`).join('\n'))
}

/** Reads and verifies an index. @throws SourceError, PackageError */
async function readSigned(
  source: Source,
  publishers: readonly KnownPublisher[],
): Promise<SignedIndex> {
  const read = async () => ({
    text: (await source.read(INDEX_FILE, MAX_INDEX_BYTES)).toString('utf8'),
    signature: (await source.read(INDEX_SIGNATURE, MAX_INDEX_SIGNATURE_BYTES)).toString('utf8'),
  })
  const first = await read()
  try {
    return readIndex(first.text, first.signature, publishers)
  } catch (error) {
    // A publication replaces two files.
    await pause(AGAIN_MS)
    const { text, signature } = await read()
    if (text === first.text && signature === first.signature) throw error
    return readIndex(text, signature, publishers)
  }
}

const mirrorsOf = (source: Source, { index }: SignedIndex): Source[] =>
  index.mirrors.flatMap((address) => source.mirror(address) ?? [])

/** Describes a SourceError or PackageError. @throws any other error */
function reasonOf(error: unknown): string {
  if (error instanceof SourceError || error instanceof PackageError) return error.message
  throw error
}

type Published = { connector: PublishedConnector; version: PublishedVersion }

/**
 * Fetches the package of a version and checks it against the index by digest, wherever it comes from. Its own
 * signature determines the owner of the connector. The index does not name that key, and a mirror can replace
 * the file, so the key must belong to a trusted publisher.
 *
 * @throws PackageError with the reason for each address
 */
export async function fetchPackage(
  published: Published,
  { sources, publishers }: Pick<Opened, 'sources' | 'publishers'>,
): Promise<Fetched> {
  const { connector, version } = published
  const file = packageFile(connector.id, version)
  const { packed, read } = await firstOf(sources, async (source) => {
    const found = await source.read(file, Math.min(version.bytes, MAX_PACKED_BYTES))
    return { packed: found, read: await readAs(published, file, found) }
  })
  if (!version.signed) return { packed, signature: null }
  const signature = await firstOf(sources, async (source) => {
    const found = await source.read(`${file}.sig`, MAX_INDEX_SIGNATURE_BYTES)
    const trust = trustOf(read, found.toString('utf8'), publishers)
    if (trust.state === 'invalid') throw new PackageError(`${file}.sig: ${trust.why}`)
    if (trust.state === 'trusted') return found
    throw new PackageError(
      `${file} is signed by the key ${trust.key}, which is not trusted: use another mirror, or ask its publisher for the public key, then: keyway trust KEY.pub --name PUBLISHER`,
    )
  })
  return { packed, signature }
}

/** Reads a package. @throws PackageError if it does not match the index */
async function readAs(
  { connector, version }: Published,
  file: string,
  packed: Buffer,
): Promise<Package> {
  const read = await readPackage(packed).catch((error: unknown) => {
    if (!(error instanceof PackageError)) throw error
    throw new PackageError(`${file} is damaged: ${error.message}; use another mirror`)
  })
  if (read.digest !== version.digest)
    throw new PackageError(`${file} is not the package that the index names; ask its publisher`)
  const { id, version: own } = read.digests
  if (normalizeId(id) !== normalizeId(connector.id) || own !== version.version)
    throw new PackageError(
      `${file} is ${id} ${own}, and the index lists it as ${connector.id} ${version.version}; ask its publisher`,
    )
  return read
}

async function firstOf<T>(
  sources: readonly Source[],
  read: (source: Source) => Promise<T>,
): Promise<T> {
  const reasons = new Map<string, string>()
  for (const source of sources) {
    if (reasons.has(source.address)) continue
    try {
      return await read(source)
    } catch (error) {
      reasons.set(source.address, reasonOf(error))
    }
  }
  throw new PackageError([...reasons].map(([address, why]) => `${address}: ${why}`).join('\n'))
}
