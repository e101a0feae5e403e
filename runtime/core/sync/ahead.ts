/**
 * Reads the pages of a listing ahead while earlier ones are written, so that neither side waits for the other: of a slow
 * system each page is written when it comes, of a fast one several at once. The next page is asked for before the one that
 * came is used, so that the connector works meanwhile.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** What a listing answered: so many rows, in so many bytes of JSON; `token` is null behind the last page. */
export type FetchedPage<P> = { found: P; count: number; token: string | null; bytes: number }

type Ahead<A> = {
  /**
   * All pages that came since, in their order. Waits for one, and while something is `busy` for half of what may wait. None
   * where nothing more is asked for.
   *
   * @throws what asking for a page threw, once all pages before it were taken
   */
  take(busy?: Promise<void>): Promise<FetchedPage<A>[]>
  /** Asks for no further page. */
  stop(): void
}

/** What may wait to be written before the next page is asked for, as rows and as bytes of JSON. */
const MOST_ROWS = 10_000
const MOST_BYTES = 4_000_000

type From<P, A> = {
  fetch(token: string | null): Promise<FetchedPage<P>>
  /** A page as it waits, made once the next one was asked for. */
  arrive(found: P): A
  /** The first page's token. */
  token: string | null
  /** Whether to ask for a page behind one that has come. */
  goesOn(): boolean
}

/** Begins to read, with the page of `token`. */
export function readAhead<P, A>({ fetch, arrive, token, goesOn }: From<P, A>): Ahead<A> {
  let waiting: FetchedPage<A>[] = []
  const room: Room = { rows: 0, bytes: 0 }
  /** The token to ask for next; undefined where there is none, or it is not to be asked for. */
  let next: string | null | undefined = token
  /** The first page that could not be had, by its place, and why: nothing behind it is taken. */
  let failure: { at: number; error: unknown } | null = null
  let asked = 0
  /** The page that was asked for, and the last of those that came and do not wait yet. */
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
        // A call leaves at the end of a turn.
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

  /** Waits until half the room is used, nothing more comes, or what is `busy` ends, in whatever way. */
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

const isFull = ({ rows, bytes }: Room): boolean => rows >= MOST_ROWS || bytes >= MOST_BYTES
const isHalfFull = ({ rows, bytes }: Room): boolean => isFull({ rows: rows * 2, bytes: bytes * 2 })

function sizeOf(pages: readonly FetchedPage<unknown>[]): Room {
  const size = { rows: 0, bytes: 0 }
  for (const { count, bytes } of pages) {
    size.rows += count
    size.bytes += bytes
  }
  return size
}
