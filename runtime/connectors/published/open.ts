/** A registry that was opened: its index is believed, and its packages are those that the index names. */
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
import { demandFresh } from './rules.ts'
import { type Source, SourceError, spelled } from './source.ts'

/**
 * `sources` has all packages of the index: where it was found first, then what was named, then its mirrors. `publishers`
 * may have signed them.
 */
export type Opened = SignedIndex & {
  source: Source
  sources: readonly Source[]
  publishers: readonly KnownPublisher[]
}

/** A package of a registry, with its own signature if it has one. */
export type Fetched = { packed: Buffer; signature: Buffer | null }

/** Most addresses that are asked for an index: mirrors may name mirrors. */
const MAX_ASKED = 20
/** From so long on no mirror of an index is asked any more that the operator has not named, in milliseconds. */
const ASKING_MS = 15_000
/** Pause before an index is read once more whose signature is another's: it may be published just now. In milliseconds. */
const AGAIN_MS = 300

/**
 * The first registry whose index is signed by a trusted key, has not expired and is not older than one that was seen. An
 * index that is signed, but too old, is believed as far as its mirrors: they are asked behind what the operator named.
 *
 * @param sources One registry: its address, and those of its mirrors.
 * @param seen Remembers it, by all addresses that were named and by the one that it was read from; throws PackageError for an older one.
 * @throws PackageError with why, registry by registry
 */
export async function openRegistry(
  sources: readonly Source[],
  publishers: readonly KnownPublisher[],
  seen: (signed: SignedIndex, registries: string[]) => Promise<void>,
): Promise<Opened> {
  const told = new Map<string, string>()
  const waiting = [...sources]
  const endMs = performance.now() + ASKING_MS
  for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
    if (told.has(source.address) || told.size >= MAX_ASKED) continue
    if (performance.now() > endMs && !sources.includes(source)) {
      told.set(source.address, 'not asked: the others took too long')
      continue
    }
    let signed: SignedIndex | null = null
    try {
      signed = await readSigned(source, publishers)
      demandFresh(signed.index, new Date())
      const registries = [...sources, source].map((one) => spelled(one.address))
      await seen(signed, [...new Set(registries)])
      const all = [source, ...sources, ...mirrorsOf(source, signed)]
      return { ...signed, source, sources: all, publishers }
    } catch (error) {
      told.set(source.address, whyNot(error))
      if (signed !== null) waiting.push(...mirrorsOf(source, signed))
    }
  }
  throw new PackageError([...told].map(([address, why]) => `${address}: ${why}`).join('\n'))
}

/** @throws SourceError, PackageError */
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

/** @throws what is neither of them */
function whyNot(error: unknown): string {
  if (error instanceof SourceError || error instanceof PackageError) return error.message
  throw error
}

type Published = { connector: PublishedConnector; version: PublishedVersion }

/**
 * The package of a version, checked against the index: the digest says whether it is the same, wherever it lies. Its own
 * signature decides who owns the connector. The index does not name its key, and a mirror can replace the file: the key must
 * be one of a trusted publisher.
 *
 * @throws PackageError with why, address by address
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

/** @throws PackageError where it is not what the index says */
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
  const told = new Map<string, string>()
  for (const source of sources) {
    if (told.has(source.address)) continue
    try {
      return await read(source)
    } catch (error) {
      told.set(source.address, whyNot(error))
    }
  }
  throw new PackageError([...told].map(([address, why]) => `${address}: ${why}`).join('\n'))
}
