/** Measures folder sizes up to a file limit, and formats byte counts and durations. */
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'

/** Maximum number of files measured in one folder tree. */
const MAX_FILES = 20_000
/** Number of files measured in parallel. */
const PARALLEL = 100

/**
 * Returns the total size and number of the files in a folder tree. Files that vanish during the walk do not
 * count.
 */
export async function folderSize(folder: string): Promise<{ bytes: number; files: number }> {
  const sum = { bytes: 0, files: 0 }
  const open = [folder]
  for (let at = open.pop(); at !== undefined && sum.files < MAX_FILES; at = open.pop()) {
    const entries = (await folderEntries(at)).slice(0, MAX_FILES - sum.files)
    sum.files += entries.length
    for (const entry of entries) if (entry.isDirectory()) open.push(path.join(at, entry.name))
    const files = entries.filter((entry) => !entry.isDirectory())
    for (let from = 0; from < files.length; from += PARALLEL) {
      const found = await Promise.all(
        files
          .slice(from, from + PARALLEL)
          .map(({ name }) => lstat(path.join(at, name)).catch(() => null)),
      )
      for (const one of found) sum.bytes += one?.size ?? 0
    }
  }
  return sum
}

/** Returns the entries of a folder, sorted by name. Empty if the folder does not exist or cannot be read. */
export async function folderEntries(folder: string) {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** Formats a byte count with its unit, such as `12.5 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

/** Formats a duration in its largest suitable unit, such as `3 hours`. */
export function formatSeconds(seconds: number): string {
  const [size, unit] =
    seconds >= 172_800
      ? [86_400, 'days']
      : seconds >= 7200
        ? [3600, 'hours']
        : seconds >= 120
          ? [60, 'minutes']
          : [1, 'seconds']
  return `${Math.round(seconds / Number(size))} ${unit}`
}
