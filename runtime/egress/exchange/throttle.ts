/**
 * Paces the requests of one tenant to one upstream: limits requests per second and concurrent requests, and
 * sends none while the upstream asks to wait. A request that would wait past the end of its call is refused
 * at once.
 *
 * Source: architecture.md section 2 (governor key), runtime/docs/authors/manifest.md "Limits".
 */
import { createCache } from '../../bounded/cache.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { endedError } from './failures.ts'

/** Rates that a connector declares, under the operator's ceilings. */
export type RequestPace = { requestsPerSecond: number; concurrentRequests: number }

/** Waiting request: the end of its call, its signal, and its host for messages. */
type Waiting = { endMs: number; signal: AbortSignal; from: string }

export type Governor = {
  /**
   * Waits for a turn. The returned function ends it.
   *
   * @throws upstream_paced, upstream_timeout, or the RuntimeError of the signal
   */
  enter(who: Waiting): Promise<() => void>
  /** Sends no requests for this long, as the upstream asks. */
  pause(ms: number): void
  /** Counts requests that were sent without their own turn. Negative for turns that sent nothing. */
  count(requests: number): void
  /** Takes a retry, and reports whether there was one: a tenth of the requests, and a few, may be retries. */
  mayRetry(): boolean
}

/** Memory of a governor without waiting requests, in bytes. */
const GOVERNOR_BYTES = 1024
/** Maximum number of available retries, and the number that each request adds. */
const MAX_RETRIES = 10
const RETRIES_PER_REQUEST = 0.1
/** Requests of this period may be sent at once, in milliseconds. */
const BURST_MS = 1000

type State = Governor & {
  idle(): boolean
  /** Changes the pace, also for waiting requests. The upstream's pause stays. */
  goBy(pace: RequestPace): void
}

/**
 * Admits every request at once, and forbids retries: for the test kit, whose upstream answers each request
 * once.
 */
export const UNGOVERNED: Governor = {
  enter: async () => () => {},
  pause: () => {},
  count: () => {},
  mayRetry: () => false,
}

/**
 * Creates the governors of one process, by key. A known one takes the given pace: another version of the
 * connector, or a grant, may have changed it.
 */
export function createGovernors(
  now: () => number = Date.now,
): (key: string, pace: RequestPace) => Governor {
  const governors = createCache<State>('governors', {
    bytesOf: () => GOVERNOR_BYTES,
    isBusy: (governor) => !governor.idle(),
  })
  return (key, pace) => {
    const known = governors.get(key)
    if (known !== undefined) {
      known.goBy(pace)
      return known
    }
    const made = createGovernor(pace, now)
    governors.set(key, made)
    return made
  }
}

type Waiter = { who: Waiting; admit(): void; refuse(error: unknown): void }

function createGovernor(pace: RequestPace, now: () => number): State {
  let { requestsPerSecond, concurrentRequests } = pace
  let intervalMs = 1000 / requestsPerSecond
  const line: Waiter[] = []
  let running = 0
  /** Time of the next request if all were evenly spaced (GCRA). */
  let evenMs = 0
  let pausedUntilMs = 0
  let retries = MAX_RETRIES
  let timer: NodeJS.Timeout | null = null

  const waitMs = () =>
    Math.max(0, pausedUntilMs - now(), evenMs - Math.max(0, BURST_MS - intervalMs) - now())

  function pump(): void {
    while (line.length > 0 && running < concurrentRequests) {
      const ms = waitMs()
      if (ms > 0) return wakeIn(ms)
      take()
      line.shift()?.admit()
    }
  }

  function take(): void {
    running += 1
    evenMs = Math.max(now(), evenMs) + intervalMs
    retries = Math.min(MAX_RETRIES, retries + RETRIES_PER_REQUEST)
  }

  function wakeIn(ms: number): void {
    if (timer) clearTimeout(timer)
    timer = setTimeout(() => {
      timer = null
      pump()
    }, ms)
    timer.unref()
  }

  const leave = () => {
    let left = false
    return () => {
      if (left) return
      left = true
      running -= 1
      pump()
    }
  }

  /** Returns the error for a request that cannot be sent before its call ends, or null. */
  function tooLate({ endMs, from }: Waiting, ms: number): RuntimeError | null {
    const leftMs = Math.max(0, endMs - now())
    if (ms <= leftMs) return null
    return new RuntimeError(
      'upstream_paced',
      `${from} takes no more requests for ${seconds(ms)}, and the call ends in ${seconds(leftMs)}; try again in ${seconds(ms)}`,
      { retryAfterMs: ms },
    )
  }

  /** Waits in the queue. A request that leaves it early takes no turn. */
  function wait(who: Waiting): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { who, admit: resolve, refuse: reject }
    const gone = () => {
      const at = line.indexOf(waiter)
      // Admitted just now, and no longer in the queue.
      if (at === -1) return
      line.splice(at, 1)
      reject(endedError(who.signal, who.from))
    }
    who.signal.addEventListener('abort', gone, { once: true })
    line.push(waiter)
    pump()
    return promise.finally(() => who.signal.removeEventListener('abort', gone))
  }

  return {
    async enter(who) {
      if (who.signal.aborted) throw endedError(who.signal, who.from)
      if (line.length === 0 && running < concurrentRequests && waitMs() === 0) {
        take()
        return leave()
      }
      const late = tooLate(who, waitMs() + line.length * intervalMs)
      if (late) throw late
      await wait(who)
      return leave()
    },
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, now() + ms)
      // Requests that can no longer be sent in time are refused now, not at the end of their call.
      for (const waiter of [...line]) {
        const late = tooLate(waiter.who, waitMs())
        if (!late) continue
        line.splice(line.indexOf(waiter), 1)
        waiter.refuse(late)
      }
    },
    count(requests) {
      evenMs = (requests > 0 ? Math.max(now(), evenMs) : evenMs) + requests * intervalMs
    },
    mayRetry() {
      if (retries < 1) return false
      retries -= 1
      return true
    },
    goBy(next) {
      if (
        next.requestsPerSecond === requestsPerSecond &&
        next.concurrentRequests === concurrentRequests
      )
        return
      ;({ requestsPerSecond, concurrentRequests } = next)
      intervalMs = 1000 / requestsPerSecond
      pump()
    },
    // Also while paused: an upstream must not decide how many governors the host keeps, and for how long.
    idle: () => running === 0 && line.length === 0,
  }
}

const seconds = (ms: number): string => `${Math.ceil(ms / 100) / 10} s`
