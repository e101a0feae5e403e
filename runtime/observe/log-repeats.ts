/**
 * Repeated log lines: the first is written at once, the others are counted, and a summary line reports their
 * number. Otherwise a persistent error would fill the disk with copies of one stack.
 */
import { createHash } from 'node:crypto'
import { createCache } from '../bounded/cache.ts'

/** A line as passed to the log: its fields, and its message before formatting. */
export type Line = { level: number; fields: Record<string, unknown>; message: string }

type Repeats = {
  /** Reports whether to write a line now. Otherwise it is counted. */
  isNew(line: Line): boolean
  /** Writes summaries of the current counts, and resets them. */
  flush(): void
}

/** Maximum number of request ids in a summary, and maximum length of each, in characters. */
const MAX_IDS = 50
const MAX_ID = 64
/**
 * Time until the first summary, and maximum time between two, in milliseconds. The interval doubles while the
 * line repeats.
 */
const FIRST_MS = 10_000
const MAX_WAIT_MS = 600_000
/** Length of a message and of a stack that is compared, in characters. */
const MAX_TOLD_APART = 4000

type Seen = {
  level: number
  /** Without the error, which may refer to large objects. */
  fields: Record<string, unknown>
  message: string
  count: number
  ids: string[]
  sinceMs: number
  windowMs: number
  timer?: NodeJS.Timeout
}

/** Logs with counts to be summarised when the process exits. */
const waiting = new Set<Repeats>()
process.on('exit', () => {
  for (const one of waiting) one.flush()
})

/** Creates the counts of one log. `say` writes a summary. */
export function createRepeats(say: (line: Line) => void): Repeats {
  const seen = createCache<Seen>('log_lines', { bytesOf, onGone: end })

  function tell(one: Seen): void {
    if (one.count === 0) return
    const { level, fields, message, count, ids } = one
    const nowMs = performance.now()
    const seconds = Math.max(1, Math.round((nowMs - one.sinceMs) / 1000))
    const named = ids.length === 0 ? {} : { request_ids: ids }
    const times = count === 1 ? 'once' : `${count} times`
    say({
      level,
      fields: { ...fields, ...named, repeated: count, seconds },
      message: `${message} (repeated ${times} in ${seconds} s)`,
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
      one.windowMs = Math.min(2 * one.windowMs, MAX_WAIT_MS)
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

/** Returns the size of an entry, including request ids that may still be added. */
const bytesOf = ({ fields, message }: Seen): number =>
  2 * (JSON.stringify(fields).length + message.length + MAX_IDS * MAX_ID)

/**
 * Returns the key of a line, which is the same for all lines that differ only in their request. Null if it
 * cannot be determined.
 */
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
    // The fields cannot be written as JSON, for example because they are circular.
    return null
  }
  return hash.digest('base64')
}

/** Returns the stacks of an error and of its causes, up to a limit. */
function stacks(thrown: unknown): string[] {
  const texts: string[] = []
  for (let one = thrown; one instanceof Error && texts.length < 5; one = one.cause)
    texts.push(one.stack ?? one.message)
  if (thrown !== undefined && !(thrown instanceof Error)) texts.push(String(thrown))
  return texts
}
