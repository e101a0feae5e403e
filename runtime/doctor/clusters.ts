/**
 * Finds embedded databases outside data directories (database/server-place.ts) whose data directory no longer exists.
 * Removes them only on request, and never if there is any sign of use.
 */
import { readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { OutsideCluster } from '../contract/endpoints/doctor.ts'
import { recordedCluster } from '../database/lost-database.ts'
import { livePostmaster } from '../database/postmaster.ts'
import { homeOf, isRoot } from '../database/server-home.ts'
import { OUTSIDE, OWNER_FILE } from '../database/server-place.ts'
import { folderEntries, folderSize } from './sizes.ts'

const PLACE = /^[0-9a-f]{16}$/
/** Maximum number of databases examined. */
const MAX_CLUSTERS = 1000
/** A database written to within this time may be in use by another container, in milliseconds. */
const QUIET_MS = 3_600_000
/** Files that a running server writes regularly. */
const WRITTEN = ['.', 'global/pg_control', 'pg_wal', 'postmaster.pid']

type Use = Pick<OutsideCluster, 'use' | 'why'>

/**
 * Lists the databases outside data directories, sorted by place.
 *
 * @param dataDirs Data directories known to be in use, regardless of what the databases record.
 */
export async function outsideClusters(
  dataDirs: readonly string[],
  outside: string = OUTSIDE,
  now: Date = new Date(),
): Promise<OutsideCluster[]> {
  const found = (await folderEntries(outside)).filter(
    (entry) => entry.isDirectory() && PLACE.test(entry.name),
  )
  const all: OutsideCluster[] = []
  for (const { name: place } of found.slice(0, MAX_CLUSTERS)) {
    const folder = path.join(outside, place)
    const owner = await ownerOf(folder)
    const use = await useOf(folder, owner, dataDirs, now)
    const { bytes } = await folderSize(folder)
    all.push({ place, folder, data_directory: owner, ...use, bytes })
  }
  return all
}

/**
 * Removes left-over databases. Each is checked again immediately before its removal.
 *
 * @param places Databases to remove, or null for all.
 * @returns the removed ones
 */
export async function removeLeftOver(
  places: readonly string[] | null,
  dataDirs: readonly string[],
  outside: string = OUTSIDE,
  now: Date = new Date(),
): Promise<OutsideCluster[]> {
  const removed: OutsideCluster[] = []
  for (const cluster of await outsideClusters(dataDirs, outside, now)) {
    const { place, folder, data_directory: owner } = cluster
    if (places !== null && !places.includes(place)) continue
    if ((await useOf(folder, owner, dataDirs, now)).use !== 'left_over') continue
    // Remove the owner file last, so that an interrupted removal can still be attributed.
    for (const entry of await folderEntries(folder))
      if (entry.name !== OWNER_FILE)
        await rm(path.join(folder, entry.name), { recursive: true, force: true })
    await rm(folder, { recursive: true, force: true })
    await rm(path.join(tmpdir(), `keyway-${place}`), { recursive: true, force: true })
    removed.push(cluster)
  }
  return removed
}

async function ownerOf(folder: string): Promise<string | null> {
  const text = await readFile(path.join(folder, OWNER_FILE), 'utf8').catch(() => '')
  return path.isAbsolute(text) ? text : null
}

async function useOf(
  folder: string,
  owner: string | null,
  dataDirs: readonly string[],
  now: Date,
): Promise<Use> {
  const cluster = path.join(folder, 'cluster')
  if (!isRoot()) return { use: 'unknown', why: 'only root can determine its owner' }
  const server = await livePostmaster(cluster)
  if (server !== null) return { use: 'used', why: `server process ${server} uses it` }
  for (const dataDir of [...dataDirs, ...(owner === null ? [] : [owner])])
    if (await isOf(dataDir, cluster))
      return { use: 'used', why: `it is the database of ${dataDir}` }
  if (owner === null) return { use: 'unknown', why: 'it does not record its data directory' }
  const standing = await directoryAt(owner)
  if (standing === 'hidden') return { use: 'unknown', why: `${owner} cannot be read` }
  if (now.getTime() - (await writtenMs(folder, cluster)) < QUIET_MS)
    return { use: 'unknown', why: 'it was written to within the last hour' }
  return {
    use: 'left_over',
    why:
      standing === 'there'
        ? `${owner} has another database now`
        : `its data directory ${owner} no longer exists`,
  }
}

/** Reports whether a data directory uses this database, or records that it did. */
async function isOf(dataDir: string, cluster: string): Promise<boolean> {
  if ((await directoryAt(dataDir)) !== 'there') return false
  const { cluster: own } = homeOf(dataDir)
  const place = path.basename(path.dirname(cluster))
  return path.basename(path.dirname(own)) === place || (await recordedCluster(dataDir)) === cluster
}

const directoryAt = (dataDir: string): Promise<'there' | 'gone' | 'hidden'> =>
  stat(dataDir).then(
    () => 'there',
    ({ code }: NodeJS.ErrnoException) =>
      code === 'ENOENT' || code === 'ENOTDIR' ? 'gone' : 'hidden',
  )

/** Returns the time of the last write, in milliseconds since the epoch. */
async function writtenMs(folder: string, cluster: string): Promise<number> {
  const files = [path.join(folder, OWNER_FILE), ...WRITTEN.map((one) => path.join(cluster, one))]
  const found = await Promise.all(files.map((file) => stat(file).catch(() => null)))
  return Math.max(0, ...found.map((one) => one?.mtimeMs ?? 0))
}
