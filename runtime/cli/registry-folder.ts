/** The folder of a registry, as its publisher changes it: alone, whole, and never over what somebody else has signed. */
import { mkdir, open, rename, rm, stat, writeFile } from 'node:fs/promises'
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

/** Locks that this process holds: a number alone may be that of one that was killed, in a container that ran before. */
const held = new Set<string>()

/**
 * Does something in a folder in which nobody else publishes: two at once would each leave out what the other adds.
 *
 * @throws PackageError where another does, and for a file in the folder's place
 */
export async function publishAlone(directory: string, act: () => Promise<void>): Promise<void> {
  await mkdir(directory, { recursive: true }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
    throw new PackageError(`${directory} is no folder: name the folder of the registry`)
  })
  const lock = path.join(directory, '.publishing')
  const taken = new PackageError(
    `${directory}: somebody else publishes there now; run it again once that has ended (if nobody does, remove ${lock})`,
  )
  await takeLock(lock).catch(async (error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
    if (!(await isLeft(lock))) throw taken
    await takeOver(lock).catch((again: unknown) => {
      throw codeOf(again) === 'EEXIST' ? taken : again
    })
  })
  try {
    await act()
  } finally {
    held.delete(path.resolve(lock))
    await rm(lock, { force: true })
  }
}

/** @throws EEXIST where there is one */
async function takeLock(lock: string): Promise<void> {
  await using handle = await open(lock, 'wx')
  held.add(path.resolve(lock))
  try {
    await handle.writeFile(String(process.pid))
  } catch (error) {
    // The disk is full: nobody is to wait for what is left of it.
    held.delete(path.resolve(lock))
    await rm(lock, { force: true })
    throw error
  }
}

/** Whether it is there, and the process that took it was killed. */
async function isLeft(lock: string): Promise<boolean> {
  const read = await readRegular(lock, 20).catch(ifMissing(null))
  if (read === null) return false
  const holder = read.toString('utf8')
  return holder === '' ? isOld(lock) : !isRunning(Number(holder), lock)
}

/**
 * Takes it from a process that was killed. Others may see the same: one of them alone looks once more and takes it away.
 *
 * @throws EEXIST where another was first
 */
async function takeOver(lock: string): Promise<void> {
  const guard = `${lock}.over`
  if (await isOld(guard)) await rm(guard, { force: true })
  await writeFile(guard, '', { flag: 'wx' })
  try {
    if (await isLeft(lock)) await rm(lock, { force: true })
    await takeLock(lock)
  } finally {
    await rm(guard, { force: true })
  }
}

/** Whether it is there, and too old to be written just now. */
async function isOld(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(ifMissing(null))
  return found !== null && Date.now() - found.mtimeMs >= WRITING_MS
}

function isRunning(pid: number, lock: string): boolean {
  if (pid === process.pid) return held.has(path.resolve(lock))
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
  const parts: string[] = []
  try {
    for (const { file, content } of all) {
      await mkdir(path.dirname(file), { recursive: true })
      // What an earlier publication left, or somebody put there: it is not written through.
      await rm(`${file}.part`, { force: true })
      parts.push(`${file}.part`)
      await writeFile(`${file}.part`, content, { flag: 'wx' })
    }
  } catch (error) {
    // Where the disk is full, they would take what room there is, and be served.
    for (const part of parts) await rm(part, { force: true })
    throw error
  }
  for (const { file } of all) await rename(`${file}.part`, file)
}
