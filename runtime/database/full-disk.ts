/** The disk of the database is full: how it shows, and what is said of it. */

import { codeOf } from '../contract/errors/thrown.ts'

/** SQLSTATE of a server that could not write, and what the system says. */
const FULL: readonly unknown[] = ['53100', 'ENOSPC', 'EDQUOT']

/** Whether an error says that a disk is full, the database's or our own. */
export function isDiskFull(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (FULL.includes(codeOf(one))) return true
  return false
}

/** Whether a line of the server's own log says so: where it cannot write its journal, it ends. */
export const saysDiskFull = (line: string): boolean =>
  /No space left on device|Disk quota exceeded/.test(line)

/** How long after the last refusal the disk still counts as full: jobs write every few seconds, in milliseconds. */
const FRESH_MS = 60_000

type DiskWatch = {
  /** Something was refused for want of room. */
  refused(): void
  /** As text, while it is full; else null. */
  words(): string | null
  stop(): void
}

/** Remembers whether the disk is full; `tell` hears when that begins and when it is over. */
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
