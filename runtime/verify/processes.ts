/** What the machine says of a process and of those below it. Empty where it cannot say (not Linux). */
import { readdirSync, readFileSync } from 'node:fs'

const TICK_MS = 10
const PAGE_BYTES = 4096

type Process = { pid: number; parent: number; cpuMs: number; residentBytes: number }

/** A process and all that it started, that run still. */
export function familyOf(pid: number): Process[] {
  const all = process.platform === 'linux' ? readAll() : []
  const found = all.filter((one) => one.pid === pid)
  for (const one of found) found.push(...all.filter(({ parent }) => parent === one.pid))
  return found
}

/** Processor time of a process and of all that it started, in milliseconds. */
export const cpuMsOf = (pid: number): number =>
  familyOf(pid).reduce((sum, { cpuMs }) => sum + cpuMs, 0)

function readAll(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => read(Number(name)) ?? [])
}

function read(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie runs no more.
    if (fields[0] === 'Z') return null
    return {
      pid,
      parent: Number(fields[1]),
      cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
      residentBytes: Number(fields[21]) * PAGE_BYTES,
    }
  } catch {
    // It ended between two looks.
    return null
  }
}
