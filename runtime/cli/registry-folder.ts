/**
 * Changes to the folder of a registry by its publisher: one at a time, complete, and never over content that
 * another key signed.
 */
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
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

/** Maximum time between creating a lock and writing the process id to it, in milliseconds. */
const WRITING_MS = 10_000

/** Files of a registry, by name in the folder. */
export type RegistryFiles = Map<string, Buffer>

/**
 * Returns the existing index, or null for a new folder. An index changed by others must not be signed.
 *
 * @throws PackageError if none of these keys has signed the index
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
  // A publication was interrupted between the signature and its index. Its partial file completes it.
  const part = await read(`${INDEX_FILE}.part`)
  if (part !== null && isSigned(part)) {
    if (!dryRun)
      await rename(path.join(directory, `${INDEX_FILE}.part`), path.join(directory, INDEX_FILE))
    return parseIndex(part)
  }
  if (text === null) return null
  throw new PackageError(
    `the index in ${directory} is not signed by this key, so others may have written to it: restore the folder from your own copy, or name the previous signing key with --formerly OLD.pub`,
  )
}

/**
 * Locks that this process holds. The process id alone is not enough: it may be that of a killed process in an
 * earlier container.
 */
const held = new Set<string>()

/**
 * Runs an action in a folder while no other process publishes there: each of two at once would leave out what
 * the other adds.
 *
 * @throws PackageError if another process publishes there, or if the path is a file
 */
export async function publishAlone(directory: string, act: () => Promise<void>): Promise<void> {
  await mkdir(directory, { recursive: true }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
    throw new PackageError(`${directory} is not a folder: name the folder of the registry`)
  })
  const lock = path.join(directory, '.publishing')
  const taken = new PackageError(
    `${directory}: someone else is publishing there; run it again when that has finished (if no one is, remove ${lock})`,
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

/** @throws EEXIST if the lock exists */
async function takeLock(lock: string): Promise<void> {
  await using handle = await open(lock, 'wx')
  held.add(path.resolve(lock))
  try {
    await handle.writeFile(String(process.pid))
  } catch (error) {
    // The disk is full. Do not leave an incomplete lock for others to wait for.
    held.delete(path.resolve(lock))
    await rm(lock, { force: true })
    throw error
  }
}

/** Reports whether the lock exists but the process that took it was killed. */
async function isLeft(lock: string): Promise<boolean> {
  const read = await readRegular(lock, 20).catch(ifMissing(null))
  if (read === null) return false
  const holder = read.toString('utf8')
  return holder === '' ? isOld(lock) : !isRunning(Number(holder), lock)
}

/**
 * Takes the lock from a killed process. If several processes try this, only one of them checks again and
 * removes the lock.
 *
 * @throws EEXIST if another process was first
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

/** Reports whether the lock exists and is too old to be in the middle of being written. */
async function isOld(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(ifMissing(null))
  return found !== null && Date.now() - found.mtimeMs >= WRITING_MS
}

function isRunning(pid: number, lock: string): boolean {
  if (pid === process.pid) return held.has(path.resolve(lock))
  try {
    return Number.isSafeInteger(pid) && pid > 0 && process.kill(pid, 0)
  } catch (error) {
    // It runs as another user.
    return codeOf(error) === 'EPERM'
  }
}

/**
 * Removes the partial packages and logos of a publication that was killed. Nothing names them, but they would
 * be served. A partial index is kept: it may complete that publication.
 */
async function removeParts(directory: string): Promise<void> {
  for (const folder of ['packages', 'logos'].map((name) => path.join(directory, name)))
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(ifMissing([])))
      if (entry.isFile() && entry.name.endsWith('.part'))
        await rm(path.join(folder, entry.name), { force: true })
}

/** Writes the files atomically and in this order: a web server may read them at any time. */
export async function put(directory: string, files: RegistryFiles): Promise<void> {
  await removeParts(directory)
  const all = [...files].map(([name, content]) => ({ file: path.join(directory, name), content }))
  const parts: string[] = []
  try {
    for (const { file, content } of all) {
      await mkdir(path.dirname(file), { recursive: true })
      // Do not write into a file that an earlier publication left or that somebody else put there.
      await rm(`${file}.part`, { force: true })
      parts.push(`${file}.part`)
      await writeFile(`${file}.part`, content, { flag: 'wx' })
    }
  } catch (error) {
    // On a full disk, they would use up the remaining space, and they would be served.
    for (const part of parts) await rm(part, { force: true })
    throw error
  }
  for (const { file } of all) await rename(`${file}.part`, file)
}
