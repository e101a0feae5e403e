/**
 * Finds the worker that burns CPU without answering anything, which then has to wait for all others
 * (priority.ts). Linux alone; elsewhere it finds nothing.
 */
import { readStat } from './process-stat.ts'

type CpuWatchLimits = {
  /** How long a worker may burn before it is made to wait for others, in milliseconds. */
  burnMs: number
  /** Share of one core from which on it burns; low, because on a busy machine nobody gets a whole one. */
  burnShare: number
  /** Answers in a second from which on it is at work, whatever it takes. */
  busyAnswers: number
}

const CPU_WATCH_LIMITS: CpuWatchLimits = { burnMs: 1000, burnShare: 0.35, busyAnswers: 20 }

/** `burned` once: at the moment in which it has burned for too long. */
export type CpuUse = 'calm' | 'burns' | 'burned'

/** One look at a lane's worker: what it has done since the one before. */
export type CpuWatch = (pid: number, answers: number) => CpuUse

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
    if (cpuMs === null) return 'calm'
    const atMs = now()
    if (before?.pid !== pid) {
      before = { pid, atMs, cpuMs, answers, burnedMs: 0, told: false }
      return 'calm'
    }
    const passedMs = atMs - before.atMs
    if (passedMs <= 0) return 'calm'
    const burns =
      (cpuMs - before.cpuMs) / passedMs >= burnShare &&
      ((answers - before.answers) / passedMs) * 1000 < busyAnswers
    const burnedMs = burns ? before.burnedMs + passedMs : 0
    const tell = burnedMs >= burnMs && !before.told
    before = { pid, atMs, cpuMs, answers, burnedMs, told: before.told || tell }
    return tell ? 'burned' : burns ? 'burns' : 'calm'
  }
}
