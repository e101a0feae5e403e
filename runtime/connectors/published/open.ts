/** A registry that was opened: its index is believed, and its packages are those that the index names. */
import { MAX_PACKED_BYTES, PackageError } from '../packages/format.ts'
import { readPackage } from '../packages/read.ts'
import type { KnownPublisher } from '../packages/sign.ts'
import {
  INDEX_FILE,
  INDEX_SIGNATURE,
  MAX_INDEX_BYTES,
  MAX_SIGNATURE_BYTES,
  type PublishedConnector,
  type PublishedVersion,
  packageFile,
  readIndex,
  type SignedIndex,
} from './form.ts'
import { demandFresh } from './rules.ts'
import { type Source, SourceError } from './source.ts'

export type Opened = SignedIndex & { source: Source }

/** A package of a registry, with its own signature if it has one. */
export type Fetched = { packed: Buffer; signature: Buffer | null }

/**
 * The first registry whose index is signed by a trusted key, has not expired and is not older than one that was seen.
 *
 * @param seen Remembers it; throws PackageError for an older one.
 * @throws PackageError with why, registry by registry
 */
export async function openRegistry(
  sources: readonly Source[],
  publishers: readonly KnownPublisher[],
  seen: (signed: SignedIndex) => Promise<void>,
): Promise<Opened> {
  const told: string[] = []
  for (const source of sources) {
    try {
      const text = (await source.read(INDEX_FILE, MAX_INDEX_BYTES)).toString('utf8')
      const signature = await source.read(INDEX_SIGNATURE, MAX_SIGNATURE_BYTES)
      const signed = readIndex(text, signature.toString('utf8'), publishers)
      demandFresh(signed.index, null, new Date())
      await seen(signed)
      return { ...signed, source }
    } catch (error) {
      if (!(error instanceof SourceError || error instanceof PackageError)) throw error
      told.push(`${source.address}: ${error.message}`)
    }
  }
  throw new PackageError(told.join('\n'))
}

/**
 * The package of a version, checked against the index.
 *
 * @param sources The registry that gave the index first, then its mirrors: the digest says whether it is the same.
 * @throws PackageError
 */
export async function fetchPackage(
  { connector, version }: { connector: PublishedConnector; version: PublishedVersion },
  sources: readonly Source[],
): Promise<Fetched> {
  const file = packageFile(connector.id, version)
  const packed = await firstOf(sources, file, version.bytes)
  const { digest } = await readPackage(packed)
  if (digest !== version.digest)
    throw new PackageError(
      `${file} is not the package that the index names; use another mirror, or ask its publisher`,
    )
  const signature = version.signed
    ? await firstOf(sources, `${file}.sig`, MAX_SIGNATURE_BYTES)
    : null
  return { packed, signature }
}

async function firstOf(
  sources: readonly Source[],
  file: string,
  maxBytes: number,
): Promise<Buffer> {
  const told = new Map<string, string>()
  for (const source of sources) {
    if (told.has(source.address)) continue
    try {
      return await source.read(file, Math.min(maxBytes, MAX_PACKED_BYTES))
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      told.set(source.address, error.message)
    }
  }
  throw new PackageError([...told.values()].join('\n'))
}
