/**
 * A load generator in a process of its own: so many callers on kept connections for so long. Prints
 * one JSON line: calls per second, p50 and p99 in milliseconds, failed calls.
 *
 * Arguments: URL, body, callers, seconds.
 */
import { Pool } from 'undici'

const [address, body, callers, seconds] = process.argv.slice(2) as [string, string, string, string]
const url = new URL(address)
const connections = Number(callers)
const pool = new Pool(url.origin, { connections, pipelining: 1 })
const latencies: number[] = []
let failed = 0

const begun = performance.now()
const endMs = begun + Number(seconds) * 1000

async function caller(): Promise<void> {
  while (performance.now() < endMs) {
    const at = performance.now()
    const reply = await pool.request({
      path: url.pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const text = await reply.body.text()
    if (reply.statusCode !== 200 || text.startsWith('{"is_error"')) failed += 1
    latencies.push(performance.now() - at)
  }
}

await Promise.all(Array.from({ length: connections }, caller))
const tookMs = performance.now() - begun
latencies.sort((a, b) => a - b)
const at = (share: number) =>
  latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
console.log(
  JSON.stringify({
    perSecond: (latencies.length / tookMs) * 1000,
    p50: at(0.5),
    p99: at(0.99),
    failed,
  }),
)
await pool.close()
