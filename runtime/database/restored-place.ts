/**
 * Puts a restored data directory into place so that a kill at any line leaves either the old one or the
 * new one to the next start, never none.
 */
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { ifMissing } from '../contract/errors/thrown.ts'
import { type Home, isMade } from './home.ts'
import { syncFolder } from './sync-folder.ts'

/** Where a backup is unpacked; of no worth until it is whole. */
const unpackingOf = ({ cluster }: Home): string => `${cluster}.unpacking`

/** A whole data directory that waits for its place. */
const restoredOf = ({ cluster }: Home): string => `${cluster}.restored`

/**
 * Exchanges the data directory for the unpacked one.
 *
 * @returns where the old one is now; null when there was none.
 */
export async function placeRestored(home: Home, now: Date): Promise<string | null> {
  const { cluster } = home
  const base = path.dirname(cluster)
  await rename(unpackingOf(home), restoredOf(home))
  await syncFolder(base)
  let before: string | null = null
  if (await isMade(home)) {
    before = `${cluster}.before-${now.toISOString().replace(/[:.]/g, '-')}`
    await rename(cluster, before)
  }
  // From here until the next rename there is no data directory: the next start would end this.
  await finishRestore(home)
  return before
}

/**
 * Finishes a killed restore: a complete copy becomes the database if there is none, else it is removed. An incomplete
 * copy stays if there is no database; `wasCutOff` reports it.
 */
export async function finishRestore(home: Home): Promise<void> {
  const { cluster } = home
  const restored = restoredOf(home)
  if (await isMade(home)) {
    await rm(restored, { recursive: true, force: true })
  } else if (await exists(restored)) {
    // Nothing whole is there: an empty folder, or what an initdb left half done.
    await rm(cluster, { recursive: true, force: true })
    await rename(restored, cluster)
    await syncFolder(path.dirname(cluster))
  }
  if (await isMade(home)) await dropUnpacking(home)
}

/** Whether a restore was killed before its copy was complete, and there is no database. */
export const wasCutOff = async (home: Home): Promise<boolean> =>
  !(await isMade(home)) && (await exists(unpackingOf(home)))

/** Removes the unpacked files. The server of a killed restore may still write there for a moment. */
export const dropUnpacking = (home: Home): Promise<void> =>
  rm(unpackingOf(home), { recursive: true, force: true, maxRetries: 10 })

/** An empty folder to unpack into. */
export async function makeUnpacking(home: Home): Promise<string> {
  const folder = unpackingOf(home)
  await dropUnpacking(home)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

const exists = (file: string): Promise<boolean> => stat(file).then(() => true, ifMissing(false))
