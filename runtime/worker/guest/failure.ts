/**
 * Encodes a thrown value as the head of an answer. The value is the plugin's. Only own data properties are
 * read: no toString, and no getters except those that the engine itself calls for the stack. Every text is
 * cut.
 */
import type { GuestCall } from './calls.ts'
import { fetchOrigin } from './connector-error.ts'
import { LIMITS } from './limits.ts'
import { isObject, ownData } from './own.ts'
import {
  apply,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  indexOf,
  isError,
  isInteger,
  quote,
  slice,
} from './primordials.ts'

/** The engine's own getter, if the stack is an accessor. An author's getter is not called. */
const stackGetter = getOwnPropertyDescriptor(new Error(), 'stack')?.get

type Details = {
  app_error_code?: unknown
  status_code?: unknown
  raised_by?: unknown
  /** Frames as text. The worker reads the positions from them. */
  stack?: string
}

/** Makes the head for a thrown value. `rawJson` is the last `ctx.raw` value as JSON text, or ''. */
export function thrownHead(call: GuestCall, thrown: unknown, rawJson: string): string {
  if (!isObject(thrown)) return primitiveHead(call, thrown, rawJson)
  const requestId = fetchOrigin(call, thrown)
  if (requestId > 0) return `{"ok":false,"fetch":${requestId}}`
  const code = ownData(thrown, 'error_code')
  const message = ownData(thrown, 'message')
  if (typeof code === 'string' && typeof message === 'string') {
    const details: Details = {
      app_error_code: ownData(thrown, 'app_error_code'),
      status_code: ownData(thrown, 'status_code'),
      raised_by: ownData(thrown, 'raised_by') ?? 'ConnectorError',
    }
    return errorHead(code, message, details, rawJson)
  }
  if (!isError(thrown)) {
    const text = `the handler of ${call.capability} threw ${typeof thrown === 'function' ? 'a function' : 'an object'} that is not an Error`
    return errorHead('unexpected_error', text, {}, rawJson)
  }
  const text = typeof message === 'string' ? message : ''
  const details = { raised_by: errorName(thrown), stack: stackOf(thrown) }
  return errorHead('unexpected_error', text, details, rawJson)
}

/** Makes the head of a failure with a code. */
export function errorHead(code: string, message: string, details: Details, rawJson = ''): string {
  const status = isInteger(details.status_code) ? `${details.status_code}` : 'null'
  const error = `{"code":${quote(slice(code, 0, LIMITS.nameChars))},"message":${quote(slice(message, 0, LIMITS.messageChars))},"app_error_code":${name(details.app_error_code)},"status_code":${status},"raised_by":${name(details.raised_by)},"stack":${quote(details.stack ?? '')}`
  return `{"ok":false,"error":${error}${rawJson === '' ? '' : `,"raw":${rawJson}`}}}`
}

/** Returns the message of a thrown value without running its code. */
export function thrownText(thrown: unknown): string {
  const message = isObject(thrown) ? ownData(thrown, 'message') : thrown
  return typeof message === 'string' ? message : 'an unknown error'
}

function primitiveHead(call: GuestCall, thrown: unknown, rawJson: string): string {
  const kind = thrown === null ? 'null' : typeof thrown
  const shown = kind === 'undefined' || kind === 'null' ? kind : `a ${kind}`
  // A symbol cannot be converted to text.
  const text = kind === 'symbol' || kind === shown ? '' : `: ${thrown}`
  const message = `the handler of ${call.capability} threw ${shown}${text}`
  return errorHead('unexpected_error', message, {}, rawJson)
}

/**
 * Returns the frames of an error's stack as text, or ''. An author's `name` or `prepareStackTrace` may run.
 */
function stackOf(error: object): string {
  try {
    const stack =
      stackGetter === undefined ? ownData(error, 'stack') : apply(stackGetter, error, [])
    if (typeof stack !== 'string') return ''
    const from = indexOf(stack, '\n    at ')
    return from < 0 ? '' : slice(stack, from, from + LIMITS.stackChars)
  } catch {
    return ''
  }
}

/** Returns the error's own name, or the name of the nearest constructor. */
function errorName(error: object): string {
  const given = ownData(error, 'name')
  if (typeof given === 'string' && given !== '') return given
  try {
    let link = getPrototypeOf(error)
    for (let depth = 0; link !== null && depth < 16; depth += 1) {
      const maker = ownData(link, 'constructor')
      const found = typeof maker === 'function' ? ownData(maker, 'name') : undefined
      if (typeof found === 'string' && found !== '') return found
      link = getPrototypeOf(link)
    }
  } catch {
    // A Proxy in the chain.
  }
  return 'Error'
}

function name(value: unknown): string {
  return typeof value === 'string' ? quote(slice(value, 0, LIMITS.nameChars)) : 'null'
}
