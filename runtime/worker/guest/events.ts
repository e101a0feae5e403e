import { reportThrown } from './log.ts'

type Callback = ((event: Event) => void) | { handleEvent(event: Event): void }
type ListenerOptions = boolean | { once?: boolean; capture?: boolean; signal?: Signal }
type Signal = Pick<EventTarget, 'addEventListener'> & { readonly aborted?: boolean }
type Listener = { callback: Callback; once: boolean }

let setTarget: (event: Event, target: EventTarget | null) => void
let isStopped: (event: Event) => boolean

/** WHATWG Event without phases: the sandbox has no tree to bubble through. */
export class Event {
  readonly type: string
  readonly cancelable: boolean
  readonly bubbles: boolean
  readonly timeStamp: number = Date.now()
  #target: EventTarget | null = null
  #prevented = false
  #stopped = false

  static {
    setTarget = (event, target) => {
      event.#target = target
    }
    isStopped = (event) => event.#stopped
  }

  constructor(type: string, init: { cancelable?: boolean; bubbles?: boolean } = {}) {
    this.type = `${type}`
    this.cancelable = Boolean(init.cancelable)
    this.bubbles = Boolean(init.bubbles)
  }

  get target(): EventTarget | null {
    return this.#target
  }

  get currentTarget(): EventTarget | null {
    return this.#target
  }

  get defaultPrevented(): boolean {
    return this.#prevented
  }

  preventDefault(): void {
    if (this.cancelable) this.#prevented = true
  }

  stopPropagation(): void {}

  stopImmediatePropagation(): void {
    this.#stopped = true
  }
}

let countListeners: (target: EventTarget, type: string) => number

/**
 * WHATWG EventTarget without a tree. An error thrown by a listener is logged and does not stop other
 * listeners.
 */
export class EventTarget {
  #listeners = new Map<string, Listener[]>()

  static {
    countListeners = (target, type) => target.#listeners.get(type)?.length ?? 0
  }

  addEventListener(type: string, callback: Callback | null, options: ListenerOptions = {}): void {
    if (callback === null || callback === undefined) return
    const list = this.#listeners.get(type) ?? []
    if (list.some((listener) => listener.callback === callback)) return
    const { once = false, signal } = typeof options === 'object' ? options : {}
    if (signal?.aborted) return
    this.#listeners.set(type, [...list, { callback, once }])
    signal?.addEventListener('abort', () => this.removeEventListener(type, callback))
  }

  removeEventListener(type: string, callback: Callback | null, _options?: unknown): void {
    const rest = this.#listeners.get(type)?.filter((listener) => listener.callback !== callback)
    if (rest === undefined) return
    if (rest.length > 0) this.#listeners.set(type, rest)
    else this.#listeners.delete(type)
  }

  dispatchEvent(event: Event): boolean {
    setTarget(event, this)
    for (const { callback, once } of this.#listeners.get(event.type) ?? []) {
      if (once) this.removeEventListener(event.type, callback)
      try {
        if (typeof callback === 'function') callback.call(this, event)
        else callback.handleEvent(event)
      } catch (thrown) {
        reportThrown('an event listener', thrown)
      }
      if (isStopped(event)) break
    }
    return !event.defaultPrevented
  }
}

/** Returns the number of listeners of a target for a type. */
export const listenerCount: (target: EventTarget, type: string) => number = (target, type) =>
  countListeners(target, type)
