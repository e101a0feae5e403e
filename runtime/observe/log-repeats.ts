/**
 * Lines that come again and again: the first is written at once, the others are counted, and one line says how
 * many there were. A fault that lasts would else fill the disk with one stack.
 */
import { createHash } from 'node:crypto'
import { createCache } from '../bounded/cache.ts'

/** A line as it was handed to the log: its fields, and its message with what formats it. */
export type Line = { level: number; fields: Record<string, unknown>; message: string }

type Repeats = {
  /** Whether to write a line now; else it is counted. */
  isNew(line: Line): boolean
  /** Says at once what is counted so far, and forgets it. */
  flush(): void
}

/** How many request ids a summary names, and how much of each, in characters. */
const MAX_IDS = 50
const MAX_ID = 64
/** When the first summary comes, and how long the pauses between two grow while it goes on, in milliseconds. */
const FIRST_MS = 10_000
const LONGEST_MS = 600_000
/** How much of a message and of a stack tells lines apart, in characters. */
const MAX_TOLD_APART = 4000

type Seen = {
  level: number
  /** Without the error: what that holds on to may be large. */
  fields: Record<string, unknown>
  message: string
  count: number
  ids: string[]
  sinceMs: number
  windowMs: number
  timer?: NodeJS.Timeout
}

/** Logs that have something to say when the process ends. */
const waiting = new Set<Repeats>()
process.on('exit', () => {
  for (const one of waiting) one.flush()
})

/** Makes the memory of one log; `say` writes a summary. */
export function createRepeats(say: (line: Line) => void): Repeats {
  const seen = createCache<Seen>('log_lines', { bytesOf, onGone: end })

  function tell(one: Seen): void {
    if (one.count === 0) return
    const { level, fields, message, count, ids } = one
    const nowMs = performance.now()
    const seconds = Math.max(1, Math.round((nowMs - one.sinceMs) / 1000))
    const named = ids.length === 0 ? {} : { request_ids: ids }
    const times = count === 1 ? 'once more' : `${count} more times`
    say({
      level,
      fields: { ...fields, ...named, repeated: count, seconds },
      message: `${message} (the same ${times} in ${seconds} s)`,
    })
    Object.assign(one, { count: 0, ids: [], sinceMs: nowMs })
  }

  function end(one: Seen): void {
    clearTimeout(one.timer)
    tell(one)
  }

  function wait(key: string, one: Seen): void {
    const over = () => {
      if (one.count === 0) {
        seen.delete(key)
        if (seen.entries === 0) waiting.delete(repeats)
        return
      }
      tell(one)
      one.windowMs = Math.min(2 * one.windowMs, LONGEST_MS)
      wait(key, one)
    }
    one.timer = setTimeout(over, one.windowMs).unref()
  }

  const repeats: Repeats = {
    isNew(line) {
      const key = keyOf(line)
      if (key === null) return true
      const { requestId, err: _, ...fields } = line.fields
      const again = seen.get(key)
      if (again) {
        again.count += 1
        if (typeof requestId === 'string' && again.ids.length < MAX_IDS)
          again.ids.push(requestId.slice(0, MAX_ID))
        return false
      }
      const { level, message } = line
      const sinceMs = performance.now()
      const one = { level, fields, message, count: 0, ids: [], sinceMs, windowMs: FIRST_MS }
      wait(key, one)
      seen.set(key, one)
      waiting.add(repeats)
      return true
    },
    flush() {
      for (const one of seen.values()) end(one)
      seen.clear()
      waiting.delete(repeats)
    },
  }
  return repeats
}

/** With the request ids that it may come to name. */
const bytesOf = ({ fields, message }: Seen): number =>
  2 * (JSON.stringify(fields).length + message.length + MAX_IDS * MAX_ID)

/** What makes two lines the same: all but the request that they were written for. Null where that cannot be said. */
function keyOf({ level, fields, message }: Line): string | null {
  const { requestId, err, ...rest } = fields
  const plain = (text: string) =>
    (typeof requestId === 'string' && requestId !== ''
      ? text.replaceAll(requestId, '')
      : text
    ).slice(0, MAX_TOLD_APART)
  const hash = createHash('sha256')
  try {
    hash.update(`${level}\n${plain(message)}\n${plain(JSON.stringify(rest))}\n`)
    for (const text of stacks(err)) hash.update(`${plain(text)}\n`)
  } catch {
    // Fields that are no JSON, such as a circle.
    return null
  }
  return hash.digest('base64')
}

/** An error and what caused it, some steps deep. */
function stacks(thrown: unknown): string[] {
  const texts: string[] = []
  for (let one = thrown; one instanceof Error && texts.length < 5; one = one.cause)
    texts.push(one.stack ?? one.message)
  if (thrown !== undefined && !(thrown instanceof Error)) texts.push(String(thrown))
  return texts
}
