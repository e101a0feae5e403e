/**
 * Prefetch of the pages of a listing while earlier pages are written, so that neither side waits for the
 * other. Pages of a slow system are written one by one as they arrive, those of a fast one several at once.
 * The next page is requested before the last one is processed, so that the connector works in parallel.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * A page of a listing: the number of its rows, and its size in bytes of JSON. `token` is null after the last
 * page.
 */
export type FetchedPage<P> = { found: P; count: number; token: string | null; bytes: number }

type Ahead<A> = {
  /**
   * Returns all pages received since the last call, in order. Waits for at least one page and, while `busy`
   * is pending, until the buffer is half full. Returns none after the last requested page.
   *
   * @throws the error of a request for a page, once all earlier pages were taken
   */
  take(busy?: Promise<void>): Promise<FetchedPage<A>[]>
  /** Stops requesting pages. */
  stop(): void
}

/**
 * Capacity of the buffer of unwritten pages, as rows and as bytes of JSON. No page is requested while it is
 * full.
 */
const MAX_ROWS = 10_000
const MAX_BYTES = 4_000_000

type From<P, A> = {
  fetch(token: string | null): Promise<FetchedPage<P>>
  /** Converts a page to its buffered form, after the next page was requested. */
  arrive(found: P): A
  /** Token of the first page. */
  token: string | null
  /** Reports whether to request another page after one arrives. */
  goesOn(): boolean
}

/** Starts reading at the page of `token`. */
export function readAhead<P, A>({ fetch, arrive, token, goesOn }: From<P, A>): Ahead<A> {
  let waiting: FetchedPage<A>[] = []
  const room: Room = { rows: 0, bytes: 0 }
  /** Token of the next request, or undefined if there is none or reading has stopped. */
  let next: string | null | undefined = token
  /** Number and error of the first page that failed. No page after it is taken. */
  let failure: { at: number; error: unknown } | null = null
  let asked = 0
  /** The page that was requested, and the last page that arrived and is not yet buffered. */
  let coming: Promise<void> | null = null
  let arriving: Promise<void> | null = null

  function ask(): void {
    if (next === undefined || coming !== null || isFull(room)) return
    const at = asked++
    const isBehind = () => failure !== null && failure.at < at
    const whole: Promise<void> = fetch(next)
      .then(async (page) => {
        coming = null
        arriving = whole
        room.rows += page.count
        room.bytes += page.bytes
        const more = page.token !== null && next !== undefined && goesOn()
        next = more ? page.token : undefined
        ask()
        // The call is sent at the end of this turn of the event loop.
        await nextTurn()
        if (!isBehind()) waiting.push({ ...page, found: arrive(page.found) })
        leave(whole)
      })
      .catch((error) => {
        if (!isBehind()) failure = { at, error }
        next = undefined
        leave(whole)
      })
    coming = whole
  }

  function leave(whole: Promise<void>): void {
    if (coming === whole) coming = null
    if (arriving === whole) arriving = null
  }

  /** Waits until the buffer is half full, no page is pending, or `busy` settles. */
  async function enough(busy: Promise<void>): Promise<void> {
    let isBusy = true
    const end = () => {
      isBusy = false
    }
    const ended = busy.then(end, end)
    while (isBusy && !isHalfFull(sizeOf(waiting))) {
      const more = arriving ?? coming
      if (more === null) return
      await Promise.race([ended, more])
    }
  }

  ask()
  return {
    async take(busy) {
      if (busy) await enough(busy)
      if (waiting.length === 0) await (arriving ?? coming)
      if (waiting.length === 0 && failure !== null) throw failure.error
      const taken = waiting
      waiting = []
      const size = sizeOf(taken)
      room.rows -= size.rows
      room.bytes -= size.bytes
      ask()
      return taken
    },
    stop() {
      next = undefined
    },
  }
}

type Room = { rows: number; bytes: number }

const isFull = ({ rows, bytes }: Room): boolean => rows >= MAX_ROWS || bytes >= MAX_BYTES
const isHalfFull = ({ rows, bytes }: Room): boolean => isFull({ rows: rows * 2, bytes: bytes * 2 })

function sizeOf(pages: readonly FetchedPage<unknown>[]): Room {
  const size = { rows: 0, bytes: 0 }
  for (const { count, bytes } of pages) {
    size.rows += count
    size.bytes += bytes
  }
  return size
}
