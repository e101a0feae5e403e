/**
 * Finds the folder of a data directory's embedded server: inside the data directory, so that one volume holds
 * everything. Root's server runs as `nobody`. It lives elsewhere if that user has no access to the data
 * directory.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../contract/errors/thrown.ts'
import type { Owner } from './binaries.ts'

/** `nobody` of every Linux distribution and of macOS's BSD side. */
export const NOBODY: Owner = { uid: 65_534, gid: 65_534 }

/** Folder of the places outside of data directories. Each is named by 16 hexadecimal digits. */
export const OUTSIDE = '/var/lib/keyway'
/** The place inside the data directory itself. */
export const INSIDE = 'inside'
/** File in root's data directory that names its place. */
const PLACE_FILE = 'database-place'
/** File in an outside place that names its data directory. */
export const OWNER_FILE = 'data-directory'
/** File in the data directory with the password of its database, written by the host. */
export const PASSWORD_FILE = 'database-password'

/** Returns the folder of a place. */
export const baseOf = (dataDir: string, place: string): string =>
  place === INSIDE ? path.join(dataDir, 'postgres') : path.join(OUTSIDE, place)

/** Returns the place that the data directory names: INSIDE, 16 hexadecimal digits, or null. */
export function placeOf(dataDir: string): string | null {
  try {
    const text = readFileSync(path.join(dataDir, PLACE_FILE), 'utf8').trim()
    // Validate it, because it becomes part of a path.
    return text === INSIDE || /^[0-9a-f]{16}$/.test(text) ? text : null
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/**
 * Returns the place of root's server for a data directory that names none: the place that earlier versions
 * used, or the one that would be chosen. Null if that is outside and not chosen yet.
 */
export function defaultPlace(dataDir: string): string | null {
  if (existsSync(markOf({ cluster: path.join(baseOf(dataDir, INSIDE), 'cluster') }))) return INSIDE
  const id = digest(dataDir)
  if (isOfBefore(dataDir, path.join(OUTSIDE, id, 'cluster'))) return id
  return canReach(path.dirname(dataDir)) ? INSIDE : null
}

/** Records the place of root's server. The folder exists before any file names it. */
export async function recordPlace(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const likely = defaultPlace(dataDir)
  const fits = likely !== INSIDE || (await letIn(dataDir))
  const place = (fits ? likely : null) ?? randomBytes(8).toString('hex')
  await mkdir(baseOf(dataDir, place), { recursive: true, mode: 0o711 })
  await writeFile(path.join(dataDir, PLACE_FILE), place, { mode: 0o600 })
}

/** Lets a data directory choose its place again. */
export const forgetPlace = (dataDir: string): Promise<void> =>
  rm(path.join(dataDir, PLACE_FILE), { force: true })

/**
 * Reports whether a cluster named by the path of a data directory belongs to that directory, and not to an
 * earlier one at the same path: a directory that was created again has a password only once it has a place.
 */
const isOfBefore = (dataDir: string, cluster: string): boolean =>
  existsSync(path.join(dataDir, PASSWORD_FILE)) && existsSync(markOf({ cluster }))

const mayPass = ({ mode, gid }: Stats): boolean =>
  (mode & 0o001) !== 0 || (gid === NOBODY.gid && (mode & 0o010) !== 0)

/** Reports whether `nobody` can reach a folder, both by its name and by its real path. */
function canReach(folder: string): boolean {
  const real = existsSync(folder) ? realpathSync(folder) : folder
  return [folder, real].every((one) => {
    for (let at = one; ; at = path.dirname(at)) {
      const found = statSync(at, { throwIfNoEntry: false })
      // A missing folder will be created for root alone.
      if (!found || !mayPass(found)) return false
      if (at === path.dirname(at)) return true
    }
  })
}

/**
 * Lets `nobody` pass through the data directory without listing it. Returns false if its filesystem has no
 * owners.
 */
async function letIn(dataDir: string): Promise<boolean> {
  const found = await stat(dataDir)
  try {
    if (!mayPass(found)) {
      // Keep a group that was given access on purpose.
      const isFree = (found.mode & 0o070) === 0
      if (isFree) await chown(dataDir, found.uid, NOBODY.gid)
      await chmod(dataDir, (found.mode & 0o777) | (isFree ? 0o010 : 0o001))
    }
    const base = baseOf(dataDir, INSIDE)
    await mkdir(base, { recursive: true, mode: 0o711 })
    await ownFolder(path.join(base, 'cluster'), NOBODY)
    return true
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (['EPERM', 'EINVAL', 'ENOTSUP', 'ENOSYS'].includes(code)) return false
    throw error
  }
}

/**
 * Claims a place for a data directory.
 * @throws Error if another existing data directory names the same place
 */
export async function claim(base: string, dataDir: string): Promise<void> {
  const file = path.join(base, OWNER_FILE)
  const before = await readFile(file, 'utf8').catch(() => dataDir)
  if (before !== dataDir && placeOf(before) === placeOf(dataDir)) {
    throw new Error(
      `KEYWAY_DATA_DIR: ${dataDir} is a copy of ${before}, and both name the database in ${base}; remove ${path.join(dataDir, PLACE_FILE)} and use \`keyway backup\` and \`keyway restore\` to copy it`,
    )
  }
  await writeFile(file, dataDir)
}

/** Returns the name of an outside place that earlier versions derived from the path of its data directory. */
export const digest = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Returns the path of the mark of a complete cluster. We write it last. */
export const markOf = ({ cluster }: { cluster: string }): string =>
  path.join(cluster, 'keyway.made')

/** Creates a folder that only the server's user may enter. */
export async function ownFolder(folder: string, owner: Owner | null): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (owner) await chown(folder, owner.uid, owner.gid)
}
