/**
 * Opens the connections of a pool one after the other. pg's pool opens one for each question that finds none at rest: a
 * host that starts asks a dozen things at once, each answered sooner than a session begins, and kept seven sessions for
 * it. Here a question takes one that comes back, and opens another one only where none has come for a moment.
 */
import type { Pool, PoolClient } from 'pg'

/** How long a question waits for a connection that comes back before it opens one, in milliseconds. */
const PATIENCE_MS = 10
/** How long it waits while another one is being opened, in milliseconds: a server that is silent holds all up once. */
const MOST_MS = 1000

type Take = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: unknown) => void,
) => void

/** Changes how a pool that was just made is asked for a connection, by its `query` too. */
export function openGradually(pool: Pool): void {
  const connect = pool.connect.bind(pool)
  let opening = 0
  /** Who waits, in the order of asking. */
  const waiting = new Map<Take, { timer: NodeJS.Timeout; untilMs: number }>()

  const isOneAtRest = () => pool.idleCount > pool.waitingCount
  /** The pool itself has others wait where it is full. */
  const isFull = () => pool.totalCount >= pool.options.max

  function ask(take: Take): void {
    if (isOneAtRest() || isFull()) connect(take)
    else if (pool.totalCount === 0) open(take)
    else {
      const timer = setTimeout(decide, PATIENCE_MS, take)
      waiting.set(take, { timer, untilMs: performance.now() + MOST_MS })
    }
  }

  function open(take: Take): void {
    opening += 1
    connect((error, client, done) => {
      opening -= 1
      if (error) for (const [one] of waiting) leave(one, open)
      take(error, client, done)
    })
  }

  /** For one that has waited. */
  function decide(take: Take): void {
    const entry = waiting.get(take)
    if (opening > 0 && entry && performance.now() < entry.untilMs) entry.timer.refresh()
    else leave(take, open)
  }

  function leave(take: Take, into: (take: Take) => void): void {
    clearTimeout(waiting.get(take)?.timer)
    waiting.delete(take)
    into(take)
  }

  /** Gives what is at rest to those who wait. */
  function serve(): void {
    for (const [take] of waiting) {
      if (!isOneAtRest()) return
      leave(take, connect)
    }
  }

  // It is at rest only behind this event.
  pool.on('release', () => queueMicrotask(serve))
  function taken(): Promise<PoolClient>
  function taken(take: Take): void
  function taken(take?: Take): Promise<PoolClient> | undefined {
    if (take) {
      ask(take)
      return undefined
    }
    return new Promise((resolve, reject) => {
      ask((error, client) => (client ? resolve(client) : reject(error)))
    })
  }
  pool.connect = taken
}
