/** Abort signal of a client that waits for an answer. Unlike AbortController it is cheap while nothing listens. */
import type { CallerSignal } from '../../protocol/lane-call.ts'

export type HttpCaller = CallerSignal & {
  /** The client has disconnected. */
  hangUp(): void
  /** The same as an AbortSignal. */
  abortSignal(): AbortSignal
}

export function createCaller(): HttpCaller {
  const listeners = new Set<() => void>()
  let aborted = false
  return {
    get aborted() {
      return aborted
    },
    addEventListener: (_type, listener) => void listeners.add(listener),
    removeEventListener: (_type, listener) => void listeners.delete(listener),
    hangUp() {
      if (aborted) return
      aborted = true
      for (const listener of listeners) listener()
      listeners.clear()
    },
    abortSignal() {
      const over = new AbortController()
      if (aborted) over.abort()
      else listeners.add(() => over.abort())
      return over.signal
    },
  }
}
