/**
 * Share of the processors that other programs leave to the attacked host. Time limits are compared with the
 * time that it could have used, because time passes more slowly on a crowded machine. The processor time of
 * the host, of its workers and of this measuring process never counts as another program's.
 */
import { readFileSync } from 'node:fs'
import { cpuMsOf } from './processes.ts'

/** Processor times so far, in milliseconds. */
type Times = {
  /** Time that all processors could have provided. */
  allMs: number
  /** Time that they spent on any process. */
  busyMs: number
  /** Part of it that the attacked and the measuring processes used. */
  ownMs: number
}

/** Lowest share. It is not zero, because a time limit would then never be reached. */
const LEAST = 0.05

/** Returns the share between two moments, from `LEAST` to 1. */
export function shareOf(before: Times, after: Times): number {
  const allMs = after.allMs - before.allMs
  if (allMs <= 0) return 1
  const othersMs = after.busyMs - before.busyMs - (after.ownMs - before.ownMs)
  return Math.min(1, Math.max(LEAST, 1 - othersMs / allMs))
}

/**
 * Starts measuring. Returns a function that returns the share since then, or 1 if the system cannot measure
 * it (not Linux).
 */
export function watchLeftShare(pid: number): () => number {
  if (process.platform !== 'linux') return () => 1
  const before = timesOf(pid)
  return () => shareOf(before, timesOf(pid))
}

/** Share above which nothing is reported: the system's own programs use a little. */
const ALL_BUT_ALL = 0.9

/**
 * Returns a notice for the operator about a run on a crowded machine, or null if other programs left nearly
 * everything.
 */
export function crowdedWords(
  outcomes: readonly { leftShare: number; tries: number }[],
): string | null {
  const crowded = outcomes.filter(({ leftShare }) => leftShare < ALL_BUT_ALL)
  if (crowded.length === 0) return null
  const least = Math.min(...crowded.map(({ leftShare }) => leftShare))
  const again = outcomes.filter(({ tries }) => tries > 1).length
  const repeated = again === 0 ? '' : `, and ${again} were repeated`
  return `other programs used the processors: ${crowded.length} of ${outcomes.length} attacks were given more time (at most ${(1 / least).toFixed(1)} times)${repeated}; the limits are exact on an idle machine`
}

const TICK_MS = 10

/**
 * Returns the current times for this process and for another one with all its descendants. Linux only.
 *
 * @see proc_stat(5), first line: user, nice, system, idle, iowait, irq, softirq, steal
 */
export function timesOf(pid: number): Times {
  const [first = ''] = readFileSync('/proc/stat', 'latin1').split('\n')
  const ticks = first.split(/\s+/).slice(1, 9).map(Number)
  const [, , , idle = 0, waiting = 0] = ticks
  const all = ticks.reduce((sum, one) => sum + one, 0)
  const { user, system } = process.cpuUsage()
  const ownMs = cpuMsOf(pid) + endedMsOf(pid) + (user + system) / 1000
  return { allMs: all * TICK_MS, busyMs: (all - idle - waiting) * TICK_MS, ownMs }
}

/** Returns the processor time of a process's ended children. */
function endedMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[13]) + Number(fields[14])) * TICK_MS
  } catch {
    // The process itself has ended.
    return 0
  }
}
