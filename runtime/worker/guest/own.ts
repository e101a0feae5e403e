import { apply, getOwnPropertyDescriptor, hasOwn } from './primordials.ts'

/** Reports whether a value is an object or a function. */
export function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/** Returns the own member of an object made by JSON.parse, or undefined. Ignores inherited members. */
export function own(object: unknown, key: string): unknown {
  return isObject(object) && hasOwn(object, key) ? object[key] : undefined
}

/**
 * Returns the value of an own data property of any object, or undefined. Calls no getters.
 *
 * A Proxy's trap runs plugin code. What it throws is dropped; if it loops, the host ends the isolate.
 */
export function ownData(object: object, key: string): unknown {
  try {
    const found = getOwnPropertyDescriptor(object, key)
    // A poisoned Object.prototype.value must not stand in for an accessor.
    return found !== undefined && hasOwn(found, 'value') ? found.value : undefined
  } catch {
    return undefined
  }
}

/** Returns an own member if it is a text, else ''. */
export function ownText(object: unknown, key: string): string {
  const value = own(object, key)
  return typeof value === 'string' ? value : ''
}

/** Runs plugin code and passes what it throws to `report`. */
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
