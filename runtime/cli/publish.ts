/** `keyway publish`: writes packages to a folder that any web server can serve as a registry. */

import { readFile, realpath } from 'node:fs/promises'
import path from 'node:path'
import { ConfigError } from '../config/config.ts'
import { MAX_PACKED_BYTES, type Package, PackageError } from '../connectors/packages/format.ts'
import { readPackage } from '../connectors/packages/read.ts'
import { publicPemOf, readPublicKey, signText, trustOf } from '../connectors/packages/sign.ts'
import { additionOf } from '../connectors/published/addition.ts'
import {
  INDEX_FILE,
  INDEX_FORM,
  INDEX_SIGNATURE,
  logoFile,
  MAX_INDEX_BYTES,
  MAX_INDEX_SIGNATURE_BYTES,
  type PublishedIndex,
  packageFile,
  parseIndex,
  textOfIndex,
} from '../connectors/published/form.ts'
import { type Addition, nextIndex } from '../connectors/published/rules.ts'
import { SourceError } from '../connectors/published/source.ts'
import { requireReason, type Withdrawal, withdrawn } from '../connectors/published/withdrawing.ts'
import { codeOf, errorOf, ifMissing } from '../contract/errors/thrown.ts'
import { visible } from '../observe/visible.ts'
import { indexIn, publishAlone, put, type RegistryFiles } from './registry-folder.ts'
import { warnOfReaders } from './sign.ts'
import { fileFault, isFileFault } from './terminal/file-fault.ts'
import { terminalJson } from './terminal/json.ts'

type PublishFlags = {
  key: string
  formerly?: string
  days: number
  mirror?: string[]
  withdraw?: string[]
  reason?: string
  restore?: string[]
  dryRun?: true
  json?: true
}

/** Maximum validity of an index, in days. */
const MAX_DAYS = 3650

/** Adds packages to a registry and withdraws versions. Without either, it only renews the signature. */
export async function publish(
  directory: string,
  packages: readonly string[],
  { key, formerly, days, mirror, dryRun, json, ...flags }: PublishFlags,
): Promise<void> {
  await told(directory, async () => {
    const withdrawal = withdrawalOf(flags)
    requireReason(withdrawal)
    if (days < 1)
      throw new PackageError('an index of no days expires at once: write --days 1 or more')
    if (days > MAX_DAYS)
      throw new PackageError(`an index is valid for ${MAX_DAYS} days at most: write fewer --days`)
    const mirrors = mirror?.filter((one) => one !== 'none').map(mirrorAddress)
    const privateKey = await readFile(key, 'utf8')
    await requireApart(directory, key)
    const former = formerly === undefined ? [] : [await readFile(formerly, 'utf8')]
    await warnOfReaders(key)
    const files: RegistryFiles = new Map()
    const additions: Addition[] = []
    for (const file of packages) additions.push(await added(file, files, publicPemOf(privateKey)))
    const keys = [publicPemOf(privateKey), ...former]
    const act = async () => {
      const before = await indexIn(directory, keys, { dryRun: dryRun === true })
      const now = new Date()
      const next = nextIndex(before, additions, { now, days, mirrors })
      const index = withdrawn(next, withdrawal, now)
      const text = textOfIndex(index)
      if (Buffer.byteLength(text) > MAX_INDEX_BYTES)
        throw new PackageError(
          `the index would have more than ${MAX_INDEX_BYTES} bytes; publish into a second folder`,
        )
      // Parse it first: an index that no host could read must not be signed.
      parseIndex(text)
      const signature = signText(INDEX_FORM, text, privateKey)
      files.set(INDEX_SIGNATURE, Buffer.from(`${JSON.stringify(signature, null, 2)}\n`))
      // Last, so that the files that it names exist before it.
      files.set(INDEX_FILE, Buffer.from(text))
      if (!dryRun) await put(directory, files)
      warnOfUnsigned(packages, additions)
      warnOfWithdrawn(index, additions)
      const said = { key: signature.key, withdrawal, dryRun, json }
      say(directory, index, [...files.keys()], said)
    }
    await (dryRun ? act() : publishAlone(directory, act))
  })
}

const withdrawalOf = ({
  withdraw = [],
  reason = '',
  restore = [],
}: Pick<PublishFlags, 'withdraw' | 'reason' | 'restore'>): Withdrawal => ({
  ...{ withdraw, reason, restore },
})

