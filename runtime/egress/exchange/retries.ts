/**
 * Retries requests if that is safe and in time. A request that an upstream refused for its rate was not
 * carried out; a read may be sent twice. Waits grow and are jittered (full jitter, so that requests that
 * failed together do not return together).
 */
import { RuntimeError } from '../../contract/errors/errors.ts'
import type { OutgoingRequest } from './exchange.ts'
import { endedError } from './failures.ts'
import type { HeaderList } from './headers.ts'
import { askedWaitMs, isRefusal } from './rate-headers.ts'

/** Maximum number of tries: for a refusal with a wait, for one without, and for a failure. */
const MAX_TRIES = { told: 8, refusal: 4, failure: 3 } as const
const FIRST_WAIT_MS = 200
const MAX_BACKOFF_MS = 5000

/** Reads. Sending them twice changes nothing. */
const SAFE = ['GET', 'HEAD', 'OPTIONS']
/** Safe methods, and those with the same effect when repeated (RFC 9110 section 9.2.2). */
const IDEMPOTENT = [...SAFE, 'PUT', 'DELETE']

type Reply = { status: number; headers: HeaderList; discard(): void }

type Patience = {
  /**
   * Called before the wait for a retry.
   *
   * @returns a function to call after the wait, or null to forbid the retry
   */
  again(): (() => void) | null
  /** End of the call, in milliseconds since the epoch. */
  endMs: number
  signal: AbortSignal
  now?: () => number
  random?: () => number
}

/**
 * Sends a request, and retries it. The last reply is returned unchanged, even if the upstream still refuses.
 *
 * @throws the error of the last try; upstream_timeout or the RuntimeError of the signal
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

/** Returns how often a request with such an answer may be sent in total; 0 if the answer is final. */
function mostTries(method: string, { status, headers }: Reply, askedMs: number): number {
  if (isRefusal(status, headers)) {
    if (status === 503 && !IDEMPOTENT.includes(method)) return 0
    return askedMs > 0 ? MAX_TRIES.told : MAX_TRIES.refusal
  }
  return (status === 502 || status === 504) && SAFE.includes(method) ? MAX_TRIES.failure : 0
}

/** The server may close a kept connection at the moment when it is used. */
const isBroken = (method: string, error: unknown): boolean =>
  error instanceof RuntimeError && error.code === 'upstream_closed' && SAFE.includes(method)

/** Waits for this long, or until the signal is aborted. */
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
