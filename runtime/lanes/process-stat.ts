/** Reads the state of a process from Linux. Returns nothing on other platforms. */
import { readdirSync, readFileSync } from 'node:fs'

/** Unit of CPU time in Linux: 100 ticks a second on every platform that Node supports. */
const TICK_MS = 10
const PAGE_BYTES = 4096

export type ProcessStat = {
  /** Stopped by a signal, not by a debugger. */
  stopped: boolean
  /** It has ended, and its exit status has not been read. */
  hasEnded: boolean
  /** CPU time of all its threads, in milliseconds. */
  cpuMs: number
  residentBytes: number
}

/** Returns the state of a process; null if unknown: not Linux, or the process has ended. */
export function readStat(pid: number): ProcessStat | null {
  const fields = fieldsOf(`/proc/${pid}/stat`)
  if (fields === null) return null
  return {
    stopped: fields[0] === 'T',
    hasEnded: fields[0] === 'Z' || fields[0] === 'X',
    cpuMs: cpuMsOf(fields),
    residentBytes: Number(fields[21]) * PAGE_BYTES,
  }
}

/** CPU time in which a worker that gets to run has done what it was asked, in milliseconds. */
const ENOUGH_CPU_MS = 100

/**
 * Starts observing a process. The returned function reports whether it was runnable since, but got no CPU
 * time.
 */
export function watchStarvation(pid: number): () => boolean {
  const before = readStat(pid)
  return () => {
    const after = readStat(pid)
    if (before === null || after === null) return false
    return after.cpuMs - before.cpuMs < ENOUGH_CPU_MS && isRunnable(pid)
  }
}

/**
 * Starts observing the main thread of a process. The returned function reports whether it has computed long
 * enough since to do what it was asked. Waiting for a core or for other threads does not count. Time in the
 * kernel does not count either: it goes into memory pages, half of the time of copying a large text (16 MB:
 * 65 ms on a slow machine), while guest code soon has all the memory it may have.
 */
export function watchMainThread(pid: number): () => boolean {
  const file = `/proc/${pid}/task/${pid}/stat`
  const before = fieldsOf(file)
  return () => {
    const after = fieldsOf(file)
    if (before === null || after === null) return true
    return userMsOf(after) - userMsOf(before) >= ENOUGH_CPU_MS
  }
}

const userMsOf = (fields: string[]): number => Number(fields[11]) * TICK_MS
const cpuMsOf = (fields: string[]): number => userMsOf(fields) + Number(fields[12]) * TICK_MS

/** Reports whether a thread of a process runs, or would run if it had a core. */
const isRunnable = (pid: number): boolean =>
  threadsOf(pid).some((thread) => fieldsOf(`/proc/${pid}/task/${thread}/stat`)?.[0] === 'R')

/** Returns the ids of a process's threads. */
export function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    // Not Linux, or the process has just ended.
    return []
  }
}

/** Returns the fields after the name; the first is the state. */
function fieldsOf(file: string): string[] | null {
  if (process.platform !== 'linux') return null
  try {
    const stat = readFileSync(file, 'latin1')
    // The name in parentheses may contain anything, including spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    // It ended since the last look. Its end is reported by its own event.
    return null
  }
}
