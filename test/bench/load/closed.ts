/**
 * A load generator in a process of its own: so many callers on kept connections, each sending its next
 * call when the last one is answered, for so long or so many calls. Its argument is a `ClosedLoad` as
 * JSON; prints `Figures` as one line of JSON.
 */
import { Pool } from 'undici'
import { quantile } from '../statistics.ts'
import { isAnswered } from './call.ts'
import type { ClosedLoad, Figures, Target } from './loads.ts'

/** Calls before those that are measured. */
const WARM_CALLS = 500

const { url, targets, callers, seconds, calls }: ClosedLoad = JSON.parse(process.argv[2] as string)
const pool = new Pool(url, { connections: callers, pipelining: 1 })
const latencies: number[] = []
let failed = 0
let sent = 0

/** Callers at work until so many calls were sent, or the time is over. */
async function send(most: number, endMs: number): Promise<void> {
  const lastCall = sent + most
  async function caller(): Promise<void> {
    while (sent < lastCall && performance.now() < endMs) {
      const target = targets[sent % targets.length] as Target
      sent += 1
      const at = performance.now()
      if (!(await isAnswered(pool, target))) failed += 1
      latencies.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

const FOREVER = Number.POSITIVE_INFINITY

// This process's own code is slow at first, and connections are made: not what is measured.
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
await pool.close()
