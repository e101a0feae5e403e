/**
 * Measures the effect of an attack on others: constantly calls a healthy connector, with and without an
 * upstream request, and `/healthz`.
 */
import { messageOf } from '../contract/errors/thrown.ts'
import type { VerifyClient } from './client.ts'

/** Healthy connector. Its `get_account` requests its upstream. */
export const HEALTHY_NEIGHBOUR = {
  id: 'healthy_neighbour',
  token: 'token-of-the-healthy-neighbour',
  code: `import { defineConnector } from 'keyway/sdk'
export default defineConnector({
  list_accounts: () => [{ integration_specific_id: 'well' }],
  async get_account(_request, ctx) {
    const reply = await ctx.fetch(\`\${ctx.settings.base_url}/healthy\`)
    return { integration_specific_id: await reply.text() }
  },
} as never)
`,
} as const

export type Noticed = {
  calls: number
  errors: string[]
  p99Ms: number
  /** p99 of /healthz alone. */
  healthP99Ms: number
  slowestMs: number
  /** Longest stall of this process itself, by which its measurements may be late. */
  ownStallMs: number
}

type Neighbours = { stop(): Promise<Noticed> }

/** Interval between calls, in milliseconds. It does not depend on the answers. */
const EVERY_MS = 10
/** Interval in a quick run, in milliseconds. A quick run checks the answers, but not their times. */
const QUICK_EVERY_MS = 40
const PATIENCE_MS = 5000

export function startNeighbours(client: VerifyClient, upstream: string, quick = false): Neighbours {
  const everyMs = quick ? QUICK_EVERY_MS : EVERY_MS
  const took: number[] = []
  const healthTook: number[] = []
  const errors: string[] = []
  const running = new Set<Promise<void>>()
  let turn = 0
  let ownStallMs = 0
  let lastMs = performance.now()

  const timer = setInterval(() => {
    const nowMs = performance.now()
    ownStallMs = Math.max(ownStallMs, nowMs - lastMs - everyMs)
    lastMs = nowMs
    turn += 1
    const made = (turn % 8 === 0 ? health() : call(turn % 2 === 0)).finally(() =>
      running.delete(made),
    )
    running.add(made)
  }, everyMs)

  async function health(): Promise<void> {
    const begun = performance.now()
    try {
      const { status } = await client.get('/healthz', PATIENCE_MS)
      if (status !== 200) errors.push(`/healthz: ${status}`)
    } catch (error) {
      errors.push(`/healthz: ${messageOf(error)}`)
    }
    const tookMs = performance.now() - begun
    took.push(tookMs)
    healthTook.push(tookMs)
  }

  async function call(asks: boolean): Promise<void> {
    const { ending, message, text, tookMs } = await client.call(
      HEALTHY_NEIGHBOUR.id,
      asks ? 'get_account' : 'list_accounts',
      { token: HEALTHY_NEIGHBOUR.token, settings: { base_url: upstream }, patienceMs: PATIENCE_MS },
    )
    took.push(tookMs)
    if (ending !== 'answer') errors.push(`${ending}: ${message}`)
    else if (!text.includes('"well"')) errors.push(`unexpected answer: ${text.slice(-200)}`)
  }

  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(running)
      const [p99Ms, slowestMs] = [at(took, 0.99), at(took, 1)]
      const healthP99Ms = at(healthTook, 0.99)
      return { calls: took.length, errors, p99Ms, healthP99Ms, slowestMs, ownStallMs }
    },
  }
}

/** Measurements of another tenant of an attacked connector. */
export type Beside = { calls: number; errors: string[]; slowestMs: number }

/** Pause between the other tenant's calls, in milliseconds. */
const BESIDE_EVERY_MS = 10

/** Calls a connector for another tenant, one call at a time. Resolves after the first call. */
export async function startOtherTenant(
  client: VerifyClient,
  connector: string,
): Promise<{ stop(): Promise<Beside> }> {
  const errors: string[] = []
  const took: number[] = []
  let stopped = false
  const call = () =>
    client.call(connector, 'get_account', {
      token: 'token-of-the-tenant-beside-5b2e',
      patienceMs: PATIENCE_MS,
    })
  await call()
  async function callAgainAndAgain(): Promise<void> {
    while (!stopped) {
      const { ending, message, tookMs } = await call()
      took.push(tookMs)
      if (ending !== 'answer') errors.push(`${ending}: ${message}`)
      await new Promise((resolve) => setTimeout(resolve, BESIDE_EVERY_MS))
    }
  }
  const over = callAgainAndAgain()
  return {
    async stop() {
      stopped = true
      await over
      return { calls: took.length, errors, slowestMs: at(took, 1) }
    },
  }
}

/** Returns a quantile of the times, in milliseconds. */
function at(took: readonly number[], part: number): number {
  const sorted = took.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
