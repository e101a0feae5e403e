/**
 * A load generator with arrivals that nothing holds up: calls are sent at their times, whether or not
 * those before are answered, and each is measured from the moment at which it was to be sent. Its
 * argument is an `OpenLoad` as JSON; prints `OpenFigures` as one line of JSON.
 */
import { Pool } from 'undici'
import { quantile } from '../statistics.ts'
import { isAnswered } from './call.ts'
import type { OpenFigures, OpenLoad, Target } from './loads.ts'

const { url, targets, perSecond, seconds }: OpenLoad = JSON.parse(process.argv[2] as string)
// A call that waits for a connection waits in its latency.
const pool = new Pool(url, { connections: 256, pipelining: 1 })
const count = Math.floor(perSecond * seconds)
const latencies: number[] = []
const late: number[] = []
const open = new Set<Promise<void>>()
let failed = 0

async function send(index: number, dueMs: number): Promise<void> {
  late.push(performance.now() - dueMs)
  if (!(await isAnswered(pool, targets[index % targets.length] as Target))) failed += 1
  latencies.push(performance.now() - dueMs)
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
await pool.close()
