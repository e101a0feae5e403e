/**
 * A soak: mixed traffic of many tenants with some hostile calls for a given time, followed by a check of what
 * the host uses. Only observes the host from outside.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { HOSTILE } from './hostile.ts'
import { type Ended, granted, KINDS, type Kind } from './kinds.ts'
import { openSoakScene, type SoakScene } from './scene.ts'
import {
  isThere,
  type Known,
  processesOf,
  residentOf,
  strayWorkers,
  type Usage,
  usageOf,
} from './usage.ts'

export type SoakOptions = {
  seconds: number
  /** Calls per second. */
  rate: number
  tenants: number
  /** How late an answer may be after its deadline, without this process's own stalls, in milliseconds. */
  maxLateMs: number
  onProgress?(text: string): void
}

/** Results of one kind of call. Times are in milliseconds. */
export type KindReport = {
  name: string
  calls: number
  p50Ms: number
  p99Ms: number
  /** The latest answer after its deadline; negative if all were in time. */
  latestMs: number
}

export type SoakReport = {
  seconds: number
  kinds: KindReport[]
  before: Usage
  after: Usage
  /** Resident memory of the host early and late in the run: medians of a fifth of it, in bytes. */
  residentEarly: number
  residentLate: number
  /** Worker processes that ended, by reason. */
  workerEnds: string
  findings: string[]
}

const MEBIBYTE = 1024 * 1024

export const BOUNDS = {
  /** Allowed growth of memory in use, in bytes: metrics and caches that have been filled. */
  usedBytes: 16 * MEBIBYTE,
  /** Allowed growth of resident memory, in bytes: kept by the allocator. */
  residentBytes: 96 * MEBIBYTE,
  /** Allowed growth of descriptors: idle connections to upstreams. */
  descriptors: 16,
  /** Descriptors per additional worker: its pipes. */
  workerDescriptors: 3,
} as const

/** Part of the run before the first measurement, in which connectors are loaded and caches filled. */
const WARM_PART = 0.25
const MAX_WARM_S = 60
/** How long to wait for the last calls, in milliseconds. */
const LAST_MS = 60_000
/** How long its processes may live after the host's end, in milliseconds. */
const GONE_MS = 5000

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const scene = await openSoakScene(['steady'], HOSTILE)
  const run = createRun(scene, options)
  const seen = new Map<string, Known>()
  const resident: number[] = []
  const look = setInterval(() => {
    for (const one of processesOf(scene.host.pid)) seen.set(`${one.pid} ${one.began}`, one)
    resident.push(residentOf(scene.host.pid))
  }, 1000)
  try {
    const warmS = Math.min(MAX_WARM_S, options.seconds * WARM_PART)
    await run.traffic(warmS)
    scene.client.letGo()
    const before = await usageOf(scene.host)
    resident.length = 0
    await run.traffic(options.seconds - warmS)
    scene.client.letGo()
    const after = await usageOf(scene.host)
    clearInterval(look)
    const strays = await strayWorkers(scene.host)
    const { logged } = await scene.host.state()
    const workerEnds = await endsOf(scene)
    const fifth = Math.ceil(resident.length / 5)
    const measured = {
      before,
      after,
      residentEarly: median(resident.slice(0, fifth)),
      residentLate: median(resident.slice(-fifth)),
    }
    await scene.close()
    const findings = [
      ...run.findings(),
      ...growth(measured),
      ...scene.upstream.wrong.map((what) => `upstream: ${what}`),
      ...wrongGrants(scene),
      ...logged.map((line) => `log: ${line}`),
      ...strays.map((pid) => `worker ${pid} is in no lane`),
      ...(await orphans(seen)).map((pid) => `process ${pid} has outlived the host`),
    ]
    return { seconds: options.seconds, kinds: run.kinds(), ...measured, workerEnds, findings }
  } catch (error) {
    clearInterval(look)
    await scene.close()
    throw error
  }
}

