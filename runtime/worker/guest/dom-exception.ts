import { ask, HostRefusal } from './bridge.ts'
import { bare, defineProperty } from './primordials.ts'

/** Legacy `code` of each name that has one. */
const CODES: Record<string, number> = {
  InvalidCharacterError: 5,
  NotSupportedError: 9,
  InvalidStateError: 11,
  SyntaxError: 12,
  InvalidAccessError: 15,
  AbortError: 20,
  QuotaExceededError: 22,
  TimeoutError: 23,
  DataCloneError: 25,
}

/** WHATWG DOMException. `name` is an own data property, so that it can be read without getters. */
export class DOMException extends Error {
  constructor(message = '', options: string | { name?: string; cause?: unknown } = 'Error') {
    const init = typeof options === 'object' ? options : { name: options }
    super(`${message}`, 'cause' in init ? { cause: init.cause } : undefined)
    own(this, 'name', init.name ?? 'Error')
  }

  get code(): number {
    return CODES[this.name] ?? 0
  }

  get [Symbol.toStringTag](): string {
    return 'DOMException'
  }
}

/** Asks the host and throws a refusal as the error that WHATWG specifies. */
export function askOrThrow(op: string, args: unknown[]): string {
  try {
    return ask(op, JSON.stringify(args))
  } catch (refusal) {
    if (!(refusal instanceof HostRefusal)) throw refusal
    if (refusal.kind === 'TypeError') throw new TypeError(refusal.message)
    if (refusal.kind === 'RangeError') throw new RangeError(refusal.message)
    throw new DOMException(refusal.message, refusal.kind)
  }
}

function own(target: object, key: string, value: unknown): void {
  defineProperty(
    target,
    key,
    bare({
      value,
      writable: true,
      configurable: true,
    }),
  )
}
