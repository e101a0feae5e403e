/** `keyway publish`: packages become a folder that any web server can serve as a registry. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ConfigError } from '../config/config.ts'
import { MAX_PACKED_BYTES, PackageError } from '../connectors/packages/format.ts'
import { readPackage } from '../connectors/packages/read.ts'
import { publicPemOf, readPublicKey, signText, trustOfText } from '../connectors/packages/sign.ts'
import { additionOf } from '../connectors/published/addition.ts'
import {
  INDEX_FILE,
  INDEX_FORM,
  INDEX_SIGNATURE,
  logoFile,
  MAX_INDEX_BYTES,
  type PublishedIndex,
  packageFile,
  parseIndex,
} from '../connectors/published/form.ts'
import { nextIndex } from '../connectors/published/rules.ts'
import { errorOf, ifMissing } from '../contract/errors/thrown.ts'
import { fileFault, isFileFault } from './terminal/file-fault.ts'

type PublishFlags = {
  key: string
  formerly?: string
  days: number
  mirror?: string[]
  dryRun?: true
  json?: true
}

/** Files of the registry, by their name in the folder. */
type Files = Map<string, Buffer>

/** Adds packages to a registry, or signs it again for longer where none is named. */
export async function publish(
  directory: string,
  packages: readonly string[],
  { key, formerly, days, mirror, dryRun, json }: PublishFlags,
): Promise<void> {
  await told(async () => {
    if (days < 1)
      throw new PackageError('an index of no days has expired at once: write --days 1 or more')
    const mirrors = mirror?.filter((one) => one !== 'none').map(mirrorAddress)
    const privateKey = await readFile(key, 'utf8')
    const former = formerly === undefined ? [] : [await readFile(formerly, 'utf8')]
    const before = await indexIn(directory, [publicPemOf(privateKey), ...former])
    const files: Files = new Map()
    const additions = []
    for (const file of packages) additions.push(await added(file, files))
    const index = nextIndex(before, additions, { now: new Date(), days, mirrors })
    const text = `${JSON.stringify(index, null, 1)}\n`
    if (Buffer.byteLength(text) > MAX_INDEX_BYTES)
      throw new PackageError(
        `the index would have more than ${MAX_INDEX_BYTES} bytes; publish into a second folder`,
      )
    const signature = signText(INDEX_FORM, text, privateKey)
    files.set(INDEX_SIGNATURE, Buffer.from(`${JSON.stringify(signature, null, 2)}\n`))
    // Last: what it names is there before it.
    files.set(INDEX_FILE, Buffer.from(text))
    if (!dryRun) await put(directory, files)
    say(directory, index, [...files.keys()], { key: signature.key, dryRun, json })
  })
}

/** @throws PackageError for what no client would ask */
function mirrorAddress(address: string): string {
  const url = URL.parse(address)
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return address
  throw new PackageError(
    `${JSON.stringify(address)} is no mirror: write https://host/path without a login, or none`,
  )
}

/**
 * The index that is there; null for a new folder. What somebody else wrote into it would be signed with the rest.
 *
 * @throws PackageError for one that none of these keys has signed
 */
async function indexIn(directory: string, keys: readonly string[]): Promise<PublishedIndex | null> {
  const read = (name: string) => readFile(path.join(directory, name), 'utf8').catch(ifMissing(null))
  const publishers = keys.map((public_key) => ({
    ...{ key: readPublicKey(public_key).id, public_key },
    ...{ name: 'this publisher', revoked_at: null },
  }))
  const text = await read(INDEX_FILE)
  const signature = await read(INDEX_SIGNATURE)
  // The second: a publication that was ended between the signature and its index.
  for (const one of [text, await read(`${INDEX_FILE}.part`)])
    if (one !== null && trustOfText(INDEX_FORM, one, signature, publishers).state === 'trusted')
      return parseIndex(one)
  if (text === null) return null
  throw new PackageError(
    `the index in ${directory} is not signed by this key, so others may have written into it: take the folder from your own copy, or name the key that signed it before by --formerly OLD.pub`,
  )
}

async function added(file: string, files: Files) {
  const packed = await readFile(file)
  if (packed.length > MAX_PACKED_BYTES) throw new PackageError(`${file} is too large for a package`)
  const made = await readPackage(packed)
  const signature = await readFile(`${file}.sig`).catch(ifMissing(null))
  const facts = { bytes: packed.length, signed: signature !== null }
  const { addition, logo } = additionOf(made, facts)
  const name = packageFile(addition.id, addition.version)
  files.set(name, packed)
  if (signature !== null) files.set(`${name}.sig`, signature)
  const logoName = logoFile(addition)
  if (logo !== null && logoName !== null) files.set(logoName, logo)
  return addition
}

/** Each whole or not at all, and in this order: a web server may read them at any moment. */
async function put(directory: string, files: Files): Promise<void> {
  const all = [...files].map(([name, content]) => ({ file: path.join(directory, name), content }))
  for (const { file, content } of all) {
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(`${file}.part`, content)
  }
  for (const { file } of all) await rename(`${file}.part`, file)
}

type Said = { key: string; dryRun: true | undefined; json: true | undefined }

function say(
  directory: string,
  index: PublishedIndex,
  files: readonly string[],
  { key, dryRun, json }: Said,
): void {
  const { version, expires_at, mirrors, connectors } = index
  const answer = {
    ...{ directory, version, expires_at, key, mirrors },
    ...{ connectors: connectors.length, files },
  }
  const words = [
    `${directory}: index ${version}, ${connectors.length} ${connectors.length === 1 ? 'connector' : 'connectors'}, good until ${expires_at}${dryRun ? ' (not written)' : ''}`,
    ...files.map((file) => `  ${file}`),
  ]
  console.log(json ? JSON.stringify(answer, null, 2) : words.join('\n'))
}

async function told(act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    const { path: file = 'it', message }: NodeJS.ErrnoException = errorOf(error)
    if (isFileFault(error))
      throw fileFault(
        file,
        error,
        'name packages of keyway pack, and by --key a key of keyway keygen',
      )
    if (error instanceof PackageError) throw new ConfigError(message)
    throw error
  }
}
