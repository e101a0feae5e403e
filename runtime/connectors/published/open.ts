/** A registry that was opened: its index is believed, and its packages are those that the index names. */
import { MAX_PACKED_BYTES, PackageError } from '../packages/format.ts'
import { readPackage } from '../packages/read.ts'
import type { KnownPublisher } from '../packages/sign.ts'
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
import { type Source, SourceError } from './source.ts'

/** `sources` has all packages of the index: where it was found first, then what was named, then its mirrors. */
export type Opened = SignedIndex & { source: Source; sources: readonly Source[] }

/** A package of a registry, with its own signature if it has one. */
export type Fetched = { packed: Buffer; signature: Buffer | null }

/** Most addresses that are asked for an index: mirrors may name mirrors. */
const MAX_ASKED = 20

/**
 * The first registry whose index is signed by a trusted key, has not expired and is not older than one that was seen. An
 * index that is signed, but too old, is believed as far as its mirrors: they are asked behind what the operator named.
 *
 * @param seen Remembers it; throws PackageError for an older one.
 * @throws PackageError with why, registry by registry
 */
export async function openRegistry(
  sources: readonly Source[],
  publishers: readonly KnownPublisher[],
  seen: (signed: SignedIndex) => Promise<void>,
): Promise<Opened> {
  const told = new Map<string, string>()
  const waiting = [...sources]
  for (let source = waiting.shift(); source !== undefined; source = waiting.shift()) {
    if (told.has(source.address) || told.size >= MAX_ASKED) continue
    let signed: SignedIndex | null = null
    try {
      const text = (await source.read(INDEX_FILE, MAX_INDEX_BYTES)).toString('utf8')
      const signature = await source.read(INDEX_SIGNATURE, MAX_INDEX_SIGNATURE_BYTES)
      signed = readIndex(text, signature.toString('utf8'), publishers)
      demandFresh(signed.index, null, new Date())
      await seen(signed)
      return { ...signed, source, sources: [source, ...sources, ...mirrorsOf(source, signed)] }
    } catch (error) {
      told.set(source.address, whyNot(error))
      if (signed !== null) waiting.push(...mirrorsOf(source, signed))
    }
  }
  throw new PackageError([...told].map(([address, why]) => `${address}: ${why}`).join('\n'))
}

const mirrorsOf = (source: Source, { index }: SignedIndex): Source[] =>
  index.mirrors.flatMap((address) => source.mirror(address) ?? [])

/** @throws what is neither of them */
function whyNot(error: unknown): string {
  if (error instanceof SourceError || error instanceof PackageError) return error.message
  throw error
}

/**
 * The package of a version, checked against the index: the digest says whether it is the same, wherever it lies.
 *
 * @throws PackageError with why, address by address
 */
export async function fetchPackage(
  { connector, version }: { connector: PublishedConnector; version: PublishedVersion },
  sources: readonly Source[],
): Promise<Fetched> {
  const file = packageFile(connector.id, version)
  const packed = await firstOf(sources, async (source) => {
    const found = await source.read(file, Math.min(version.bytes, MAX_PACKED_BYTES))
    const { digest } = await readPackage(found)
    if (digest === version.digest) return found
    throw new PackageError(`${file} is not the package that the index names; ask its publisher`)
  })
  const signature = version.signed
    ? await firstOf(sources, (source) => source.read(`${file}.sig`, MAX_INDEX_SIGNATURE_BYTES))
    : null
  return { packed, signature }
}

async function firstOf(
  sources: readonly Source[],
  read: (source: Source) => Promise<Buffer>,
): Promise<Buffer> {
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
