/**
 * Lists that are followed, as server-sent events. Each event is the whole list, so that a reader who connects
 * late, or reconnects to another host, misses nothing. The list is queried repeatedly, with the reader's
 * current rights. An event's id is a digest of its content. A reader who reconnects with the last id, or
 * whose page shows that content (`known`), receives nothing until something has changed.
 */
import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Context } from 'hono'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { CALLER_LIMITS } from '../../contract/limits/caller-limits.ts'
import type { Env } from './env.ts'
import { statusOfRefusal } from './statuses.ts'
import { toCoreError } from './to-core-error.ts'

type FollowingPace = {
  /** Interval of the queries, in milliseconds. */
  everyMs: number
  /** Longest silence, in milliseconds. Proxies close silent connections. */
  beatMs: number
  /** Lifetime of a stream, in milliseconds. The reader reconnects after it. */
  longestMs: number
}

const PACE: FollowingPace = { everyMs: 1000, beatMs: 15_000, longestMs: 15 * 60_000 }

const MAX_STREAMS_PER_CALLER = CALLER_LIMITS.followed_lists.most
/** Maximum number of streams on this process of the host. */
const MAX_STREAMS = 20 * MAX_STREAMS_PER_CALLER
/** Number of consecutive failures after which the stream ends. */
const MAX_FAILURES = 30
/** Delay before a browser reconnects, in milliseconds. */
const RETRY_MS = 2000

export type Following = {
  /**
   * Answers with a stream. `look` reads the list, and throws once the reader may no longer see it.
   *
   * @throws RuntimeError `following_full`, and any error of the first look
   */
  follow(
    c: Context<Env>,
    userId: string,
    look: () => Promise<unknown>,
    pace?: Partial<FollowingPace>,
  ): Promise<Response>
}

/** Returns the id of the event with this content. */
const eventIdOf = (list: unknown): string => idOf(JSON.stringify(list))

const idOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22)

/** Returns the query of a page's stream: its parameters, and the id of the content that the page shows. */
export const followQuery = (query: Readonly<Record<string, string>>, shown: unknown): string =>
  new URLSearchParams({ ...query, known: eventIdOf(shown) }).toString()

/** Reports whether a request asks to follow its list. */
export const wantsEvents = (c: Context<Env>): boolean =>
  /(^|[\s,])text\/event-stream\s*(;|,|$)/i.test(c.req.header('accept') ?? '')

/** Creates the streams. `leaving` ends all of them when the host stops. */
export function createFollowing(leaving: AbortSignal, usual: FollowingPace = PACE): Following {
  const counts = new Map<string, number>()
  let all = 0

  function enter(c: Context<Env>, userId: string): () => void {
    const own = counts.get(userId) ?? 0
    if (own >= MAX_STREAMS_PER_CALLER || all >= MAX_STREAMS) {
      c.header('retry-after', '10')
      const words =
        own >= MAX_STREAMS_PER_CALLER
          ? `You already follow ${MAX_STREAMS_PER_CALLER} lists; close one of those pages`
          : 'Too many lists are being followed; try again later'
      throw new RuntimeError('following_full', words)
    }
    counts.set(userId, own + 1)
    all += 1
    return () => {
      all -= 1
      const left = (counts.get(userId) ?? 1) - 1
      if (left > 0) counts.set(userId, left)
      else counts.delete(userId)
    }
  }

  async function follow(
    c: Context<Env>,
    userId: string,
    look: () => Promise<unknown>,
    own: Partial<FollowingPace> = {},
  ) {
    const pace = { ...usual, ...own }
    const leave = enter(c, userId)
    let first: unknown
    try {
      first = await look()
    } catch (error) {
      leave()
      throw error
    }
    const gone = new AbortController()
    const signal = AbortSignal.any([leaving, gone.signal, c.req.raw.signal])
    const known = c.req.header('last-event-id') ?? c.req.query('known') ?? ''
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const ended = run(controller, { first, look, known, signal, pace })
        void ended.finally(() => {
          leave()
          // A reader who disconnected has already closed it.
          if (!gone.signal.aborted) controller.close()
        })
      },
      cancel: () => gone.abort(),
    })
    return c.body(body, 200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Buffering proxies would hold the events back.
      'x-accel-buffering': 'no',
    })
  }
  return { follow }
}

type Run = {
  first: unknown
  look(): Promise<unknown>
  /** Id of the last event that the reader received. */
  known: string
  signal: AbortSignal
  pace: FollowingPace
}

const UTF8 = new TextEncoder()

async function run(
  controller: ReadableStreamDefaultController<Uint8Array>,
  { first, look, known: before, signal, pace }: Run,
): Promise<void> {
  const endMs = performance.now() + pace.longestMs
  let [known, saidMs, failures] = [before, 0, 0]
  const say = (text: string) => {
    saidMs = performance.now()
    if (!signal.aborted) controller.enqueue(UTF8.encode(text))
  }
  /** A slow reader gets the latest list later, not every list. */
  const hasRoom = () => (controller.desiredSize ?? 0) > 0
  const tell = (list: unknown) => {
    const text = JSON.stringify(list)
    const id = idOf(text)
    if (id === known || !hasRoom()) return
    known = id
    say(`id: ${id}\nevent: list\ndata: ${text}\n\n`)
  }
  say(`retry: ${RETRY_MS}\n\n`)
  let list = first
  while (!signal.aborted) {
    if (list !== null) tell(list)
    if (performance.now() > endMs) return
    if (performance.now() - saidMs >= pace.beatMs && hasRoom()) say(':\n\n')
    await pause(pace.everyMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    try {
      list = await look()
      failures = 0
    } catch (error) {
      if (statusOfRefusal(toCoreError(error, '')) < 500) return say('event: end\ndata: {}\n\n')
      // The database may be unavailable for a moment.
      failures += 1
      list = null
      if (failures > MAX_FAILURES) return
    }
  }
}
