/**
 * The latest calls of this host, for operators: what was called, how it ended, what it sent where. Each process of a
 * host keeps its own, and asks the others for theirs.
 */
import { createCache } from '../../bounded/cache.ts'
import { cut } from '../../bounded/cut.ts'
import { normalizeId } from '../../contract/connector/manifest.ts'
import type { CallRecord } from '../../contract/endpoints/operator.ts'
import { causeText } from '../../contract/models/causes.ts'

/** Requests and log lines that are kept of one call. */
const MAX_PARTS = 50
/** Longest log line that is kept, in characters. */
const MAX_MESSAGE = 500
/** What a request takes in memory, and a line and a call without their texts, in bytes. */
const PART_BYTES = 256

type Parts = Pick<CallRecord, 'upstream' | 'log'>
type EndedCall = Omit<CallRecord, keyof Parts | 'at'>

const NO_PARTS: Parts = { upstream: [], log: [] }
type Sized<T> = { held: T; bytes: number }
/** A call as it is kept. The list makes records of the few that are asked for. */
type Kept = { atMs: number; call: EndedCall; parts: Parts }

/** Which calls; null: whichever. A cause is a kind, or a kind with its id (`sync:17`). */
type CallsQuery = {
  connector: string | null
  app: string | null
  cause: string | null
  limit: number
}

export type RecentCalls = {
  /** A request that a call made; `begin_ms` is since the epoch here. */
  upstream(requestId: string, record: CallRecord['upstream'][number]): void
  /** A line that a connector logged. */
  logged(requestId: string, line: { level: string; message: string }): void
  ended(call: EndedCall): void
  /** Those of this process, newest first. */
  list(query: CallsQuery): CallRecord[]
  /** Those of all processes of the host, newest first. */
  listAll(query: CallsQuery): Promise<CallRecord[]>
}

/** What the other processes of the host answer: of each that answers in time, what its `list` gives. */
export type ListOthers = (query: CallsQuery) => Promise<unknown[]>

const NO_OTHERS: ListOthers = () => Promise.resolve([])

export function createRecentCalls(listOthers: ListOthers = NO_OTHERS): RecentCalls {
  const bytesOf = ({ bytes }: Sized<unknown>) => bytes
  const open = createCache<Sized<Parts>>('open_calls', { bytesOf })
  const ended = createCache<Sized<Kept>>('calls', { bytesOf })
  let next = 0

  /** Adds to the parts of a call that has not ended; `part` gives what that takes in bytes. */
  function add(requestId: string, part: (parts: Parts) => number): void {
    const { held, bytes } = open.get(requestId) ?? { held: { upstream: [], log: [] }, bytes: 0 }
    open.set(requestId, { held, bytes: bytes + part(held) })
  }

  function takeParts(requestId: string): Sized<Parts> {
    const known = open.entries === 0 ? undefined : open.get(requestId)
    if (known === undefined) return { held: NO_PARTS, bytes: 0 }
    open.delete(requestId)
    return known
  }

  function list(query: CallsQuery): CallRecord[] {
    const { limit } = query
    const found: CallRecord[] = []
    for (const { held } of [...ended.values()].reverse()) {
      if (!isAskedFor(held.call, query)) continue
      found.push(recordOf(held))
      if (found.length === limit) break
    }
    return found
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
      // Most calls have no parts, and this is on the way of each.
      const { held, bytes } = takeParts(call.request_id)
      next += 1
      ended.set(String(next), {
        held: { atMs: Date.now(), call, parts: held },
        bytes: bytes + PART_BYTES + 2 * call.cause.id.length,
      })
    },
    list,
    async listAll(query) {
      const others = await listOthers(query)
      // The cast: each is what `list` gave in another process of the same version.
      return merged([list(query), ...(others as CallRecord[][])], query.limit)
    },
  }
}

/** A call as it is told: its requests by when they began in it. */
function recordOf({ atMs, call, parts: { upstream, log } }: Kept): CallRecord {
  const beganAtMs = atMs - call.ms
  const since = (ms: number): number => Math.max(0, Math.round(ms - beganAtMs))
  return {
    ...{ at: new Date(atMs).toISOString(), ...call, log },
    upstream: upstream.map((one) => ({ ...one, begin_ms: since(one.begin_ms) })),
  }
}

/** One list of several, each with its newest first: the same, whichever process makes it. */
function merged(lists: readonly CallRecord[][], limit: number): CallRecord[] {
  const [only = [], ...more] = lists
  if (more.length === 0) return only
  const order = ({ at, request_id }: CallRecord) => `${at} ${request_id}`
  return lists
    .flat()
    .sort((a, b) => order(b).localeCompare(order(a), 'en'))
    .slice(0, limit)
}

const isAskedFor = (call: EndedCall, { connector, app, cause }: CallsQuery): boolean =>
  (connector === null || normalizeId(call.connector) === normalizeId(connector)) &&
  (app === null || call.app_id === app) &&
  (cause === null || call.cause.kind === cause || causeText(call.cause) === cause)
