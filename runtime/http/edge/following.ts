/**
 * Lists that are followed, as server-sent events: each event is the whole list, so that nothing is missed by one who comes
 * late, or again to another host. The list is asked for again and again, with the rights of that moment. An event's id is a
 * digest of what it says: who comes again with the last one, or from a page that shows it (`known`), is sent nothing before
 * something has changed.
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
  /** How often the list is asked for, in milliseconds. */
  everyMs: number
  /** Longest silence: proxies close what says nothing, in milliseconds. */
  beatMs: number
  /** After this it ends, and is begun again by who follows, in milliseconds. */
  longestMs: number
}

const PACE: FollowingPace = { everyMs: 1000, beatMs: 15_000, longestMs: 15 * 60_000 }

const MOST_EACH = CALLER_LIMITS.followed_lists.most
/** In all, on this process of the host. */
const MOST = 20 * MOST_EACH
/** Failures in a row after which the stream ends. */
const MOST_FAILURES = 30
/** What a browser waits before it comes again, in milliseconds. */
const RETRY_MS = 2000

export type Following = {
  /**
   * Answers with a stream. `look` is asked for the list, and throws once its reader may not see it any more.
   *
   * @throws RuntimeError following_full; what the first look throws
   */
  follow(
    c: Context<Env>,
    userId: string,
    look: () => Promise<unknown>,
    pace?: Partial<FollowingPace>,
  ): Promise<Response>
}

/** The id of the event that says this. */
const eventIdOf = (list: unknown): string => idOf(JSON.stringify(list))

const idOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 22)

/** The query of a page's stream: what it asks, and what the page shows already. */
export const followQuery = (query: Readonly<Record<string, string>>, shown: unknown): string =>
  new URLSearchParams({ ...query, known: eventIdOf(shown) }).toString()

/** Whether a request wants to follow what it asks for. */
export const wantsEvents = (c: Context<Env>): boolean =>
  /(^|[\s,])text\/event-stream\s*(;|,|$)/i.test(c.req.header('accept') ?? '')

/** `leaving` ends all of them: the host stops. */
export function createFollowing(leaving: AbortSignal, usual: FollowingPace = PACE): Following {
  const counts = new Map<string, number>()
  let all = 0

  function enter(c: Context<Env>, userId: string): () => void {
    const own = counts.get(userId) ?? 0
    if (own >= MOST_EACH || all >= MOST) {
      c.header('retry-after', '10')
      const words =
        own >= MOST_EACH
          ? `You follow ${MOST_EACH} lists already; close one of those pages`
          : 'Too many lists are followed; try again later'
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
          // Who is gone has closed it already.
          if (!gone.signal.aborted) controller.close()
        })
      },
      cancel: () => gone.abort(),
    })
    return c.body(body, 200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies that gather answers would keep the events back.
      'x-accel-buffering': 'no',
    })
  }
  return { follow }
}

type Run = {
  first: unknown
  look(): Promise<unknown>
  /** Id of the last event that the reader has. */
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
  /** A reader who does not keep up is sent the latest later, not all. */
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
      // The database may be away for a moment.
      failures += 1
      list = null
      if (failures > MOST_FAILURES) return
    }
  }
}