/** Runs the calls: a new one at each beat, whether or not earlier ones are answered. */
function createRun(scene: SoakScene, { rate, tenants, maxLateMs, onProgress }: SoakOptions) {
  const ended = new Map<Kind, Ended[]>()
  const running = new Set<Promise<void>>()
  const wrong: string[] = []
  const random = createRandom(20_261_121)
  let turn = 0
  let done = 0

  async function one(kind: Kind): Promise<void> {
    turn += 1
    const tenant = `tenant-${Math.floor(random() * tenants)}`
    const end = await kind.run(scene, tenant, turn)
    done += 1
    ended.set(kind, [...(ended.get(kind) ?? []), end])
    if (end.wrong !== null) wrong.push(`${kind.name}: ${end.wrong}`)
    if (end.lateMs > maxLateMs)
      wrong.push(`${kind.name}: answered ${Math.round(end.lateMs)} ms after its deadline`)
  }

  return {
    async traffic(seconds: number): Promise<void> {
      const beganMs = performance.now()
      const endMs = beganMs + seconds * 1000
      for (let beat = 1; performance.now() < endMs; beat += 1) {
        const call = one(pick(random())).finally(() => running.delete(call))
        running.add(call)
        onProgress?.(`${done} calls, ${running.size} open, ${wrong.length} wrong`)
        const dueMs = beganMs + (beat * 1000) / rate
        await pause(Math.max(0, dueMs - performance.now()))
      }
      const late = pause(LAST_MS, 'late', { ref: false })
      if ((await Promise.race([Promise.all(running), late])) === 'late')
        throw new Error(`${running.size} calls never ended`)
    },
    findings: () => [...new Set(wrong)].slice(0, 50),
    kinds: () => [...ended].map(([kind, ends]) => reportOf(kind, ends)),
  }
}

function pick(random: number): Kind {
  let left = random * KINDS.reduce((sum, { share }) => sum + share, 0)
  for (const kind of KINDS) {
    left -= kind.share
    if (left < 0) return kind
  }
  return KINDS[0] as Kind
}

/** A random generator with the same numbers in each run (Park and Miller). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

function reportOf({ name }: Kind, ends: Ended[]): KindReport {
  const took = ends.map(({ tookMs }) => tookMs).sort((a, b) => a - b)
  const at = (part: number) => took[Math.min(took.length - 1, Math.floor(took.length * part))] ?? 0
  const latestMs = Math.max(...ends.map(({ lateMs }) => lateMs))
  return { name, calls: ends.length, p50Ms: at(0.5), p99Ms: at(0.99), latestMs }
}

const median = (values: number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

type Measured = Pick<SoakReport, 'before' | 'after' | 'residentEarly' | 'residentLate'>

function growth({ before, after, residentEarly, residentLate }: Measured): string[] {
  const grown = (what: string, bytes: number, bound: number) =>
    bytes > bound ? [`the host's ${what} grew by ${Math.round(bytes / MEBIBYTE)} MiB`] : []
  const moreWorkers = Math.max(0, after.workers - before.workers)
  const more = after.descriptors - before.descriptors - moreWorkers * BOUNDS.workerDescriptors
  return [
    ...grown('memory in use', after.usedBytes - before.usedBytes, BOUNDS.usedBytes),
    ...grown('resident memory', residentLate - residentEarly, BOUNDS.residentBytes),
    ...(more > BOUNDS.descriptors ? [`the host holds ${more} more descriptors`] : []),
  ]
}

async function endsOf({ client }: SoakScene): Promise<string> {
  const { text } = await client.call({ at: '/metrics', deadlineMs: 10_000, isText: true })
  return [...text.matchAll(/^keyway_worker_ends_total\{reason="(\w+)"\} (\d+)$/gm)]
    .map(([, reason, times]) => `${times} ${reason}`)
    .join(', ')
}

/** Every acknowledged grant must have arrived, and none twice. */
function wrongGrants({ upstream }: SoakScene): string[] {
  const lost = granted.filter((grant) => !upstream.grants.has(grant))
  const twice = [...upstream.grants].filter(([, times]) => times > 1)
  return [
    ...lost.map((grant) => `${grant} was answered and never made`),
    ...twice.map(([grant, times]) => `${grant} was made ${times} times`),
  ]
}

async function orphans(seen: ReadonlyMap<string, Known>): Promise<number[]> {
  const alive = () => [...seen.values()].filter(isThere).map(({ pid }) => pid)
  const endMs = performance.now() + GONE_MS
  while (alive().length > 0 && performance.now() < endMs) await pause(50)
  return alive()
}
