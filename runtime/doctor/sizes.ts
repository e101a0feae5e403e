/** Sizes of folders, bounded in what is looked at; and sizes and ages in words. */
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'

/** Most files of one folder that are looked at. */
const MOST_FILES = 20_000
/** Files that are looked at together. */
const AT_ONCE = 100

/** Bytes of the files of a folder and all below it, and how many; what vanishes meanwhile does not count. */
export async function sizeOf(folder: string): Promise<{ bytes: number; files: number }> {
  const sum = { bytes: 0, files: 0 }
  const open = [folder]
  for (let at = open.pop(); at !== undefined && sum.files < MOST_FILES; at = open.pop()) {
    const entries = (await entriesOf(at)).slice(0, MOST_FILES - sum.files)
    sum.files += entries.length
    for (const entry of entries) if (entry.isDirectory()) open.push(path.join(at, entry.name))
    const files = entries.filter((entry) => !entry.isDirectory())
    for (let from = 0; from < files.length; from += AT_ONCE) {
      const found = await Promise.all(
        files
          .slice(from, from + AT_ONCE)
          .map(({ name }) => lstat(path.join(at, name)).catch(() => null)),
      )
      for (const one of found) sum.bytes += one?.size ?? 0
    }
  }
  return sum
}

/** What lies in a folder, in the order of names; nothing where it is not there, or may not be read. */
export async function entriesOf(folder: string) {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

/** Such as `12.5 MB`. */
export function bytesWords(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

/** Such as `3 hours`. */
export function secondsWords(seconds: number): string {
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
