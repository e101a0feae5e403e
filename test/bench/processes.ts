/** What a server takes of the machine, with all processes that it started. */
import { readFileSync } from 'node:fs'
import { cpuMsOf, familyOf } from '../../runtime/verify/processes.ts'
import type { Server } from './server.ts'

/** Runs `work` and says how much processor time the server's processes took meanwhile, in milliseconds. */
export async function withCpu<T>(
  { pid }: Server,
  work: () => Promise<T>,
): Promise<{ result: T; cpuMs: number }> {
  const before = cpuMsOf(pid)
  const result = await work()
  return { result, cpuMs: cpuMsOf(pid) - before }
}

/** Resident memory, in megabytes. */
export type Memory = {
  hostMb: number
  /** Of the host's worker processes together; what they share is counted in each. */
  workersMb: number
  workers: number
}

const MB = 1_000_000

/** Memory of a Keyway host and its workers; the database's processes are left out. */
export function memoryOf({ pid }: Server): Memory {
  const [host, ...others] = familyOf(pid)
  const workers = others.filter((one) => /\/worker-[0-9a-f]+\.mjs\0/.test(commandOf(one.pid)))
  const sum = workers.reduce((bytes, { residentBytes }) => bytes + residentBytes, 0)
  return {
    hostMb: (host?.residentBytes ?? 0) / MB,
    workersMb: sum / MB,
    workers: workers.length,
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    // It ended between two looks.
    return ''
  }
}
