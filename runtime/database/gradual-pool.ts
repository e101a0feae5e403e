/**
 * Opens the connections of a pool one after another. pg's pool opens one for each query that finds none idle.
 * A starting host sends a dozen queries at once, each answered faster than a session begins, and kept seven
 * sessions because of it. Here a query takes a connection that is released. It opens another one only if none
 * has been released for a moment.
 */
import type { Pool, PoolClient } from 'pg'

/** How long a query waits for a released connection before it opens one, in milliseconds. */
const PATIENCE_MS = 10
/**
 * How long a query waits while another connection is being opened, in milliseconds: a silent server delays
 * all queries once.
 */
const MAX_WAIT_MS = 1000

type Take = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: unknown) => void,
) => void

/** Changes how a new pool provides connections, for its `query` as well. */
export function openGradually(pool: Pool): void {
  const connect = pool.connect.bind(pool)
  let opening = 0
  /** Waiting queries, in order. */
  const waiting = new Map<Take, { timer: NodeJS.Timeout; untilMs: number }>()

  const isOneAtRest = () => pool.idleCount > pool.waitingCount
  /** A full pool makes queries wait itself. */
  const isFull = () => pool.totalCount >= pool.options.max

  function ask(take: Take): void {
    if (isOneAtRest() || isFull()) connect(take)
    else if (pool.totalCount === 0) open(take)
    else {
      const timer = setTimeout(decide, PATIENCE_MS, take)
      waiting.set(take, { timer, untilMs: performance.now() + MAX_WAIT_MS })
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

  /** Decides about a query whose wait has ended. */
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

  /** Gives idle connections to waiting queries. */
  function serve(): void {
    for (const [take] of waiting) {
      if (!isOneAtRest()) return
      leave(take, connect)
    }
  }

  // The connection is idle only after this event.
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
