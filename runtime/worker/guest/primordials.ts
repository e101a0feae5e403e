/**
 * The built-ins that the host's safety hangs on, captured before any plugin code runs.
 *
 * Trusted paths (run, adopt, deliver, reading thrown values) use these and nothing that looks a
 * method up at run time: no for-of, spread or array destructuring, no regular expressions.
 */
const { bind, call } = Function.prototype

/** Turns a method into a function that takes its `this` first. */
export function uncurry<T, A extends unknown[], R>(
  method: (this: T, ...args: A) => R,
): (self: T, ...args: A) => R {
  return bind.call(call, method) as (self: T, ...args: A) => R
}

export const { apply, construct, defineProperty, deleteProperty, getPrototypeOf, ownKeys } = Reflect
export const { getOwnPropertyDescriptor, setPrototypeOf, hasOwn, freeze } = Object
export const parseJson: (text: string) => unknown = JSON.parse
export const stringifyJson: (value: unknown) => string | undefined = JSON.stringify
export const { isArray } = Array
export const { isInteger } = Number
export const now = Date.now
export const SafePromise = Promise
export const SafeMap = Map
export const SafeWeakMap = WeakMap
export const ObjectPrototype = Object.prototype

/** True for a real Error, whatever its prototype chain says; false for a Proxy of one. */
export const isError: (value: unknown) => boolean = (
  Error as unknown as { isError(value: unknown): boolean }
).isError

export const promiseThen = uncurry(Promise.prototype.then) as <T>(
  promise: Promise<T>,
  fulfilled: ((value: T) => void) | undefined,
  rejected: (reason: unknown) => void,
) => Promise<void>
export const mapGet = uncurry(Map.prototype.get) as <K, V>(map: Map<K, V>, key: K) => V | undefined
export const mapSet = uncurry(Map.prototype.set) as <K, V>(map: Map<K, V>, key: K, value: V) => void
export const mapDelete = uncurry(Map.prototype.delete) as <K, V>(map: Map<K, V>, key: K) => boolean
export const mapForEach = uncurry(Map.prototype.forEach) as <K, V>(
  map: Map<K, V>,
  visit: (value: V, key: K) => void,
) => void
export const mapSize = uncurry(
  Object.getOwnPropertyDescriptor(Map.prototype, 'size')?.get as () => number,
) as (map: Map<unknown, unknown>) => number
export const weakGet = uncurry(WeakMap.prototype.get) as <K extends object, V>(
  map: WeakMap<K, V>,
  key: K,
) => V | undefined
export const weakSet = uncurry(WeakMap.prototype.set) as <K extends object, V>(
  map: WeakMap<K, V>,
  key: K,
  value: V,
) => void
export const slice = uncurry(String.prototype.slice) as (
  text: string,
  from: number,
  to?: number,
) => string
export const indexOf = uncurry(String.prototype.indexOf) as (text: string, part: string) => number
export const sort = uncurry(Array.prototype.sort) as (list: string[]) => string[]

/** A string as a JSON literal. Strings have no toJSON lookup, so no plugin code runs. */
export const quote = stringifyJson as (text: string) => string