/** @throws PackageError for an address that no client would use */
function mirrorAddress(address: string): string {
  const url = URL.parse(address)
  const isPlain =
    url?.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (url?.protocol === 'https:' && isPlain) return address
  // Without parts that may be secret.
  const shown = address.replace(/[?#].*|[^/\s]*@/gs, '***')
  throw new PackageError(
    `${JSON.stringify(shown)} is not a mirror: use https://host/path without a login, ? and #, or none`,
  )
}

/** @throws PackageError if the private key would be served with the folder */
async function requireApart(directory: string, key: string): Promise<void> {
  const served = await realpath(directory).catch(ifMissing(path.resolve(directory)))
  const way = path.relative(served, await realpath(key))
  if (way.split(path.sep)[0] === '..') return
  throw new PackageError(
    `${key} is in ${directory}, which everyone can read once it is served: keep the private key elsewhere`,
  )
}

/** @throws PackageError for a package, or a signature next to it, that no host would accept */
async function added(file: string, files: RegistryFiles, publicKey: string) {
  const packed = await readFile(file)
  if (packed.length > MAX_PACKED_BYTES) throw new PackageError(`${file} is too large for a package`)
  const made = await readPackage(packed).catch((error: unknown) => {
    throw error instanceof PackageError ? new PackageError(`${file}: ${error.message}`) : error
  })
  const signature = await signatureOf(file, made, publicKey)
  const facts = { bytes: packed.length, signed: signature !== null }
  const { addition, logo } = additionOf(made, facts)
  const name = packageFile(addition.id, addition.version)
  files.set(name, packed)
  if (signature !== null) files.set(`${name}.sig`, signature)
  const logoName = logoFile(addition)
  if (logo !== null && logoName !== null) files.set(logoName, logo)
  return addition
}

async function signatureOf(file: string, made: Package, publicKey: string): Promise<Buffer | null> {
  const signature = await readFile(`${file}.sig`).catch(ifMissing(null))
  if (signature === null) return null
  if (signature.length > MAX_INDEX_SIGNATURE_BYTES)
    throw new PackageError(`${file}.sig is too large for a signature; sign the package again`)
  const own = {
    ...{ key: readPublicKey(publicKey).id, public_key: publicKey },
    ...{ name: 'this key', revoked_at: null },
  }
  const trust = trustOf(made, signature.toString('utf8'), [own])
  if (trust.state === 'invalid')
    throw new PackageError(`${file}.sig: ${trust.why}; sign the package again: keyway sign ${file}`)
  if (trust.state === 'untrusted')
    console.error(
      `${file} is signed by the key ${trust.key}, not by that of this registry: those who install it must trust that key too`,
    )
  return signature
}

function warnOfUnsigned(packages: readonly string[], additions: readonly Addition[]): void {
  const unsigned = packages.filter((_, n) => additions[n]?.version.signed === false)
  for (const file of unsigned)
    console.error(
      visible(
        `${file} has no signature: keyway sign ${file}, then publish it again; hosts that install only signed packages refuse it as it is`,
      ),
    )
}

/**
 * Warns about withdrawn versions: publishing a package again, as scripts do, does not undo its withdrawal.
 */
function warnOfWithdrawn({ connectors }: PublishedIndex, additions: readonly Addition[]): void {
  for (const { id, version } of additions) {
    const { versions = [] } = connectors.find((one) => one.id === id) ?? {}
    if (versions.some((one) => one.version === version.version && one.withdrawn))
      console.error(
        visible(
          `${id} ${version.version} is withdrawn and stays so; to offer it again, add --restore ${id}@${version.version}`,
        ),
      )
  }
}

type Said = {
  key: string
  withdrawal: Withdrawal
  dryRun: true | undefined
  json: true | undefined
}

function say(
  directory: string,
  index: PublishedIndex,
  files: readonly string[],
  { key, withdrawal, dryRun, json }: Said,
): void {
  const { version, expires_at, mirrors, connectors } = index
  const { withdraw, restore } = withdrawal
  const answer = {
    ...{ directory, version, expires_at, key, mirrors },
    ...{ connectors: connectors.length, withdrawn: withdraw, restored: restore, files },
  }
  const words = [
    `${directory}: index ${version}, ${connectors.length} ${connectors.length === 1 ? 'connector' : 'connectors'}, valid until ${expires_at}${dryRun ? ' (not written)' : ''}`,
    ...withdraw.map((name) => `  ${name} is withdrawn`),
    ...restore.map((name) => `  ${name} is offered again`),
    ...files.map((file) => `  ${file}`),
  ]
  console.log(json ? terminalJson(answer) : visible(words.join('\n')))
}

/** Returns advice if the folder cannot be written, or a named file cannot be read. */
const hintOf = (code: string | undefined): string =>
  code === 'ENOSPC' || code === 'EDQUOT' || code === 'EROFS'
    ? 'the index there is unchanged: free some space, or name another folder, and run it again'
    : 'name packages made by keyway pack, and with --key a key from keyway keygen'

async function told(directory: string, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    const { path: file = directory, message, syscall }: NodeJS.ErrnoException = errorOf(error)
    if (isFileFault(error) || syscall !== undefined)
      throw fileFault(file, error, hintOf(codeOf(error)))
    if (error instanceof PackageError || error instanceof SourceError)
      throw new ConfigError(message)
    throw error
  }
}
