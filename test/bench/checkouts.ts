/**
 * `npm run bench:checkouts -- FOLDER...`: the effect of a change of the hot path. One host of each checkout
 * runs. They are called in turns of 0.2 s, so that other load on the machine affects all of them. The result is the processor time of the host and of its workers per call;
 * calls per second are printed as well.
 *
 * In the environment: `CYCLES` (60), `SLICE_MS` (200), `CALLERS` (32) and `ONLY` (capabilities, separated by
 * commas).
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { CHECKOUT, type Home, makeHome, startKeyway, untilServed } from './contenders/keyway.ts'
import { type Caller, createCaller, requestOf } from './load/call.ts'
import type { Target } from './load/loads.ts'
import { loadWords, machineWords } from './machine.ts'
import { hostTimesOf } from './processes.ts'
import type { Run } from './run.ts'
import type { Server } from './server.ts'
import { median, ratios } from './statistics.ts'
import { compareAnswers, targetOf, WORKLOADS, type Workload } from './workloads.ts'

/** Figures of one slice: microseconds of processor time per call, and calls per second. */
type Slice = Record<'host' | 'workers' | 'both' | 'calls/s', number>
type Side = { name: string; server: Server; home: Home; callers: Caller[] }

const { CYCLES = '60', SLICE_MS = '200', CALLERS = '32', ONLY = '' } = process.env
const cycles = Number(CYCLES)
const callerCount = Number(CALLERS)
/** Warm-up turns of each host. */
const WARM_CYCLES = 15

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stopping.abort(new Error(`stopped by ${signal}`)))

const run: Run = {
  rounds: cycles,
  seconds: Number(SLICE_MS) / 1000,
  calls: 0,
  sizes: [],
  home: await realpath(await mkdtemp(path.join(tmpdir(), 'keyway-checkouts-'))),
  signal: stopping.signal,
  tell: () => undefined,
}

async function start(checkout: string, index: number): Promise<Side> {
  const home = await makeHome(run, `checkout-${index}`)
  const plugins = path.join(import.meta.dirname, 'connectors')
  const server = await startKeyway(run, home, plugins, {}, checkout)
  await untilServed(run, server, (ids) => ids.includes('bench'))
  const callers = Array.from({ length: callerCount }, () => createCaller(server.url))
  return { name: path.basename(checkout), server, home, callers }
}

async function measure({ server, callers }: Side, target: Target): Promise<Slice> {
  const request = requestOf(server.url, target)
  const before = hostTimesOf(server)
  const begunMs = performance.now()
  const endMs = begunMs + run.seconds * 1000
  let calls = 0
  async function keepCalling({ call }: Caller): Promise<void> {
    while (performance.now() < endMs) {
      run.signal.throwIfAborted()
      if (!(await call(request))) throw new Error(`${server.url} failed a call`)
      calls += 1
    }
  }
  await Promise.all(callers.map(keepCalling))
  const seconds = (performance.now() - begunMs) / 1000
  const after = hostTimesOf(server)
  const host = (after.hostUs - before.hostUs) / calls
  const workers = (after.workersUs - before.workersUs) / calls
  return { host, workers, both: host + workers, 'calls/s': calls / seconds }
}

async function compare(sides: readonly Side[], workload: Workload): Promise<void> {
  const slices = new Map<Side, Slice[]>(sides.map((side) => [side, []]))
  for (let cycle = -WARM_CYCLES; cycle < cycles; cycle += 1)
    for (const side of cycle % 2 === 0 ? sides : sides.toReversed()) {
      const slice = await measure(side, targetOf(workload))
      if (cycle >= 0) slices.get(side)?.push(slice)
    }
  const [first = []] = slices.values()
  console.log(`\n${workload.name}, ${callerCount} callers, load ${loadWords()}`)
  for (const [{ name }, mine] of slices) {
    const words = (['host', 'workers', 'both', 'calls/s'] as const).map((figure) => {
      const [ours, theirs] = [mine, first].map((all) => all.map((one) => one[figure]))
      const ratio = median(ratios(ours ?? [], theirs ?? []))
      return `${figure} ${median(ours ?? []).toFixed(1)} (${ratio.toFixed(3)})`
    })
    console.log(`  ${name}: ${words.join(', ')}`)
  }
}

const sides: Side[] = []
try {
  const checkouts = [CHECKOUT, ...process.argv.slice(2).map((folder) => path.resolve(folder))]
  for (const [index, checkout] of checkouts.entries()) sides.push(await start(checkout, index))
  console.log(`${machineWords()}; ${CYCLES} turns of ${SLICE_MS} ms; in brackets: of the first`)
  const named = ONLY.split(',')
  for (const workload of WORKLOADS) {
    if (ONLY !== '' && !named.includes(workload.capability)) continue
    await compareAnswers(
      sides.map(({ name, server }) => ({ name, url: server.url })),
      workload,
    )
    await compare(sides, workload)
  }
} finally {
  for (const { server, home, callers } of sides) {
    for (const { close } of callers) close()
    await server.stop()
    await home.remove()
  }
  await rm(run.home, { recursive: true, force: true })
}
