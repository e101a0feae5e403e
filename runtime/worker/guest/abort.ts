import { DOMException } from './dom-exception.ts'
import { Event, EventTarget, listenerCount } from './events.ts'
import { now } from './primordials.ts'
import { clearTimer, setTimer } from './timers.ts'

type AbortListener = Parameters<EventTarget['addEventListener']>[1]
type Origin = { deadline: number } | { sources: AbortSignal[] } | null

let allowed = false
let trigger: (signal: AbortSignal, reason: unknown) => void

/**
 * WHATWG AbortSignal.
 *
 * `timeout()` and `any()` hold a timer or listeners only while the signal has listeners. A signal that was
 * used for a fetch and forgotten therefore does not keep one of the isolate's timers.
 */
export class AbortSignal extends EventTarget {
  #aborted = false
  #reason: unknown = undefined
  #origin: Origin
  #timer = 0
  #watching = false
  #onabort: ((event: Event) => void) | null = null
  #onSource = (): void => this.#check()

  static {
    trigger = (signal, reason) => signal.#abort(reason)
  }

  constructor(origin: Origin = null) {
    if (!allowed) throw new TypeError('Illegal constructor')
    super()
    this.#origin = origin
  }

  static abort(reason?: unknown): AbortSignal {
    const signal = makeSignal(null)
    signal.#abort(reason)
    return signal
  }

  static timeout(ms: number): AbortSignal {
    return makeSignal({ deadline: now() + Math.max(0, Number(ms) || 0) })
  }

  static any(signals: Iterable<AbortSignal>): AbortSignal {
    const signal = makeSignal({ sources: [...signals] })
    signal.#check()
    return signal
  }

  get aborted(): boolean {
    this.#check()
    return this.#aborted
  }

  get reason(): unknown {
    this.#check()
    return this.#reason
  }

  get onabort(): ((event: Event) => void) | null {
    return this.#onabort
  }

  set onabort(handler: ((event: Event) => void) | null) {
    if (this.#onabort) this.removeEventListener('abort', this.#onabort)
    this.#onabort = typeof handler === 'function' ? handler : null
    this.addEventListener('abort', this.#onabort)
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.#reason
  }

  override addEventListener(type: string, callback: AbortListener, options?: object): void {
    super.addEventListener(type, callback, options)
    this.#watch()
  }

  override removeEventListener(type: string, callback: AbortListener, options?: unknown): void {
    super.removeEventListener(type, callback, options)
    this.#watch()
  }

  #check(): void {
    if (this.#aborted || this.#origin === null) return
    if ('deadline' in this.#origin) {
      if (now() >= this.#origin.deadline) this.#abort(timeoutError())
      return
    }
    for (const source of this.#origin.sources) {
      if (source.aborted) return this.#abort(source.reason)
    }
  }

  #abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason === undefined ? abortError() : reason
    this.#watch()
    this.dispatchEvent(new Event('abort'))
  }

  #watch(): void {
    const wanted = !this.#aborted && listenerCount(this, 'abort') > 0
    if (this.#origin === null || wanted === this.#watching) return
    this.#watching = wanted
    if ('deadline' in this.#origin) {
      if (wanted) this.#timer = setTimer(() => this.#abort(timeoutError()), this.#left(), false, [])
      else clearTimer(this.#timer)
      return
    }
    for (const source of this.#origin.sources) {
      if (wanted) source.addEventListener('abort', this.#onSource)
      else source.removeEventListener('abort', this.#onSource)
    }
  }

  #left(): number {
    return this.#origin && 'deadline' in this.#origin
      ? Math.max(0, this.#origin.deadline - now())
      : 0
  }
}

/** WHATWG AbortController. */
export class AbortController {
  readonly signal: AbortSignal = makeSignal(null)

  abort(reason?: unknown): void {
    trigger(this.signal, reason)
  }
}

/** Makes the error of an aborted call or fetch. */
export function abortError(message = 'This operation was aborted'): DOMException {
  return new DOMException(message, 'AbortError')
}

function timeoutError(): DOMException {
  return new DOMException('The operation was aborted due to timeout', 'TimeoutError')
}

function makeSignal(origin: Origin): AbortSignal {
  allowed = true
  try {
    return new AbortSignal(origin)
  } finally {
    allowed = false
  }
}
