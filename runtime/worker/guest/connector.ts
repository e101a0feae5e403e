import { isObject } from './own.ts'
import {
  bare,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isArray,
  mapGet,
  mapSet,
  ObjectPrototype,
  ownKeys,
  quote,
  SafeMap,
  setPrototypeOf,
  sort,
  stringifyJson,
} from './primordials.ts'

/** Function of a capability, as the author wrote it. */
type Handler = (request: unknown, ctx: unknown) => unknown

type Scope = { __connector?: { default?: unknown } | undefined }

let isMisfit: (value: object) => value is Misfit
let handlers = new SafeMap<string, Handler>()

/** Returns the handler of a capability, or undefined. */
export function findHandler(capability: string): Handler | undefined {
  return mapGet(handlers, capability)
}

let outcome: string | null = null

/**
 * Takes the bundle's default export off the global object and keeps its handlers. Returns the outcome as
 * JSON; a second call returns the same.
 */
export function adopt(): string {
  outcome ??= takeHandlers()
  return outcome
}

function takeHandlers(): string {
  try {
    return `{"ok":true,"capabilities":${stringifyJson(keep(takeExport()))}}`
  } catch (thrown) {
    const message =
      isObject(thrown) && isMisfit(thrown) ? thrown.message : 'the default export could not be read'
    return `{"ok":false,"message":${quote(message)}}`
  }
}

/** Reason why the export is rejected. Not an Error: no value that plugin code throws can pass for one. */
class Misfit {
  readonly message: string
  #misfit = true

  static {
    // Not instanceof: a thrown Proxy would run its trap.
    isMisfit = (value): value is Misfit => #misfit in value
  }

  constructor(message: string) {
    this.message = message
  }
}

const defaultOf = (namespace: { default?: unknown }): unknown => namespace.default

function takeExport(): unknown {
  // The cast: the bundle declares its export as a global.
  const scope = globalThis as Scope
  const namespace = scope.__connector
  // A `var` of the bundle cannot be deleted.
  if (!deleteProperty(globalThis, '__connector')) scope.__connector = undefined
  const value = isObject(namespace) ? defaultOf(namespace) : undefined
  if (value === undefined)
    throw new Misfit('the connector exports nothing: write export default defineConnector({ ... })')
  return value
}

function keep(value: unknown): string[] {
  const prototype = isObject(value) && !isArray(value) ? getPrototypeOf(value) : undefined
  if (
    typeof value !== 'object' ||
    value === null ||
    (prototype !== null && prototype !== ObjectPrototype)
  ) {
    throw new Misfit(
      'the default export is not made by defineConnector: it has to be a plain object of functions',
    )
  }
  return keepMembers(value)
}

function keepMembers(value: object): string[] {
  const found = new SafeMap<string, Handler>()
  const names: string[] = []
  const keys = ownKeys(value)
  for (let i = 0; i < keys.length; i += 1) {
    const name = keys[i]
    if (typeof name !== 'string') continue
    const member = getOwnPropertyDescriptor(value, name)
    if (member?.enumerable !== true) continue
    const handler = hasOwn(member, 'value') ? member.value : undefined
    if (typeof handler !== 'function')
      throw new Misfit(`the member ${name} of the default export is not a function`)
    mapSet(found, name, handler)
    // Defined, not pushed: Array.prototype may have setters by now.
    defineProperty(
      names,
      names.length,
      bare({
        value: name,
        writable: true,
        enumerable: true,
        configurable: true,
      }),
    )
  }
  handlers = found
  sort(names)
  // Keeps a toJSON of a poisoned prototype from running.
  setPrototypeOf(names, null)
  return names
}
