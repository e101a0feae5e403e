/** The latest calls of this host, for operators: what was called, how it ended, what it sent where. */
import { createCache } from '../contract/cache.ts'
import { causeText } from '../contract/causes.ts'
import { cut } from '../contract/cut.ts'
import type { CallRecord } from '../contract/endpoints/operator.ts'
import { normalizeId } from '../contract/manifest.ts'

/** Requests and log lines that are kept of one call. */
const MAX_PARTS = 50
/** Longest log line that is kept, in characters. */
const MAX_MESSAGE = 500
/** What a request takes in memory, and a line and a call without their texts, in bytes. */
const PART_BYTES = 256

type Parts = Pick<CallRecord, 'upstream' | 'log'>
type Sized<T> = { held: T; bytes: number }

/** Which calls; null: whichever. A cause is a kind, or a kind with its id (`sync:17`). */
export type CallsQuery = {
  connector: string | null
  app: string | null
  cause: string | null
  limit: number
}

export type RecentCalls = {
  /** A request that a call made. */
  upstream(requestId: string, record: CallRecord['upstream'][number]): void
  /** A line that a connector logged. */
  logged(requestId: string, line: { level: string; message: string }): void
  ended(call: Omit<CallRecord, keyof Parts | 'at'>): void
  /** Newest first. */
  list(query: CallsQuery): CallRecord[]
}

export function createRecentCalls(): RecentCalls {
  const bytesOf = ({ bytes }: Sized<unknown>) => bytes
  const open = createCache<Sized<Parts>>('open_calls', { bytesOf })
  const ended = createCache<Sized<CallRecord>>('calls', { bytesOf })
  let next = 0

  /** Adds to the parts of a call that has not ended; `part` gives what that takes in bytes. */
  function add(requestId: string, part: (parts: Parts) => number): void {
    const { held, bytes } = open.get(requestId) ?? { held: { upstream: [], log: [] }, bytes: 0 }
    open.set(requestId, { held, bytes: bytes + part(held) })
  }

  return {
    upstream(requestId, record) {
      add(requestId, ({ upstream }) => {
        if (upstream.length === MAX_PARTS) return 0
        upstream.push(record)
        return PART_BYTES + 2 * (record.host.length + record.path.length + record.query.length)
      })
    },
    logged(requestId, { level, message }) {
      add(requestId, ({ log }) => {
        if (log.length === MAX_PARTS) return 0
        const line = { level, message: cut(message, MAX_MESSAGE) }
        log.push(line)
        return PART_BYTES + 2 * line.message.length
      })
    },
    ended(call) {
      const { held, bytes } = open.get(call.request_id) ?? {
        held: { upstream: [], log: [] },
        bytes: 0,
      }
      open.delete(call.request_id)
      next += 1
      ended.set(String(next), {
        held: { at: new Date().toISOString(), ...call, ...held },
        bytes: bytes + PART_BYTES + 2 * call.cause.id.length,
      })
    },
    list(query) {
      const { limit } = query
      const found: CallRecord[] = []
      for (const { held: one } of [...ended.values()].reverse()) {
        if (!isAskedFor(one, query)) continue
        found.push(one)
        if (found.length === limit) break
      }
      return found
    },
  }
}

const isAskedFor = (call: CallRecord, { connector, app, cause }: CallsQuery): boolean =>
  (connector === null || normalizeId(call.connector) === normalizeId(connector)) &&
  (app === null || call.app_id === app) &&
  (cause === null || call.cause.kind === cause || causeText(call.cause) === cause)
