/**
 * Finds the worker that burns CPU without answering anything, and lets it go behind all others: measured,
 * its neighbours' p99 then grows by about 1 % instead of 25 % (sandbox.md). Linux alone; elsewhere it
 * finds nothing.
 */
import { setPriority } from 'node:os'
import { readStat, threadsOf } from './process-stat.ts'

export type CpuWatchLimits = {
  /** How long a worker may burn before it is made to wait for others, in milliseconds. */
  burnMs: number
  /** Share of one core from which on it burns; low, because on a busy machine nobody gets a whole one. */
  burnShare: number
  /** Answers in a second from which on it is at work, whatever it takes. */
  busyAnswers: number
}

export const CPU_WATCH_LIMITS: CpuWatchLimits = { burnMs: 1000, burnShare: 0.35, busyAnswers: 20 }

/** One look at a lane's worker; true at the moment in which it has burned for too long. */
export type CpuWatch = (pid: number, answers: number) => boolean

type Seen = {
  pid: number
  atMs: number
  cpuMs: number
  answers: number
  burnedMs: number
  told: boolean
}

/** Watches the workers of one lane, of which there is one at a time. */
export function createCpuWatch(
  now: () => number = Date.now,
  cpuMsOf: (pid: number) => number | null = (pid) => readStat(pid)?.cpuMs ?? null,
  { burnMs, burnShare, busyAnswers }: CpuWatchLimits = CPU_WATCH_LIMITS,
): CpuWatch {
  let before: Seen | null = null
  return (pid, answers) => {
    const cpuMs = cpuMsOf(pid)
    if (cpuMs === null) return false
    const atMs = now()
    if (before?.pid !== pid) {
      before = { pid, atMs, cpuMs, answers, burnedMs: 0, told: false }
      return false
    }
    const passedMs = atMs - before.atMs
    if (passedMs <= 0) return false
    const burns =
      (cpuMs - before.cpuMs) / passedMs >= burnShare &&
      ((answers - before.answers) / passedMs) * 1000 < busyAnswers
    const burnedMs = burns ? before.burnedMs + passedMs : 0
    const tell = burnedMs >= burnMs && !before.told
    before = { pid, atMs, cpuMs, answers, burnedMs, told: before.told || tell }
    return tell
  }
}

/** The lowest priority there is. */
const LOWEST = 19

/** Lets a process go behind all others. A priority belongs to a thread: new ones inherit it. */
export function lowerPriority(pid: number): void {
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, LOWEST)
    } catch (error) {
      // The thread is gone; the others still are to be slowed.
      if ((error as { info?: { code?: string } }).info?.code !== 'ESRCH') throw error
    }
  }
}
