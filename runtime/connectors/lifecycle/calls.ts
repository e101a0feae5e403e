/**
 * The latest calls of this host, for operators: capability, result and requests. Each process of a host keeps
 * its own calls and asks the others for theirs.
 */
import { createCache } from '../../bounded/cache.ts'
import { cut } from '../../bounded/cut.ts'
import { createRing } from '../../bounded/ring.ts'
import { normalizeId } from '../../contract/connector/manifest.ts'
import type { CallRecord } from '../../contract/endpoints/operator.ts'
import { type CauseKind, causeText } from '../../contract/models/causes.ts'

/** Maximum number of requests and log lines kept per call. */
const MAX_PARTS = 50
/** Maximum length of a kept log line or error message, in characters. */
const MAX_MESSAGE = 500
/** Memory of a request, and of a line or call without its texts, in bytes. */
const PART_BYTES = 256

type Parts = Pick<CallRecord, 'upstream' | 'log'>
/** `served`: version with its connector, as `acme@1.0.0`. */
type EndedCall = Omit<CallRecord, keyof Parts | 'at' | 'version'> & { served: string | null }

type Sized<T> = { held: T; bytes: number }
/** A call as stored, with one member per column. Records are created only for the calls that are listed. */
type Kept = Omit<EndedCall, 'cause'> & {
  atMs: number
  cause: CauseKind
  causeId: string
  parts: Parts
}

const NO_PARTS: Parts = { upstream: [], log: [] }
const NONE: Sized<Parts> = { held: NO_PARTS, bytes: 0 }

const makeSlot = (): Kept => ({
  // Fractions: V8 then overwrites numbers in place instead of allocating an object for each.
  atMs: 0.5,
  request_id: '',
  connector: '',
  capability: '',
  served: null,
  outcome: '',
  message: null,
  ms: 0.5,
  cause: 'interface',
  causeId: '',
  app_id: null,
  parts: NO_PARTS,
})

function emptySlot(slot: Kept): void {
  slot.request_id = ''
  slot.message = null
  slot.served = null
  slot.causeId = ''
  slot.app_id = null
  slot.parts = NO_PARTS
}

/** Filters of calls; null matches all. A cause is a kind, or a kind with its id (`sync:17`). */
type CallsQuery = {
  connector: string | null
  app: string | null
  cause: string | null
  limit: number
}

export type RecentCalls = {
  /** Adds a request of a call. `begin_ms` is since the epoch here. */
  upstream(requestId: string, record: CallRecord['upstream'][number]): void
  /** Adds a line logged by a connector. */
  logged(requestId: string, line: { level: string; message: string }): void
  ended(call: EndedCall): void
  /** Lists calls of this process, newest first. */
  list(query: CallsQuery): CallRecord[]
  /** Lists calls of all processes of the host, newest first. */
  listAll(query: CallsQuery): Promise<CallRecord[]>
}

/** Returns the lists of the other processes of the host that answer in time. */
export type ListOthers = (query: CallsQuery) => Promise<unknown[]>

const NO_OTHERS: ListOthers = () => Promise.resolve([])

export function createRecentCalls(listOthers: ListOthers = NO_OTHERS): RecentCalls {
  const bytesOf = ({ bytes }: Sized<unknown>) => bytes
  const open = createCache<Sized<Parts>>('open_calls', { bytesOf })
  const ended = createRing<Kept>('calls', makeSlot, emptySlot)

  /** Adds to the parts of a call that is still running. `part` returns the added bytes. */
  function add(requestId: string, part: (parts: Parts) => number): void {
    const { held, bytes } = open.get(requestId) ?? { held: { upstream: [], log: [] }, bytes: 0 }
    open.set(requestId, { held, bytes: bytes + part(held) })
  }

  function takeParts(requestId: string): Sized<Parts> {
    const known = open.entries === 0 ? undefined : open.get(requestId)
    if (known === undefined) return NONE
    open.delete(requestId)
    return known
  }

  function list(query: CallsQuery): CallRecord[] {
    const { limit } = query
    const found: CallRecord[] = []
    for (const kept of ended.newest()) {
      if (!isAskedFor(kept, query)) continue
      found.push(recordOf(kept))
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
    ended({ request_id, connector, capability, served, outcome, message, ms, cause, app_id }) {
      // Most calls have no parts, and every call comes here, so no object is created.
      const { held, bytes } = takeParts(request_id)
      const shortMessage = message === null ? null : cut(message, MAX_MESSAGE)
      const chars =
        request_id.length + cause.id.length + (shortMessage?.length ?? 0) + (served?.length ?? 0)
      const slot = ended.take(bytes + PART_BYTES + 2 * chars)
      if (slot === null) return
      slot.atMs = Date.now()
      slot.request_id = request_id
      slot.connector = connector
      slot.capability = capability
      slot.served = served
      slot.outcome = outcome
      slot.message = shortMessage
      slot.ms = ms
      slot.cause = cause.kind
      slot.causeId = cause.id
      slot.app_id = app_id
      slot.parts = held
    },
    list,
    async listAll(query) {
      const others = await listOthers(query)
      // Cast: each is a result of `list` in another process of the same version.
      return merged([list(query), ...(others as CallRecord[][])], query.limit)
    },
  }
}

/** Returns the record of a call, with its requests ordered by their start. */
function recordOf({ atMs, ms, served, cause, causeId, app_id, parts, ...call }: Kept): CallRecord {
  const beganAtMs = atMs - ms
  const since = (at: number): number => Math.max(0, Math.round(at - beganAtMs))
  return {
    at: new Date(atMs).toISOString(),
    version: served?.slice(served.lastIndexOf('@') + 1) ?? null,
    ...{ ...call, ms, cause: { kind: cause, id: causeId }, app_id },
    log: parts.log,
    upstream: parts.upstream.map((one) => ({ ...one, begin_ms: since(one.begin_ms) })),
  }
}

/** Merges lists that are sorted newest first. The result does not depend on the process. */
function merged(lists: readonly CallRecord[][], limit: number): CallRecord[] {
  const [only = [], ...more] = lists
  if (more.length === 0) return only
  const order = ({ at, request_id }: CallRecord) => `${at} ${request_id}`
  return lists
    .flat()
    .sort((a, b) => order(b).localeCompare(order(a), 'en'))
    .slice(0, limit)
}

const isAskedFor = (call: Kept, { connector, app, cause }: CallsQuery): boolean =>
  (connector === null || normalizeId(call.connector) === normalizeId(connector)) &&
  (app === null || call.app_id === app) &&
  (cause === null ||
    call.cause === cause ||
    causeText({ kind: call.cause, id: call.causeId }) === cause)
