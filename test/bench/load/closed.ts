/**
 * A load generator in a process of its own: a number of callers on keep-alive connections, each sending its
 * next call when the last one is answered, for a time or a number of calls. Its argument is a `ClosedLoad` as
 * JSON. It prints `Figures` as one line of JSON.
 */
import { quantile } from '../statistics.ts'
import { type Caller, createCaller, requestOf } from './call.ts'
import type { ClosedLoad, Figures } from './loads.ts'

/** Number of warm-up calls. */
const WARM_CALLS = 500

const load: ClosedLoad = JSON.parse(process.argv[2] as string)
const { url, seconds, calls } = load
const requests = load.targets.map((target) => requestOf(url, target))
const callers = Array.from({ length: load.callers }, () => createCaller(url))
const latencies: number[] = []
let failed = 0
let sent = 0

/** Runs the callers until the number of calls is sent or the time is over. */
async function send(most: number, endMs: number): Promise<void> {
  const lastCall = sent + most
  async function keepCalling({ call }: Caller): Promise<void> {
    while (sent < lastCall && performance.now() < endMs) {
      const request = requests[sent % requests.length] as Buffer
      sent += 1
      const at = performance.now()
      if (!(await call(request))) failed += 1
      latencies.push(performance.now() - at)
    }
  }
  await Promise.all(callers.map(keepCalling))
}

const FOREVER = Number.POSITIVE_INFINITY

// The code of this process is slow at first, and connections are opened: neither is to be measured.
await send(WARM_CALLS, FOREVER)
latencies.length = 0
const begun = performance.now()
await send(calls ?? FOREVER, begun + (seconds ?? FOREVER) * 1000)
const tookMs = performance.now() - begun
latencies.sort((a, b) => a - b)
const figures: Figures = {
  calls: latencies.length,
  sent,
  perSecond: (latencies.length / tookMs) * 1000,
  p50: quantile(latencies, 0.5),
  p99: quantile(latencies, 0.99),
  failed,
}
console.log(JSON.stringify(figures))
for (const { close } of callers) close()
