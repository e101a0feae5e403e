/** The folder of a registry, as its publisher changes it: alone, whole, and never over what somebody else has signed. */
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PackageError } from '../connectors/packages/format.ts'
import { readPublicKey, trustOfText } from '../connectors/packages/sign.ts'
import {
  INDEX_FILE,
  INDEX_FORM,
  INDEX_SIGNATURE,
  MAX_INDEX_BYTES,
  type PublishedIndex,
  parseIndex,
} from '../connectors/published/form.ts'
import { readRegular } from '../connectors/published/source.ts'
import { codeOf, ifMissing } from '../contract/errors/thrown.ts'

/** How long a process may take from making its lock to naming itself in it, in milliseconds. */
const WRITING_MS = 10_000

/** Files of a registry, by their name in the folder. */
export type RegistryFiles = Map<string, Buffer>

/**
 * The index that is there; null for a new folder. What somebody else wrote into it would be signed with the rest.
 *
 * @throws PackageError for one that none of these keys has signed
 */
export async function indexIn(
  directory: string,
  keys: readonly string[],
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<PublishedIndex | null> {
  const read = async (name: string): Promise<string | null> => {
    const found = await readRegular(path.join(directory, name), MAX_INDEX_BYTES).catch(
      ifMissing(null),
    )
    return found === null ? null : found.toString('utf8')
  }
  const publishers = keys.map((public_key) => ({
    ...{ key: readPublicKey(public_key).id, public_key },
    ...{ name: 'this publisher', revoked_at: null },
  }))
  const text = await read(INDEX_FILE)
  const signature = await read(INDEX_SIGNATURE)
  const isSigned = (one: string) =>
    trustOfText(INDEX_FORM, one, signature, publishers).state === 'trusted'
  if (text !== null && isSigned(text)) return parseIndex(text)
  // A publication that was ended between the signature and its index: it is completed by its part.
  const part = await read(`${INDEX_FILE}.part`)
  if (part !== null && isSigned(part)) {
    if (!dryRun)
      await rename(path.join(directory, `${INDEX_FILE}.part`), path.join(directory, INDEX_FILE))
    return parseIndex(part)
  }
  if (text === null) return null
  throw new PackageError(
    `the index in ${directory} is not signed by this key, so others may have written into it: take the folder from your own copy, or name the key that signed it before by --formerly OLD.pub`,
  )
}

/**
 * Does something in a folder in which nobody else publishes: two at once would each leave out what the other adds.
 *
 * @throws PackageError where another does
 */
export async function publishAlone(directory: string, act: () => Promise<void>): Promise<void> {
  await mkdir(directory, { recursive: true })
  const lock = path.join(directory, '.publishing')
  const take = () => writeFile(lock, String(process.pid), { flag: 'wx' })
  const isTaken = async (error: unknown): Promise<never> => {
    if (codeOf(error) !== 'EEXIST') throw error
    throw new PackageError(
      `${directory}: somebody else publishes there now; run it again once that has ended (if nobody does, remove ${lock})`,
    )
  }
  await take().catch(async (error: unknown) => {
    const holder = String((await readRegular(lock, 20).catch(ifMissing(null))) ?? '')
    if (isRunning(Number(holder)) || (holder === '' && (await isFresh(lock)))) return isTaken(error)
    // Its process was killed.
    await rm(lock, { force: true })
    return take().catch(isTaken)
  })
  try {
    await act()
  } finally {
    await rm(lock, { force: true })
  }
}

/** Whether it may be written just now. */
async function isFresh(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(ifMissing(null))
  return found !== null && Date.now() - found.mtimeMs < WRITING_MS
}

function isRunning(pid: number): boolean {
  try {
    return Number.isSafeInteger(pid) && pid > 0 && process.kill(pid, 0)
  } catch (error) {
    // It runs, as somebody else.
    return codeOf(error) === 'EPERM'
  }
}

/** Each whole or not at all, and in this order: a web server may read them at any moment. */
export async function put(directory: string, files: RegistryFiles): Promise<void> {
  const all = [...files].map(([name, content]) => ({ file: path.join(directory, name), content }))
  for (const { file, content } of all) {
    await mkdir(path.dirname(file), { recursive: true })
    // What an earlier publication left, or somebody put there: it is not written through.
    await rm(`${file}.part`, { force: true })
    await writeFile(`${file}.part`, content, { flag: 'wx' })
  }
  for (const { file } of all) await rename(`${file}.part`, file)
}
