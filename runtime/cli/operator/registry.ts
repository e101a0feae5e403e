/** `keyway search` and `outdated`, and a package of a registry for `keyway install NAME@RANGE`. */
import { readFile } from 'node:fs/promises'
import { ConfigError, readConfig } from '../../config.ts'
import { MAX_PACKED_BYTES, PackageError } from '../../connectors/packages/format.ts'
import { readPackage } from '../../connectors/packages/read.ts'
import { type Publisher, readPublicKey } from '../../connectors/packages/sign.ts'
import {
  INDEX_FILE,
  INDEX_SIGNATURE,
  MAX_INDEX_BYTES,
  MAX_SIGNATURE_BYTES,
  packageFile,
  readIndex,
  type SignedIndex,
} from '../../connectors/published/form.ts'
import {
  demandFresh,
  isRunnable,
  type Outdated,
  outdatedOf,
  parseName,
  pick,
  searched,
} from '../../connectors/published/rules.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { ask, print } from './change.ts'
import { RefusedError, UNUSED } from './client.ts'
import { type Source, SourceError, sourceOf } from './registry-source.ts'

export type RegistryFlags = ReadFlags & { registry?: string[] }

type Opened = SignedIndex & { source: Source }

/** A package of a registry, with its own signature if it has one. */
export type Fetched = { packed: Buffer; signature: Buffer | null }

/** The addresses that the operator named: nothing else is ever reached. */
const addressesOf = ({ registry }: RegistryFlags): readonly string[] =>
  registry ?? readConfig({ ...process.env, ...UNUSED }).registries

/** @throws ConfigError for none */
function sourcesOf(flags: RegistryFlags): Source[] {
  const named = addressesOf(flags)
  if (named.length > 0) return named.map(sourceOf)
  throw new ConfigError(
    'no registry is named: say --registry https://..., or a folder, or set KEYWAY_REGISTRY',
  )
}

/**
 * The first registry whose index is signed by a trusted key, has not expired and is not older than one that was seen.
 *
 * @param seen Remembers it; refuses an older one.
 * @throws ConfigError with why, registry by registry
 */
async function openRegistry(
  sources: readonly Source[],
  publishers: readonly Publisher[],
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
      const isOurs =
        error instanceof SourceError ||
        error instanceof PackageError ||
        error instanceof RefusedError
      if (!isOurs) throw error
      told.push(`${source.address}: ${error.message}`)
    }
  }
  throw new ConfigError(told.join('\n'))
}

/** By the publishers that the host trusts, and its memory of what it has seen. */
async function trustedRegistry(flags: RegistryFlags): Promise<Opened> {
  const sources = sourcesOf(flags)
  const path = '/operator/publishers'
  const { items } = await ask<{ items: Publisher[] }>(flags, { method: 'GET', path })
  return openRegistry(sources, items, async ({ key, index: { version } }) => {
    await ask(flags, {
      ...{ method: 'POST', path: '/operator/published-indexes' },
      body: { key, version },
    })
  })
}

/** Without a host: by a key that the operator names. Nothing is remembered. */
async function registryOfKey(flags: RegistryFlags, keyFile: string): Promise<Opened> {
  const public_key = await readFile(keyFile, 'utf8').catch((cause: Error) => {
    throw new ConfigError(`${keyFile} cannot be read: ${cause.message}`)
  })
  const { id: key } = readPublicKey(public_key)
  const publisher = { key, name: keyFile, public_key, revoked_at: null }
  return openRegistry(sourcesOf(flags), [publisher], async () => undefined)
}

export async function search(
  words: readonly string[],
  flags: RegistryFlags & { key?: string },
): Promise<void> {
  const { index, publisher, source } = await asConfigError(() =>
    flags.key === undefined ? trustedRegistry(flags) : registryOfKey(flags, flags.key),
  )
  const found = searched(index, words)
  print(flags, { registry: source.address, publisher, connectors: found }, ({ connectors }) =>
    connectors.length === 0
      ? `Nothing of ${words.join(' ')} is published at ${source.address}.`
      : connectors
          .map(({ id, name, description, versions }) => {
            const [newest] = versions.filter(isRunnable)
            const version = newest?.version ?? `${versions[0]?.version} (does not run here)`
            return `${id} ${version}: ${name}${description === '' ? '' : `. ${description}`}`
          })
          .join('\n'),
  )
}

export async function outdated(flags: RegistryFlags): Promise<void> {
  const { index } = await asConfigError(() => trustedRegistry(flags))
  const path = '/operator/connectors'
  const { items } = await ask<{ items: { id: string | null; version: string | null }[] }>(flags, {
    ...{ method: 'GET', path },
  })
  const installed = items.flatMap(({ id, version }) =>
    id === null || version === null ? [] : [{ id, version }],
  )
  print(flags, { items: outdatedOf(index, installed) }, ({ items: old }) =>
    old.length === 0 ? 'Everything is as new as what is published.' : old.map(line).join('\n'),
  )
}

const line = ({ id, installed, newest }: Outdated): string =>
  `${id} ${installed}: ${newest} is published; keyway upgrade ${id}@${newest}`

/** The package that `acme@^1` means, checked against the index. Null where the text names none. */
export async function fromRegistry(text: string, flags: RegistryFlags): Promise<Fetched | null> {
  const wish = parseName(text)
  if (wish === null || (!text.includes('@') && addressesOf(flags).length === 0)) return null
  return asConfigError(async () => {
    const { index, source } = await trustedRegistry(flags)
    const { connector, version } = pick(index, wish)
    const file = packageFile(connector.id, version)
    // The registry that gave the index first, then its mirrors: the digest says whether it is the same.
    const others = sourcesOf(flags).filter(({ address }) => address !== source.address)
    const packed = await firstOf([source, ...others], file, version.bytes)
    const { digest } = await readPackage(packed)
    if (digest !== version.digest)
      throw new PackageError(
        `${file} is not the package that the index names; use another mirror, or ask its publisher`,
      )
    const signature = version.signed
      ? await firstOf([source, ...others], `${file}.sig`, MAX_SIGNATURE_BYTES)
      : null
    return { packed, signature }
  })
}

async function firstOf(
  sources: readonly Source[],
  file: string,
  maxBytes: number,
): Promise<Buffer> {
  const told: string[] = []
  for (const source of sources) {
    try {
      return await source.read(file, Math.min(maxBytes, MAX_PACKED_BYTES))
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      told.push(error.message)
    }
  }
  throw new ConfigError(told.join('\n'))
}

async function asConfigError<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof PackageError ? new ConfigError(error.message) : error
  }
}
