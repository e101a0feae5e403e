/**
 * Bounded concurrency: so many calls of one tenant at once, so many of one connector waiting. A tenant
 * that floods waits behind itself.
 */
import { RuntimeError } from '../contract/errors.ts'

/** Most calls of one connector that may wait. */
export const MAX_WAITING = 256

export type Turns = {
  /** A turn if one is free now, without any waiting; null otherwise. */
  tryTake(connector: string, tenant: string, concurrency: number): (() => void) | null
  /**
   * Waits for a turn; the answer gives it back.
   *
   * @throws queue_full; what `signal` was aborted with.
   */
  take(
    connector: string,
    tenant: string,
    concurrency: number,
    signal: AbortSignal,
  ): Promise<() => void>
}

type Line = { running: number; waiting: (() => void)[] }

export function createTurns(): Turns {
  const lines = new Map<string, Line>()
  const waiting = new Map<string, number>()

  const count = (connector: string, by: number) => {
    const now = (waiting.get(connector) ?? 0) + by
    if (now === 0) waiting.delete(connector)
    else waiting.set(connector, now)
  }

  const lineOf = (key: string): Line => {
    const line = lines.get(key) ?? { running: 0, waiting: [] }
    lines.set(key, line)
    return line
  }

  const leave = (key: string, line: Line) => () => {
    line.running -= 1
    const next = line.waiting.shift()
    if (next) next()
    else if (line.running === 0) lines.delete(key)
  }

  function tryTake(connector: string, tenant: string, concurrency: number) {
    const key = `${connector} ${tenant}`
    const line = lineOf(key)
    if (line.running >= concurrency) return null
    line.running += 1
    return leave(key, line)
  }

  return {
    tryTake,
    async take(connector, tenant, concurrency, signal) {
      const free = tryTake(connector, tenant, concurrency)
      if (free) return free
      if ((waiting.get(connector) ?? 0) >= MAX_WAITING) {
        throw new RuntimeError(
          'queue_full',
          `${MAX_WAITING} calls of this connector are waiting; send fewer at once`,
        )
      }
      signal.throwIfAborted()
      const key = `${connector} ${tenant}`
      const line = lineOf(key)
      count(connector, 1)
      try {
        await new Promise<void>((resolve, reject) => {
          const turn = () => {
            signal.removeEventListener('abort', gone)
            line.running += 1
            resolve()
          }
          const gone = () => {
            line.waiting.splice(line.waiting.indexOf(turn), 1)
            reject(signal.reason)
          }
          line.waiting.push(turn)
          signal.addEventListener('abort', gone, { once: true })
        })
      } finally {
        count(connector, -1)
      }
      return leave(key, line)
    },
  }
}
