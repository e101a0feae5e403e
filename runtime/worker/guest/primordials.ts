/**
 * The built-ins on which the host's safety depends, captured before any plugin code runs.
 *
 * Trusted code (run, adopt, deliver, reading thrown values) uses only these. It uses nothing that looks a
 * method up at run time: no for-of, spread, array destructuring or regular expressions.
 */
const { bind, call } = Function.prototype

/** Turns a method into a function with `this` as its first argument. */
function uncurry<T, A extends unknown[], R>(
  method: (this: T, ...args: A) => R,
): (self: T, ...args: A) => R {
  // The cast: the types of `call` cannot express the result of the binding.
  return bind.call(call, method) as (self: T, ...args: A) => R
}

export const { apply, construct, defineProperty, deleteProperty, getPrototypeOf, ownKeys } = Reflect
export const { getOwnPropertyDescriptor, setPrototypeOf, hasOwn, freeze } = Object
export const parseJson: (text: string) => unknown = JSON.parse
export const stringifyJson: (value: unknown) => string | undefined = JSON.stringify
export const { isArray } = Array
export const { isFinite: isFiniteNumber, isInteger } = Number
export const now = Date.now
export const SafePromise = Promise
export const SafeMap = Map
export const SafeWeakMap = WeakMap
export const ObjectPrototype = Object.prototype
export const ArrayPrototype = Array.prototype

/** Reports whether a value is a real Error, whatever its prototype chain. False for a Proxy of one. */
export const isError: (value: unknown) => boolean = Error.isError

export const promiseThen: <T>(
  promise: Promise<T>,
  fulfilled: ((value: T) => void) | undefined,
  rejected: (reason: unknown) => void,
) => Promise<void> = uncurry(Promise.prototype.then)
export const mapGet: <K, V>(map: Map<K, V>, key: K) => V | undefined = uncurry(Map.prototype.get)
export const mapSet: <K, V>(map: Map<K, V>, key: K, value: V) => void = uncurry(Map.prototype.set)
export const mapDelete: <K, V>(map: Map<K, V>, key: K) => boolean = uncurry(Map.prototype.delete)
export const mapForEach: <K, V>(map: Map<K, V>, visit: (value: V, key: K) => void) => void =
  uncurry(Map.prototype.forEach)
export const mapSize: (map: Map<unknown, unknown>) => number = uncurry(
  // The cast: every engine has this getter.
  Object.getOwnPropertyDescriptor(Map.prototype, 'size')?.get as (this: unknown) => number,
)
export const weakGet: <K extends object, V>(map: WeakMap<K, V>, key: K) => V | undefined = uncurry(
  WeakMap.prototype.get,
)
export const weakSet: <K extends object, V>(map: WeakMap<K, V>, key: K, value: V) => void = uncurry(
  WeakMap.prototype.set,
)
export const slice: (text: string, from: number, to?: number) => string = uncurry(
  String.prototype.slice,
)
export const indexOf: (text: string, part: string) => number = uncurry(String.prototype.indexOf)
export const sort: (list: string[]) => string[] = uncurry(Array.prototype.sort)

/** Returns a string as a JSON literal. Strings have no toJSON lookup, so no plugin code runs. */
export const quote: (text: string) => string = JSON.stringify

/** Returns an object of ours as JSON. It has no toJSON, so the result is always a text. */
export const jsonText: (value: object) => string = JSON.stringify

/** Makes a property descriptor that reads nothing from a prototype. */
export const bare = (descriptor: PropertyDescriptor): PropertyDescriptor =>
  setPrototypeOf(descriptor, null)
