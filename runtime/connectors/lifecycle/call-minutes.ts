/**
 * Counts the calls of this process by minute, connector and capability, and writes each minute once. While
 * the database is away, counts are kept up to a bound, and calls never wait for them.
 */
import { randomUUID } from 'node:crypto'
import { OTHER } from '../../contract/endpoints/metrics.ts'
import type { Blame } from '../../contract/errors/error-row.ts'
import { ERRORS } from '../../contract/errors/errors.ts'
import { bucketOf, LATENCY_BUCKETS } from '../../contract/models/call-minutes.ts'
import { isKeyOf } from '../../contract/schema/keys.ts'
import type { Db } from '../../database/database.ts'
import { callMinutes } from '../../database/schema/call_minutes.ts'

const MINUTE_MS = 60_000
/** Maximum number of pairs of connector and capability per minute. Further ones are counted together. */
const MAX_PAIRS = 1000
/** Maximum number of upstream hosts per pair. */
const MAX_HOSTS = 20
/**
 * Maximum number of rows kept while the database is away: an hour of a busy host. The oldest are dropped
 * first.
 */
const MAX_WAITING = 10_000
/** Rows per statement. */
const AT_ONCE = 1000

/** A finished call. */
type CountedCall = {
  connector: string
  capability: string
  /** Null for a successful call. */
  blame: Blame | null
  ms: number
}

/** A request of a call, sent or refused. */
type CountedRequest = {
  connector: string
  capability: string
  host: string
  /** A code of ERRORS, or null. */
  error: string | null
  sentBytes: number
  receivedBytes: number
}

type Row = Omit<typeof callMinutes.$inferSelect, 'domainId' | 'id'>
/** Counts of a pair in a minute. */
type Count = Omit<Row, 'minute' | 'host' | 'upstream'> & {
  upstream: Map<string, [sent: number, refused: number]>
}

export type CallMinutes = {
  called(call: CountedCall): void
  requested(request: CountedRequest): void
  /** Writes the counts so far. Errors go to `onError`, and unwritten counts are kept. */
  write(): Promise<void>
  /** Writes the remaining counts. */
  stop(): Promise<void>
}

type CallMinutesDeps = {
  /** Null while the database is away, or if there is none. */
  place(): { db: Db; domainId: string } | null
  /** Time shared by all hosts, in milliseconds since the epoch. */
  now(): number
  onError(error: unknown): void
}

/** Blame of a failure -> column. */
const COLUMN = {
  caller: 'byCaller',
  connector: 'byConnector',
  provider: 'byProvider',
  operator: 'byOperator',
  runtime: 'byRuntime',
} as const satisfies Record<Blame, keyof Count>

const nothing = (connector: string, capability: string): Count => ({
  ...{ connector, capability, calls: 0, requests: 0, sentBytes: 0, receivedBytes: 0 },
  ...{ byCaller: 0, byConnector: 0, byProvider: 0, byOperator: 0, byRuntime: 0 },
  buckets: Array.from({ length: LATENCY_BUCKETS }, () => 0),
  upstream: new Map(),
})

/** Reports whether the egress rules refused a request. */
const isRefused = (error: string | null): boolean =>
  error !== null && isKeyOf(ERRORS, error) && ERRORS[error].raisedBy === 'Keyway.EgressPolicy'

export function createCallMinutes({ place, now, onError }: CallMinutesDeps): CallMinutes {
  const host = randomUUID()
  let counts = new Map<string, Count>()
  let minuteMs = 0
  let waiting: Row[] = []
  let writing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null
  let stopped = false

  function of(connector: string, capability: string): Count {
    begin()
    const key = `${connector}\0${capability}`
    const known = counts.get(key)
    if (known !== undefined) return known
    if (counts.size >= MAX_PAIRS && connector !== OTHER) return of(OTHER, OTHER)
    const made = nothing(connector, capability)
    counts.set(key, made)
    return made
  }

  /** Starts the timer at the first call of a minute. A host without calls does nothing. */
  function begin(): void {
    if (timer !== null || stopped) return
    const nowMs = now()
    // If the clock is set back, do not use a minute that is already written.
    minuteMs = Math.max(nowMs - (nowMs % MINUTE_MS), minuteMs + MINUTE_MS)
    timer = setTimeout(() => void write(), minuteMs + MINUTE_MS - nowMs)
    timer.unref()
  }

  /** Moves the counts of the minute to the rows waiting to be written. */
  function close(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    const minute = new Date(minuteMs)
    for (const { upstream, ...one } of counts.values())
      waiting.push({ ...one, upstream: Object.fromEntries(upstream), minute, host })
    counts = new Map()
    waiting = waiting.slice(-MAX_WAITING)
  }

  async function writeWaiting(): Promise<void> {
    const at = place()
    if (at === null) return
    const { db, domainId } = at
    while (waiting.length > 0) {
      const some = waiting.slice(0, AT_ONCE)
      const values = some.map((one) => ({ ...one, domainId }))
      // An earlier attempt may have succeeded although its answer was lost.
      await db.insert(callMinutes).values(values).onConflictDoNothing()
      const written = new Set(some)
      waiting = waiting.filter((one) => !written.has(one))
    }
  }

  function write(): Promise<void> {
    close()
    writing = writing.then(writeWaiting).catch(onError)
    return writing
  }

  return {
    called({ connector, capability, blame, ms }) {
      const count = of(connector, capability)
      count.calls += 1
      if (blame !== null) count[COLUMN[blame]] += 1
      const at = bucketOf(ms)
      count.buckets[at] = (count.buckets[at] ?? 0) + 1
    },
    requested({ connector, capability, host: upstream, error, sentBytes, receivedBytes }) {
      const count = of(connector, capability)
      count.requests += 1
      count.sentBytes += sentBytes
      count.receivedBytes += receivedBytes
      const { upstream: hosts } = count
      const name = hosts.has(upstream) || hosts.size < MAX_HOSTS ? upstream : OTHER
      const [sent, refused] = hosts.get(name) ?? [0, 0]
      hosts.set(name, isRefused(error) ? [sent, refused + 1] : [sent + 1, refused])
    },
    write,
    async stop() {
      stopped = true
      await write()
    },
  }
}
