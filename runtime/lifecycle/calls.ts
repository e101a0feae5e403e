/** The latest calls of this host, for operators: what was called, how it ended, what it sent where. */
import type { CallRecord } from '../contract/endpoints/operator.ts'

/** Calls that are kept. */
const MAX_CALLS = 2000
/** Requests and log lines that are kept of one call. */
const MAX_PARTS = 50
/** Longest log line that is kept, in characters. */
const MAX_MESSAGE = 500
/** Calls whose end is awaited; what is older was never told to end. */
const MAX_OPEN = 5000

type Parts = Pick<CallRecord, 'upstream' | 'log'>

export type RecentCalls = {
  /** A request that a call made. */
  upstream(requestId: string, record: CallRecord['upstream'][number]): void
  /** A line that a connector logged. */
  logged(requestId: string, line: { level: string; message: string }): void
  ended(call: Omit<CallRecord, keyof Parts | 'at'>): void
  /** Newest first. */
  list(query: { connector: string | null; limit: number }): CallRecord[]
}

export function createRecentCalls(): RecentCalls {
  const open = new Map<string, Parts>()
  const ring: CallRecord[] = []
  let next = 0

  const partsOf = (requestId: string): Parts => {
    const known = open.get(requestId)
    if (known) return known
    const made: Parts = { upstream: [], log: [] }
    open.set(requestId, made)
    const [oldest] = open.keys()
    if (open.size > MAX_OPEN && oldest !== undefined) open.delete(oldest)
    return made
  }

  return {
    upstream(requestId, record) {
      const { upstream } = partsOf(requestId)
      if (upstream.length < MAX_PARTS) upstream.push(record)
    },
    logged(requestId, { level, message }) {
      const { log } = partsOf(requestId)
      if (log.length < MAX_PARTS) log.push({ level, message: message.slice(0, MAX_MESSAGE) })
    },
    ended(call) {
      const parts = open.get(call.request_id) ?? { upstream: [], log: [] }
      open.delete(call.request_id)
      ring[next % MAX_CALLS] = { at: new Date().toISOString(), ...call, ...parts }
      next += 1
    },
    list({ connector, limit }) {
      const found: CallRecord[] = []
      for (let at = next - 1; at >= Math.max(0, next - MAX_CALLS); at -= 1) {
        const one = ring[at % MAX_CALLS]
        if (!one || (connector !== null && one.connector !== connector)) continue
        found.push(one)
        if (found.length === limit) break
      }
      return found
    },
  }
}
