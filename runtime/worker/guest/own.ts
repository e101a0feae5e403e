import { apply, getOwnPropertyDescriptor, hasOwn } from './primordials.ts'

/** True for objects and functions. */
export function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/** The own member of an object that JSON.parse made, or undefined; never an inherited one. */
export function own(object: unknown, key: string): unknown {
  return isObject(object) && hasOwn(object, key) ? object[key] : undefined
}

/**
 * The value of an own data property of anything at all, or undefined: getters are not called.
 *
 * A Proxy's trap runs plugin code: what it throws is dropped, and a loop in it is the host's to kill.
 */
export function ownData(object: object, key: string): unknown {
  try {
    const found = getOwnPropertyDescriptor(object, key)
    // a poisoned Object.prototype.value must not answer for an accessor
    return found !== undefined && hasOwn(found, 'value') ? found.value : undefined
  } catch {
    return undefined
  }
}

/** The same where it is a text; else empty. */
export function ownText(object: unknown, key: string): string {
  const value = own(object, key)
  return typeof value === 'string' ? value : ''
}

/** Runs plugin code whose failure is nobody's: what it throws is handed to `report`. */
export function attempt(
  code: (...args: never[]) => unknown,
  self: unknown,
  args: unknown[],
  report: (thrown: unknown) => void,
): void {
  try {
    apply(code, self, args)
  } catch (thrown) {
    report(thrown)
  }
}
