/** What Linux says of a process. Nothing elsewhere. */
import { readdirSync, readFileSync } from 'node:fs'

/** What Linux counts CPU time in: 100 ticks a second, on every platform that Node runs on. */
const TICK_MS = 10
const PAGE_BYTES = 4096

export type ProcessStat = {
  /** Stopped by a signal; not by a debugger. */
  stopped: boolean
  /** It has ended, and nobody has asked how yet. */
  hasEnded: boolean
  /** Of all its threads, in milliseconds. */
  cpuMs: number
  residentBytes: number
}

/** How a process is; null where that cannot be known: not Linux, or just gone. */
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

/** Processor time in which a worker that is let to run has done what it was asked for, in milliseconds. */
const ENOUGH_CPU_MS = 100

/** Begins to look at a process; the answer says whether it would have run since, and was not let to. */
export function watchStarvation(pid: number): () => boolean {
  const before = readStat(pid)
  return () => {
    const after = readStat(pid)
    if (before === null || after === null) return false
    return after.cpuMs - before.cpuMs < ENOUGH_CPU_MS && isRunnable(pid)
  }
}

/**
 * Begins to look at the main thread of a process; the answer says whether it has computed since for as long as
 * takes to do what it was asked for. One that waits, for a core or for other threads, has not. Time in the kernel does not count: it
 * goes into pages of memory, half of what the worker's own copy of a large text takes (16 MB: 65 ms on a slow machine), while the code
 * of a guest has soon taken all that it may have.
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

/** Whether a thread of a process runs, or would if it were given a core. */
const isRunnable = (pid: number): boolean =>
  threadsOf(pid).some((thread) => fieldsOf(`/proc/${pid}/task/${thread}/stat`)?.[0] === 'R')

/** The ids of a process's threads. */
export function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    // Not Linux, or just gone.
    return []
  }
}

/** What stands behind the name: the state first. */
function fieldsOf(file: string): string[] | null {
  if (process.platform !== 'linux') return null
  try {
    const stat = readFileSync(file, 'latin1')
    // The name in brackets may hold anything, spaces and brackets too.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    // It ended between two looks; its end is told by its own event.
    return null
  }
}
