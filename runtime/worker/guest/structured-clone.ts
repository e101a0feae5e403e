import { DOMException } from './dom-exception.ts'

const ERRORS: Record<string, ErrorConstructor> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
}

/** WHATWG structuredClone for JSON-like values, Map, Set, Date, RegExp, buffers, errors and cycles. */
export function structuredClone<T>(value: T, options: { transfer?: unknown[] } = {}): T {
  if (options?.transfer?.length) throw refuse('a transfer list')
  // The cast: a clone has the type of its original.
  return clone(value, new Map()) as T
}

function clone(value: unknown, seen: Map<unknown, unknown>): unknown {
  if (typeof value === 'symbol') throw refuse('a symbol')
  if (typeof value === 'function') throw refuse('a function')
  if (typeof value !== 'object' || value === null) return value
  if (seen.has(value)) return seen.get(value)
  const copy = emptyCopy(value, seen)
  seen.set(value, copy)
  fill(value, copy, seen)
  return copy
}

function emptyCopy(value: object, seen: Map<unknown, unknown>): object {
  if (Array.isArray(value)) return new Array(value.length)
  if (value instanceof Date) return new Date(value.getTime())
  if (value instanceof RegExp) return new RegExp(value.source, value.flags)
  if (value instanceof Map) return new Map()
  if (value instanceof Set) return new Set()
  if (value instanceof ArrayBuffer) return value.slice(0)
  if (ArrayBuffer.isView(value)) return copyView(value, seen)
  if (Error.isError(value)) return copyError(value, seen)
  if (value instanceof Boolean || value instanceof Number || value instanceof String)
    return Object(value.valueOf())
  for (const kind of [WeakMap, WeakSet, Promise]) {
    if (value instanceof kind) throw refuse(`a ${kind.name}`)
  }
  return {}
}

function fill(value: object, copy: object, seen: Map<unknown, unknown>): void {
  if (value instanceof Map && copy instanceof Map) {
    for (const [key, item] of [...value]) copy.set(clone(key, seen), clone(item, seen))
  } else if (value instanceof Set && copy instanceof Set) {
    for (const item of [...value]) copy.add(clone(item, seen))
  } else if (Array.isArray(copy) || Object.getPrototypeOf(copy) === Object.prototype) {
    for (const key of Object.keys(value)) {
      const item = clone(Reflect.get(value, key), seen)
      // Defined, not assigned: a key named __proto__ is data.
      Object.defineProperty(copy, key, {
        value: item,
        writable: true,
        enumerable: true,
        configurable: true,
      })
    }
  }
}

function copyView(view: ArrayBufferView, seen: Map<unknown, unknown>): object {
  const buffer = clone(view.buffer, seen)
  if (!(buffer instanceof ArrayBuffer)) throw refuse('shared memory')
  if (view instanceof DataView) return new DataView(buffer, view.byteOffset, view.byteLength)
  return Reflect.construct(view.constructor, [buffer, view.byteOffset, Reflect.get(view, 'length')])
}

function copyError(error: Error, seen: Map<unknown, unknown>): Error {
  const kind = Object.hasOwn(ERRORS, error.name) ? ERRORS[error.name] : undefined
  const copy = new (kind ?? Error)(error.message)
  seen.set(error, copy)
  if ('cause' in error) define(copy, 'cause', clone(error.cause, seen))
  define(copy, 'stack', `${error.stack ?? ''}`)
  return copy
}

function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, configurable: true })
}

function refuse(what: string): DOMException {
  return new DOMException(`${what} could not be cloned`, 'DataCloneError')
}
