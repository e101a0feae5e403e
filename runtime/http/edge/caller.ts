/**
 * Abort signal of a client that waits for an answer. Unlike an AbortController it costs little while it has
 * no listeners.
 */
import type { CallerSignal } from '../../protocol/lane-call.ts'

export type HttpCaller = CallerSignal & {
  /** The client has disconnected. */
  hangUp(): void
  /** Returns the same as an AbortSignal. */
  abortSignal(): AbortSignal
}

export const createCaller = (): HttpCaller => new Caller()

/** A class, because one is made per call: its methods are shared. A second listener is rare. */
class Caller implements HttpCaller {
  aborted = false
  #listener: (() => void) | null = null
  #others: Set<() => void> | null = null

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listener === null) this.#listener = listener
    else if (this.#listener !== listener) {
      this.#others ??= new Set()
      this.#others.add(listener)
    }
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (this.#listener === listener) this.#listener = null
    else this.#others?.delete(listener)
  }

  hangUp(): void {
    if (this.aborted) return
    this.aborted = true
    this.#listener?.()
    for (const listener of this.#others ?? []) listener()
    this.#listener = null
    this.#others = null
  }

  abortSignal(): AbortSignal {
    const over = new AbortController()
    if (this.aborted) over.abort()
    else this.addEventListener('abort', () => over.abort())
    return over.signal
  }
}
