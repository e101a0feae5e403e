/** The resource usage of a server and of all processes that it started. */
import { readdirSync, readFileSync } from 'node:fs'
import { cpuMsOf, familyOf } from '../../runtime/verify/processes.ts'
import type { Server } from './server.ts'

/** Runs `work` and returns the processor time that the server's processes used for it, in milliseconds. */
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
  /** Total of the host's worker processes. Shared memory is counted in each. */
  workersMb: number
  workers: number
}

const MB = 1_000_000

/** Processor time of a Keyway host and its workers so far, in microseconds, without that of its database. */
export type HostTimes = { hostUs: number; workersUs: number }

/** Reads the times, with a resolution of a millisecond. Processes that have ended are not included. */
export function hostTimesOf({ pid }: Pick<Server, 'pid'>): HostTimes {
  const [, ...others] = familyOf(pid)
  const workersUs = others.filter(isWorker).reduce((sum, one) => sum + threadsUs(one.pid), 0)
  return { hostUs: threadsUs(pid), workersUs }
}

/**
 * Processor time of all processes of a host except its workers, that is, of its database. In microseconds,
 * with a resolution of a hundredth of a second.
 */
export function databaseUsOf(pid: number): number {
  const [, ...others] = familyOf(pid)
  return others.filter((one) => !isWorker(one)).reduce((sum, { cpuMs }) => sum + cpuMs * 1000, 0)
}

/** Processor time so far of the processes whose command has this text, in microseconds. */
export const namedUs = (text: string): number =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandOf(Number(name)).includes(text))
    .reduce((sum, name) => sum + threadsUs(Number(name)), 0)

/** Processor time of the current threads of a process, in microseconds. */
function threadsUs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const sum = threads.reduce((ns, thread) => ns + threadNs(`/proc/${pid}/task/${thread}`), 0)
  return sum / 1000
}

function threadNs(task: string): number {
  try {
    return Number(readFileSync(`${task}/schedstat`, 'latin1').split(' ')[0])
  } catch {
    // The process has ended between two samples.
    return 0
  }
}

const isWorker = ({ pid }: { pid: number }): boolean =>
  /\/worker-[0-9a-f]+\.cjs\0/.test(commandOf(pid))

/** Memory of a Keyway host and its workers, without the processes of the database. */
export function memoryOf({ pid }: Pick<Server, 'pid'>): Memory {
  const [host, ...others] = familyOf(pid)
  const workers = others.filter(isWorker)
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
    // The process has ended between two samples.
    return ''
  }
}
