/**
 * Puts a restored data directory into place. A kill at any line leaves either the old or the new one for the
 * next start, never neither.
 */
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { ifMissing } from '../contract/errors/thrown.ts'
import { type Home, isMade } from './server-home.ts'
import { syncFolder } from './sync-folder.ts'

/** Returns the folder into which a backup is unpacked. It is useless until it is complete. */
const unpackingOf = ({ cluster }: Home): string => `${cluster}.unpacking`

/** Returns the folder of a complete data directory that is not in its place yet. */
const restoredOf = ({ cluster }: Home): string => `${cluster}.restored`

/**
 * Replaces the data directory by the unpacked one.
 *
 * @returns the new path of the old one, or null if there was none
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
  // Until the next rename there is no data directory. The next start would complete this.
  await finishRestore(home)
  return before
}

/**
 * Finishes a killed restore: a complete copy becomes the database if there is none, else it is removed. An
 * incomplete copy stays if there is no database; `wasCutOff` reports it.
 */
export async function finishRestore(home: Home): Promise<void> {
  const { cluster } = home
  const restored = restoredOf(home)
  if (await isMade(home)) {
    await rm(restored, { recursive: true, force: true })
  } else if (await exists(restored)) {
    // The folder is not complete: it is empty or left by an interrupted initdb.
    await rm(cluster, { recursive: true, force: true })
    await rename(restored, cluster)
    await syncFolder(path.dirname(cluster))
  }
  if (await isMade(home)) await dropUnpacking(home)
}

/** Reports whether a restore was killed before its copy was complete, and there is no database. */
export const wasCutOff = async (home: Home): Promise<boolean> =>
  !(await isMade(home)) && (await exists(unpackingOf(home)))

/** Removes the unpacked files. The server of a killed restore may still write there for a moment. */
export const dropUnpacking = (home: Home): Promise<void> =>
  rm(unpackingOf(home), { recursive: true, force: true, maxRetries: 10 })

/** Makes an empty folder for unpacking. */
export async function makeUnpacking(home: Home): Promise<string> {
  const folder = unpackingOf(home)
  await dropUnpacking(home)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return folder
}

const exists = (file: string): Promise<boolean> => stat(file).then(() => true, ifMissing(false))
