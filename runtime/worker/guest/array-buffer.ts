import { construct, defineProperty } from './primordials.ts'

/**
 * Replaces ArrayBuffer by one that cannot be resizable: the memory limit does not see the growth of a
 * resizable buffer (4.3 GB at a limit of 64 MB).
 */
export function installArrayBuffer(): void {
  const Native = ArrayBuffer
  const prototype = Native.prototype
  const Fixed = function (length?: unknown, options?: { maxByteLength?: unknown }) {
    if (new.target === undefined) throw new TypeError("Constructor ArrayBuffer requires 'new'")
    if (options?.maxByteLength !== undefined)
      throw new TypeError('resizable ArrayBuffers are not available in the sandbox')
    return construct(Native, [length], new.target)
  }
  define(Fixed, 'prototype', prototype, false)
  define(Fixed, 'length', 1)
  define(Fixed, 'name', 'ArrayBuffer')
  define(Fixed, 'isView', Native.isView)
  defineProperty(Fixed, Symbol.species, {
    get(this: unknown) {
      return this
    },
    configurable: true,
  })
  // Otherwise instances would lead back to the native constructor.
  define(prototype, 'constructor', Fixed)
  Reflect.deleteProperty(prototype, 'resize')
  define(globalThis, 'ArrayBuffer', Fixed)
}

function define(target: object, key: string, value: unknown, writable = true): void {
  defineProperty(target, key, { value, writable, enumerable: false, configurable: writable })
}
