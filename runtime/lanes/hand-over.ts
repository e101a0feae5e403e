/**
 * Limits the large bodies on their way to a worker: a maximum number of bytes at once, the others wait. A
 * connector may request them faster than its worker reads, and a full channel fails for all calls in the
 * worker.
 */
import { isFairShare } from '../bounded/fair-share.ts'

export type HandOver = {
  /**
   * Waits until a body may be sent, and returns its ticket. Null if too many bytes of this isolate are
   * waiting, or if the signal aborts.
   */
  enter(isolate: number, bytes: number, signal: AbortSignal): Promise<number | null>
  /** The worker has received a body, or it will not be sent. @returns false for an unknown ticket */
  left(ticket: number): boolean
}

type HandOverLimits = {
  /** Maximum bytes in transit or waiting in the worker. A larger body is sent alone. */
  maxSentBytes: number
  /** Maximum bytes waiting or in transit, of all isolates together. */
  maxHeldBytes: number
}

/** A quarter, and all, of the channel's capacity. The first also limits what waits in a worker. */
const HAND_OVER_LIMITS: HandOverLimits = {
  maxSentBytes: 64 * 1024 * 1024,
  maxHeldBytes: 256 * 1024 * 1024,
}

/** A waiting body. `go` is told whether it may be sent. */
type Waiter = { isolate: number; bytes: number; go(entered: boolean): void }

/** Creates the limiter of one worker. */
export function createHandOver(limits: HandOverLimits = HAND_OVER_LIMITS): HandOver {
  /** Waiting bodies in order. After its turn an isolate moves to the end. */
  const waiting = new Map<number, Set<Waiter>>()
  /** Bytes of each isolate, in transit or waiting. */
  const held = new Map<number, number>()
  /** Bodies in transit, by ticket, with the callback for their arrival. */
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
