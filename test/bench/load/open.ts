/**
 * A load generator with an open arrival model: calls are sent at fixed times, whether or not earlier ones are
 * answered, and each is measured from the time at which it was due. Its argument is an `OpenLoad` as JSON. It
 * prints `OpenFigures` as one line of JSON.
 */
import { quantile } from '../statistics.ts'
import { type Caller, createCaller, requestOf } from './call.ts'
import type { OpenFigures, OpenLoad } from './loads.ts'

/** Maximum number of connections. */
const MAX_CALLERS = 256

const load: OpenLoad = JSON.parse(process.argv[2] as string)
const { url, perSecond, seconds } = load
const requests = load.targets.map((target) => requestOf(url, target))
/** Idle connections, the most recently used one last, and calls waiting for a connection. */
const idle: Caller[] = []
const waiting: ((caller: Caller) => void)[] = []
const callers: Caller[] = []
const count = Math.floor(perSecond * seconds)
const latencies: number[] = []
const late: number[] = []
const open = new Set<Promise<void>>()
let failed = 0

function freeCaller(): Caller | Promise<Caller> {
  const free = idle.pop()
  if (free) return free
  if (callers.length === MAX_CALLERS) return new Promise((resolve) => waiting.push(resolve))
  const made = createCaller(url)
  callers.push(made)
  return made
}

/** The wait for a connection counts as latency of the call. */
async function send(index: number, dueMs: number): Promise<void> {
  late.push(performance.now() - dueMs)
  const caller = await freeCaller()
  if (!(await caller.call(requests[index % requests.length] as Buffer))) failed += 1
  latencies.push(performance.now() - dueMs)
  const next = waiting.shift()
  if (next) next(caller)
  else idle.push(caller)
}

const begun = performance.now()
const dueOf = (index: number) => begun + (index / perSecond) * 1000
for (let index = 0; index < count; ) {
  for (; index < count && dueOf(index) <= performance.now(); index += 1) {
    const made: Promise<void> = send(index, dueOf(index)).finally(() => open.delete(made))
    open.add(made)
  }
  await new Promise((resolve) => setTimeout(resolve, 1))
}
await Promise.all(open)
latencies.sort((a, b) => a - b)
late.sort((a, b) => a - b)
const figures: OpenFigures = {
  calls: latencies.length,
  p50: quantile(latencies, 0.5),
  p99: quantile(latencies, 0.99),
  failed,
  lateP99: quantile(late, 0.99),
}
console.log(JSON.stringify(figures))
for (const { close } of callers) close()
