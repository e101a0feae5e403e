/**
 * Tries a request again where that is safe and in time: what an upstream refused for its rate was not
 * carried out; what only reads may be sent twice. Waits grow and are jittered (full jitter, so that those
 * who failed together do not come back together).
 */
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { OutgoingRequest } from './exchange.ts'
import { endedError } from './failures.ts'
import type { HeaderList } from './headers.ts'
import { askedWaitMs, isRefusal } from './rate-headers.ts'

/** Tries in all: for a refusal that says how long to wait, for one that does not, and for a failure. */
const MAX_TRIES = { told: 8, refusal: 4, failure: 3 } as const
const FIRST_WAIT_MS = 200
const MAX_BACKOFF_MS = 5000

/** Reads: sending them twice changes nothing. */
const SAFE = ['GET', 'HEAD', 'OPTIONS']
/** Safe, or the same when done twice (RFC 9110 section 9.2.2). */
const IDEMPOTENT = [...SAFE, 'PUT', 'DELETE']

type Reply = { status: number; headers: HeaderList; discard(): void }

type Patience = {
  /** Called before the wait for a retry. @returns what to call after the wait, or null if there must be no retry */
  again(): (() => void) | null
  /** When the call ends, in milliseconds since the epoch. */
  endMs: number
  signal: AbortSignal
  now?: () => number
  random?: () => number
}

/**
 * Sends, and sends again. The last reply is handed on as it is: that of an upstream that still refuses
 * says so itself.
 *
 * @throws what the last try threw; upstream_timeout or the RuntimeError of the signal
 */
export async function withRetries<R extends Reply>(
  { method, url }: Pick<OutgoingRequest, 'method' | 'url'>,
  send: () => Promise<R>,
  { again, endMs, signal, now = Date.now, random = Math.random }: Patience,
): Promise<R> {
  for (let tries = 1; ; tries += 1) {
    let reply: R | null = null
    let failure: unknown = null
    try {
      reply = await send()
    } catch (error) {
      failure = error
    }
    const askedMs = reply ? askedWaitMs(reply.status, reply.headers, now()) : 0
    const most = reply
      ? mostTries(method, reply, askedMs)
      : isBroken(method, failure)
        ? MAX_TRIES.failure
        : 0
    const backOffMs = random() * Math.min(MAX_BACKOFF_MS, FIRST_WAIT_MS * 2 ** tries)
    const waitMs = Math.max(backOffMs, askedMs)
    const isInTime = tries < most && now() + waitMs < endMs && !signal.aborted
    const waited = isInTime ? again() : null
    if (waited === null) {
      if (reply) return reply
      throw failure
    }
    reply?.discard()
    await pause(waitMs, signal)
    waited()
    if (signal.aborted) throw endedError(signal, new URL(url).host)
  }
}

/** How often a request with such an answer may be sent in all; 0 for an answer that is one. */
function mostTries(method: string, { status, headers }: Reply, askedMs: number): number {
  if (isRefusal(status, headers)) {
    if (status === 503 && !IDEMPOTENT.includes(method)) return 0
    return askedMs > 0 ? MAX_TRIES.told : MAX_TRIES.refusal
  }
  return (status === 502 || status === 504) && SAFE.includes(method) ? MAX_TRIES.failure : 0
}

/** A kept connection may be closed by the other side just when it is used. */
const isBroken = (method: string, error: unknown): boolean =>
  error instanceof RuntimeError && error.code === 'upstream_closed' && SAFE.includes(method)

/** Waits for so long, or until the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })
}
