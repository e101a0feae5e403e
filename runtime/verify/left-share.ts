/**
 * How much of the machine's processors other programs leave to a host that is attacked. Bounds of time are held against
 * what it could have used: on a crowded machine its time passes more slowly. What the host and its workers take, and what
 * this process takes to attack and to measure, is never held to be another program's.
 */
import { readFileSync } from 'node:fs'
import { cpuMsOf } from './processes.ts'

/** Processor times so far, in milliseconds. */
type Times = {
  /** What all processors could have given. */
  allMs: number
  /** What they gave to anybody. */
  busyMs: number
  /** What of it the attacked and the measuring processes took. */
  ownMs: number
}

/** Never none: a bound would hold for ever. */
const LEAST = 0.05

/** The share between two moments, from `LEAST` to 1. */
export function shareOf(before: Times, after: Times): number {
  const allMs = after.allMs - before.allMs
  if (allMs <= 0) return 1
  const othersMs = after.busyMs - before.busyMs - (after.ownMs - before.ownMs)
  return Math.min(1, Math.max(LEAST, 1 - othersMs / allMs))
}

/** Watches from now on; the answer says the share since then, which is 1 where the system cannot say (not Linux). */
export function watchLeftShare(pid: number): () => number {
  if (process.platform !== 'linux') return () => 1
  const before = timesOf(pid)
  return () => shareOf(before, timesOf(pid))
}

/** A share from which on nothing is said: the system's own programs take a little. */
const ALL_BUT_ALL = 0.9

/** What an operator must know of a run beside other programs; null where they left nearly everything. */
export function crowdedWords(
  outcomes: readonly { leftShare: number; tries: number }[],
): string | null {
  const crowded = outcomes.filter(({ leftShare }) => leftShare < ALL_BUT_ALL)
  if (crowded.length === 0) return null
  const least = Math.min(...crowded.map(({ leftShare }) => leftShare))
  const again = outcomes.filter(({ tries }) => tries > 1).length
  const repeated = again === 0 ? '' : `, and ${again} run again`
  return `other programs used the processors: ${crowded.length} of ${outcomes.length} attacks were given more time (at most ${(1 / least).toFixed(1)} times)${repeated}; the bounds are exact on a machine at rest`
}

const TICK_MS = 10

/**
 * Those of now, for a process with all that it started, and this one. Linux.
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

/** What the processes that a process had started took, of those that have ended. */
function endedMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[13]) + Number(fields[14])) * TICK_MS
  } catch {
    // It has ended itself.
    return 0
  }
}
