/**
 * Detects a worker that uses much CPU without answering. Its priority is then lowered below all others
 * (priority.ts). Linux only; a no-op elsewhere.
 */
import { readStat } from './process-stat.ts'

type CpuWatchLimits = {
  /** How long a worker may burn CPU before its priority is lowered, in milliseconds. */
  burnMs: number
  /**
   * Share of one core from which a worker counts as burning. It is low because no worker gets a whole core on
   * a busy machine.
   */
  burnShare: number
  /** Answers per second from which a worker counts as working, regardless of its CPU usage. */
  busyAnswers: number
}

const CPU_WATCH_LIMITS: CpuWatchLimits = { burnMs: 1000, burnShare: 0.35, busyAnswers: 20 }

/** `burned` is reported once, when the worker has burned for too long. */
export type CpuUse = 'calm' | 'burns' | 'burned'

/** Measures a lane's worker since the previous measurement. */
export type CpuWatch = (pid: number, answers: number) => CpuUse

type Seen = {
  pid: number
  atMs: number
  cpuMs: number
  answers: number
  burnedMs: number
  isReported: boolean
}

/** Watches the workers of one lane, one at a time. */
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
      before = { pid, atMs, cpuMs, answers, burnedMs: 0, isReported: false }
      return 'calm'
    }
    const passedMs = atMs - before.atMs
    if (passedMs <= 0) return 'calm'
    const burns =
      (cpuMs - before.cpuMs) / passedMs >= burnShare &&
      ((answers - before.answers) / passedMs) * 1000 < busyAnswers
    const burnedMs = burns ? before.burnedMs + passedMs : 0
    const report = burnedMs >= burnMs && !before.isReported
    before = { pid, atMs, cpuMs, answers, burnedMs, isReported: before.isReported || report }
    return report ? 'burned' : burns ? 'burns' : 'calm'
  }
}
