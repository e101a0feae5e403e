/** Verbs that read registries, and the package for `keyway install NAME@RANGE`. */
import { readFile } from 'node:fs/promises'
import { ConfigError, readConfig } from '../../config/config.ts'
import { PackageError } from '../../connectors/packages/format.ts'
import { type KnownPublisher, readPublicKey } from '../../connectors/packages/sign.ts'
import type { PublishedConnector } from '../../connectors/published/form.ts'
import {
  type Fetched,
  fetchPackage,
  type Opened,
  openRegistry,
} from '../../connectors/published/open.ts'
import { outdatedHere } from '../../connectors/published/outdated.ts'
import {
  newestHere,
  type Outdated,
  parseName,
  pick,
  searched,
  wordsOfWithdrawal,
} from '../../connectors/published/rules.ts'
import { type Source, sourceOf } from '../../connectors/published/source.ts'
import type { Statement } from '../../contract/endpoints/generation.ts'
import type { ConnectorListing } from '../../contract/models/connector-listing.ts'
import type { ReadFlags } from '../terminal/options.ts'
import { quoted } from '../terminal/quoted.ts'
import { ask, print } from './change.ts'
import { RefusedError, UNUSED } from './client.ts'

type RegistryFlags = ReadFlags & { registry?: string[] }

/** Maximum time to wait for one file, in milliseconds. */
const PATIENCE_MS = 60_000
/** Maximum number of withdrawn versions listed per connector, newest first. */
const MAX_WITHDRAWN = 5

/**
 * Returns the addresses that the operator gave. No others are contacted, except for mirrors that one of their
 * indexes names.
 */
const addressesOf = ({ registry }: RegistryFlags): readonly string[] =>
  registry ?? readConfig({ ...process.env, ...UNUSED }).registries

/** @throws ConfigError if no registry is given, PackageError for a malformed address */
function sourcesOf(flags: RegistryFlags): Source[] {
  const named = addressesOf(flags)
  if (named.length > 0) return named.map((one) => sourceOf(one, PATIENCE_MS))
  throw new ConfigError(
    'no registry is named: use --registry with an https:// address or a folder, or set KEYWAY_REGISTRY',
  )
}

/** Opens a registry whose publisher the host trusts. The host stores which index it has seen. */
async function trustedRegistry(flags: RegistryFlags): Promise<Opened> {
  const sources = sourcesOf(flags)
  const { items } = await ask<{ items: KnownPublisher[] }>(flags, '/operator/publishers')
  return openRegistry(sources, items, async ({ key, index: { version } }, registries) => {
    const body = { key, version, registries }
    await ask(flags, '/operator/published-indexes', { body }).catch((error: unknown) => {
      throw error instanceof RefusedError ? new PackageError(error.message) : error
    })
  })
}

/** Opens a registry without a host, with a key from the operator. Nothing is stored. */
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
      ? `Nothing${words.length === 0 ? '' : ` of ${words.join(' ')}`} is published at ${source.address}.`
      : connectors.map(foundLine).join('\n'),
  )
}

/** Describes a connector and its withdrawn versions. */
function foundLine({ id, name, description, versions }: PublishedConnector): string {
  const gone = versions.filter(({ withdrawn }) => withdrawn !== undefined)
  const first = versions.find((one) => !gone.includes(one))
  const version =
    newestHere(versions)?.version ??
    (first ? `${first.version} (does not run here)` : '(all versions are withdrawn)')
  const words = [name, description].map(oneLine).filter((text) => text !== '' && text !== id)
  const more = gone.length > MAX_WITHDRAWN ? [`  and ${gone.length - MAX_WITHDRAWN} more`] : []
  return [
    `${id} ${version}${words.length === 0 ? '' : `: ${words.join('. ')}`}`,
    ...gone.slice(0, MAX_WITHDRAWN).map((one) => `  ${wordsOfWithdrawal(id, one)}`),
    ...more,
  ].join('\n')
}

export async function outdated(flags: RegistryFlags): Promise<void> {
  const registry = await asConfigError(() => trustedRegistry(flags))
  const { items } = await ask<{ items: ConnectorListing[] }>(flags, '/operator/connectors')
  const installed = items.flatMap(({ id, version, digest }) =>
    id === null || version === null ? [] : [{ id, version, digest }],
  )
  const here = {
    ...(await ask<{ statement: Statement }>(flags, '/operator/generations/newest')),
    onlyTrusted: await takesOnlyTrusted(flags),
  }
  print(flags, { items: await outdatedHere(registry, installed, here) }, ({ items: old }) =>
    old.length === 0
      ? 'Everything is up to date with its publishers.'
      : old.map((one) => line(one, flags)).join('\n'),
  )
}

async function takesOnlyTrusted(flags: RegistryFlags): Promise<boolean> {
  type Settings = { items: { name: string; value: string | null }[] }
  const { items } = await ask<Settings>(flags, '/operator/settings')
  return items.find(({ name }) => name === 'KEYWAY_INSTALL')?.value === 'trusted'
}

/** Returns a publisher's text without line breaks and invisible characters. */
const oneLine = (text: string): string => text.replaceAll(/[\s\p{C}]+/gu, ' ').trim()

/** Includes the registries as given, so that the command can be copied and run. */
function line({ id, installed, newest, withdrawn }: Outdated, { registry = [] }: RegistryFlags) {
  const upgrade = [
    `keyway upgrade ${id}@${newest}`,
    ...registry.map((one) => `--registry ${quoted(one)}`),
  ].join(' ')
  if (withdrawn === undefined) return `${id} ${installed}: ${newest} is published; ${upgrade}`
  const instead =
    newest === null
      ? `no newer version is published; ask its publisher, go back with keyway rollback, or stop it: keyway disable ${id}`
      : `${newest} is published; ${upgrade}`
  return `WITHDRAWN: ${wordsOfWithdrawal(id, { version: installed, withdrawn })}, and it serves here: ${instead}`
}

/**
 * Returns the package for a name such as `acme@^1`, checked against the index. Null if the text is not a
 * name.
 */
export async function fromRegistry(text: string, flags: RegistryFlags): Promise<Fetched | null> {
  const wish = parseName(text)
  if (wish === null || (!text.includes('@') && addressesOf(flags).length === 0)) return null
  return asConfigError(async () => {
    const registry = await trustedRegistry(flags)
    return fetchPackage(pick(registry.index, wish), registry)
  })
}

async function asConfigError<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw error instanceof PackageError ? new ConfigError(error.message) : error
  }
}
