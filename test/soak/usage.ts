/** Measures what a host process uses, from outside, and finds its processes. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { HostLink } from '../../runtime/verify/host-link.ts'
import { familyOf } from '../../runtime/verify/processes.ts'

/** Usage at rest, after a garbage collection. */
export type Usage = {
  /** Heap and buffers in use, in bytes. */
  usedBytes: number
  /** Resident memory of the host, and below of its workers, in bytes. */
  residentBytes: number
  workerBytes: number
  descriptors: number
  workers: number
}

const SETTLE_MS = 1000
const LOOKS = 3

export const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** Resident memory of the host alone, in bytes. */
export const residentOf = (pid: number): number =>
  familyOf(pid).find((one) => one.pid === pid)?.residentBytes ?? 0

/** Returns the minimum of several measurements: memory that is about to be freed does not count. */
export async function usageOf(host: HostLink): Promise<Usage> {
  await pause(SETTLE_MS)
  const looks: Usage[] = []
  for (let look = 0; look < LOOKS; look += 1) {
    const { usedBytes, residentBytes, workers } = await host.state()
    const pids = workers.flatMap(({ pid }) => pid ?? [])
    const workerBytes = familyOf(host.pid)
      .filter(({ pid }) => pids.includes(pid))
      .reduce((sum, one) => sum + one.residentBytes, 0)
    const descriptors = descriptorsOf(host.pid)
    looks.push({ usedBytes, residentBytes, workerBytes, descriptors, workers: pids.length })
    await pause(SETTLE_MS / LOOKS)
  }
  const least = (name: keyof Usage) => Math.min(...looks.map((one) => one[name]))
  return {
    usedBytes: least('usedBytes'),
    residentBytes: least('residentBytes'),
    workerBytes: least('workerBytes'),
    descriptors: least('descriptors'),
    workers: least('workers'),
  }
}

/** A process, identified by its id and start time, since ids are reused. */
export type Known = { pid: number; began: string }

/** A process and all its descendants. */
export const processesOf = (pid: number): Known[] =>
  familyOf(pid).flatMap((one) => {
    const began = beganAt(one.pid)
    return began === null ? [] : [{ pid: one.pid, began }]
  })

export const isThere = ({ pid, began }: Known): boolean =>
  familyOf(pid).length > 0 && beganAt(pid) === began

function beganAt(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`)
  return stat === null ? null : (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null)
}

/** Worker processes of a host that belong to none of its lanes. */
export async function strayWorkers(host: HostLink): Promise<number[]> {
  const { workers } = await host.state()
  const known = workers.map(({ pid }) => pid)
  return familyOf(host.pid)
    .map(({ pid }) => pid)
    .filter((pid) => commandOf(pid).includes('/run/worker-') && !known.includes(pid))
}

const commandOf = (pid: number): string => read(`/proc/${pid}/cmdline`) ?? ''

function read(file: string): string | null {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    // The process has ended in between.
    return null
  }
}
