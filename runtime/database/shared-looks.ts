/**
 * Shares job polls between the workers of a host. A new job wakes every worker of its queue, and each would
 * run the same query. They query one after another. After an empty result, the others skip their query.
 */

type Answer = { rows: unknown[] }
type Ask = (text: string, values?: unknown[]) => Promise<Answer>

/** Matches the query by which pg-boss fetches jobs. */
const LOOK = /^\s*WITH\s+next\s+AS\b/i
/**
 * Matches the query by which pg-boss reads a queue. Each worker of a queue sends it when the queue first
 * exists.
 */
const QUEUE = /^\s*SELECT\s+q\.name\b/i
/**
 * How long an empty result is valid, in milliseconds. There is no notification when a delayed retry becomes
 * due.
 */
const FRESH_MS = 1000
/**
 * Maximum number of remembered queries: one per queue, and one per set of apps at their concurrency limit.
 */
const MAX_QUERIES = 200

/**
 * Maximum number of concurrent queries of all queues. When a host starts, all its workers query, and each
 * concurrent query uses a connection.
 */
const AT_ONCE = 3

type SharedLooks = {
  ask: Ask
  /** Forgets the empty results, because a job was sent, possibly by another host. */
  changed(): void
}

export function createSharedLooks(
  ask: Ask,
  now: () => number = () => performance.now(),
): SharedLooks {
  let changes = 0
  const empty = new Map<string, { changes: number; atMs: number }>()
  const last = new Map<string, Promise<unknown>>()

  let running = 0
  const waiting: (() => void)[] = []

  async function inTurn(text: string, values?: unknown[]): Promise<Answer> {
    if (running < AT_ONCE) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await ask(text, values)
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }

  async function look(key: string, text: string, values?: unknown[]): Promise<Answer> {
    const known = empty.get(key)
    if (known?.changes === changes && now() - known.atMs < FRESH_MS) return { rows: [] }
    const asked = { changes, atMs: now() }
    const answer = await inTurn(text, values)
    if (answer.rows.length === 0) {
      if (empty.size >= MAX_QUERIES) empty.clear()
      empty.set(key, asked)
    }
    return answer
  }

  const changed = (): void => {
    changes += 1
  }

  return {
    changed,
    async ask(text, values) {
      if (QUEUE.test(text)) return inTurn(text, values)
      if (!LOOK.test(text)) {
        changed()
        return ask(text, values).finally(changed)
      }
      const key = JSON.stringify([text, values])
      const before = last.get(key) ?? Promise.resolve()
      const mine = before.catch(() => {}).then(() => look(key, text, values))
      last.set(key, mine)
      return mine.finally(() => {
        if (last.get(key) === mine) last.delete(key)
      })
    },
  }
}
