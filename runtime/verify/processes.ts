/** Processor time and memory of a process and its descendants. Empty if the system does not report them (not Linux). */
import { readdirSync, readFileSync } from 'node:fs'

const TICK_MS = 10
const PAGE_BYTES = 4096

type Process = { pid: number; parent: number; cpuMs: number; residentBytes: number }

/** How long a process outside of the family is not read again, in milliseconds. */
const STRANGE_MS = 1000

/**
 * Processes outside of the family. Reading all processes of a machine twenty times a second takes a tenth of
 * a core.
 */
type Strangers = { of: number; sinceMs: number; pids: Set<number> }
let strangers: Strangers = { of: 0, sinceMs: 0, pids: new Set() }

/** Returns a process and all its descendants that still run. */
export function familyOf(pid: number): Process[] {
  const nowMs = performance.now()
  // Read all processes again from time to time: the system reuses the ids of ended processes.
  if (strangers.of !== pid || nowMs - strangers.sinceMs > STRANGE_MS)
    strangers = { of: pid, sinceMs: nowMs, pids: new Set() }
  const all = process.platform === 'linux' ? readAllBut(strangers.pids) : []
  const found = all.filter((one) => one.pid === pid)
  for (const one of found) found.push(...all.filter(({ parent }) => parent === one.pid))
  const family = new Set(found.map((one) => one.pid))
  for (const one of all) if (!family.has(one.pid)) strangers.pids.add(one.pid)
  return found
}

/** Returns the processor time of a process and its descendants, in milliseconds. */
export const cpuMsOf = (pid: number): number =>
  familyOf(pid).reduce((sum, { cpuMs }) => sum + cpuMs, 0)

function readAllBut(known: ReadonlySet<number>): Process[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => !Number.isNaN(pid) && !known.has(pid))
    .flatMap((pid) => read(pid) ?? [])
}

function read(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie no longer runs.
    if (fields[0] === 'Z') return null
    return {
      pid,
      parent: Number(fields[1]),
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      residentBytes: Number(fields[21]) * PAGE_BYTES,
    }
  } catch {
    // The process ended between two reads.
    return null
  }
}
