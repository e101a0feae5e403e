/** Detects that the disk of the database is full, and reports it. */

import { codeOf } from '../contract/errors/thrown.ts'

/** SQLSTATE of a server that could not write, and the system's error codes. */
const FULL: readonly unknown[] = ['53100', 'ENOSPC', 'EDQUOT']

/** Reports whether an error means that a disk is full, the database's or our own. */
export function isDiskFull(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (FULL.includes(codeOf(one))) return true
  return false
}

/**
 * Reports whether a line of the server's own log means a full disk. A server that cannot write its journal
 * ends.
 */
export const saysDiskFull = (line: string): boolean =>
  /No space left on device|Disk quota exceeded/.test(line)

/** How long the disk counts as full after the last refusal, in milliseconds. Jobs write every few seconds. */
const FRESH_MS = 60_000

type DiskWatch = {
  /** Reports a write that was refused for lack of space. */
  refused(): void
  /** Returns the problem as text while the disk is full, else null. */
  words(): string | null
  stop(): void
}

/** Remembers whether the disk is full. `tell` is called when that begins and when it ends. */
export function watchDisk(where: string, tell: (text: string) => void): DiskWatch {
  let over: NodeJS.Timeout | null = null
  return {
    refused() {
      if (over === null)
        tell(
          `the disk of the database is full (${where}): what would change something is refused until there is room; make some, the rest comes back by itself`,
        )
      else clearTimeout(over)
      over = setTimeout(() => {
        over = null
        tell('the disk of the database has room again: nothing was refused for a minute')
      }, FRESH_MS).unref()
    },
    words: () =>
      over === null ? null : `room on the disk of the database, which is full (${where})`,
    stop() {
      if (over !== null) clearTimeout(over)
      over = null
    },
  }
}
