/**
 * Large bodies on their way to a worker: so many bytes at once, the others wait. A connector may ask for them faster than
 * its worker reads, and a channel that is full breaks for everybody in the worker.
 */
import { isFairShare } from '../bounded/fair-share.ts'

export type HandOver = {
  /**
   * Waits until a body may be sent; the answer is its ticket. Null when too much of this isolate waits already, and
   * when the signal aborts.
   */
  enter(isolate: number, bytes: number, signal: AbortSignal): Promise<number | null>
  /** The worker has brought a body in, or it will not be sent. @returns false for a ticket that there is not */
  left(ticket: number): boolean
}

type HandOverLimits = {
  /** Bytes that are being sent, or wait in the worker, at once; one that is longer goes alone. */
  maxSentBytes: number
  /** Those that wait or are being sent, of all isolates together. */
  maxHeldBytes: number
}

/** A quarter, and all, of what a channel holds at most. The first is also what waits in a worker for its turn. */
const HAND_OVER_LIMITS: HandOverLimits = {
  maxSentBytes: 64 * 1024 * 1024,
  maxHeldBytes: 256 * 1024 * 1024,
}

/** What waits; `go` is told whether it may be sent. */
type Waiter = { isolate: number; bytes: number; go(entered: boolean): void }

/** Makes the way to one worker. */
export function createHandOver(limits: HandOverLimits = HAND_OVER_LIMITS): HandOver {
  /** In the order in which they go: an isolate that has had its turn goes behind the others. */
  const waiting = new Map<number, Set<Waiter>>()
  /** What each isolate holds, sent or waiting. */
  const held = new Map<number, number>()
  /** What was sent, by ticket: to be called when it is there. */
  const sent = new Map<number, () => void>()
  let tickets = 0
  let heldBytes = 0
  let sentBytes = 0

  const hold = (isolate: number, bytes: number) => {
    const now = (held.get(isolate) ?? 0) + bytes
    heldBytes += bytes
    if (now === 0) held.delete(isolate)
    else held.set(isolate, now)
  }

  const remove = (waiter: Waiter) => {
    const own = waiting.get(waiter.isolate)
    own?.delete(waiter)
    waiting.delete(waiter.isolate)
    if (own && own.size > 0) waiting.set(waiter.isolate, own)
  }

  const next = () => {
    for (const [waiter] of waiting.values()) {
      if (!waiter || (sentBytes > 0 && sentBytes + waiter.bytes > limits.maxSentBytes)) return
      remove(waiter)
      waiter.go(true)
    }
  }

  return {
    enter(isolate, bytes, signal) {
      const before = held.get(isolate) ?? 0
      const free = limits.maxHeldBytes - heldBytes - bytes
      const fits = before === 0 ? free >= 0 : isFairShare(before + bytes, free)
      if (!fits || signal.aborted) return Promise.resolve(null)
      hold(isolate, bytes)
      return new Promise((resolve) => {
        const send = (): number => {
          tickets += 1
          sentBytes += bytes
          sent.set(tickets, () => {
            sentBytes -= bytes
            hold(isolate, -bytes)
            next()
          })
          return tickets
        }
        const abort = () => {
          remove(waiter)
          waiter.go(false)
          next()
        }
        const waiter: Waiter = {
          isolate,
          bytes,
          go(entered) {
            signal.removeEventListener('abort', abort)
            if (!entered) hold(isolate, -bytes)
            resolve(entered ? send() : null)
          },
        }
        signal.addEventListener('abort', abort, { once: true })
        const own = waiting.get(isolate) ?? new Set()
        waiting.set(isolate, own.add(waiter))
        next()
      })
    },
    left(ticket) {
      const leave = sent.get(ticket)
      if (leave === undefined) return false
      sent.delete(ticket)
      leave()
      return true
    },
  }
}
