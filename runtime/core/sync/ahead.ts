/**
 * Reads the pages of a listing ahead while earlier ones are written, so that neither side waits for the other: of a slow
 * system each page is written when it comes, of a fast one several at once.
 */

/** What a listing answered, in so many bytes of JSON; `token` is null behind the last page. */
export type FetchedPage<T> = { rows: T[]; token: string | null; bytes: number }

type Ahead<T> = {
  /**
   * All pages that came since, in their order; waits for one. None where nothing more is asked for.
   *
   * @throws what asking for a page threw, once all pages before it were taken
   */
  take(): Promise<FetchedPage<T>[]>
  /** Asks for no further page. */
  stop(): void
}

/** What may wait to be written before the next page is asked for, as rows and as bytes of JSON. */
const MOST_ROWS = 10_000
const MOST_BYTES = 4_000_000

type From<T> = {
  fetch(token: string | null): Promise<FetchedPage<T>>
  /** The first page's token. */
  token: string | null
  /** Whether to ask for a page behind one that has come. */
  goesOn(): boolean
}

/** Begins to read, with the page of `token`. */
export function readAhead<T>({ fetch, token, goesOn }: From<T>): Ahead<T> {
  let waiting: FetchedPage<T>[] = []
  let room = emptyRoom()
  /** The token to ask for next; undefined where there is none, or it is not to be asked for. */
  let next: string | null | undefined = token
  let failure: { error: unknown } | null = null
  let coming: Promise<void> | null = null

  function ask(): void {
    if (next === undefined || coming !== null || isFull(room)) return
    coming = fetch(next).then(
      (page) => {
        coming = null
        waiting.push(page)
        room.rows += page.rows.length
        room.bytes += page.bytes
        const more = page.token !== null && next !== undefined && goesOn()
        next = more ? page.token : undefined
        ask()
      },
      (error) => {
        coming = null
        failure = { error }
        next = undefined
      },
    )
  }

  ask()
  return {
    async take() {
      if (waiting.length === 0) await coming
      if (waiting.length === 0 && failure !== null) throw failure.error
      const taken = waiting
      waiting = []
      room = emptyRoom()
      ask()
      return taken
    },
    stop() {
      next = undefined
    },
  }
}

type Room = { rows: number; bytes: number }

const emptyRoom = (): Room => ({ rows: 0, bytes: 0 })

const isFull = ({ rows, bytes }: Room): boolean => rows >= MOST_ROWS || bytes >= MOST_BYTES
