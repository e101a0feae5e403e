/**
 * Looking for a job that waits, once for all places of a host: a job that was sent wakes every place of its queue, and
 * each would ask the database the same. They ask one after the other; what the first of them did not find, the others
 * do not look for.
 */

type Answer = { rows: unknown[] }
export type Ask = (text: string, values?: unknown[]) => Promise<Answer>

/** How pg-boss looks for a job. What it asks in other words is passed on as it is. */
const LOOK = /^\s*WITH\s+next\s+AS\b/i
/** How long an empty answer counts, in milliseconds: a try that waits for its time is told by nobody. */
const FRESH_MS = 1000
/** As many questions are remembered: of each queue one, and one for each set of apps that have all their places. */
const MOST = 200

export type SharedLooks = {
  ask: Ask
  /** Something was sent, perhaps by another host: what was not there may be there. */
  changed(): void
}

export function createSharedLooks(
  ask: Ask,
  now: () => number = () => performance.now(),
): SharedLooks {
  let changes = 0
  const empty = new Map<string, { changes: number; atMs: number }>()
  const last = new Map<string, Promise<unknown>>()

  async function look(key: string, text: string, values?: unknown[]): Promise<Answer> {
    const known = empty.get(key)
    if (known?.changes === changes && now() - known.atMs < FRESH_MS) return { rows: [] }
    const asked = { changes, atMs: now() }
    const answer = await ask(text, values)
    if (answer.rows.length === 0) {
      if (empty.size >= MOST) empty.clear()
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
