import { AbortController, AbortSignal } from './abort.ts'
import { installArrayBuffer } from './array-buffer.ts'
import { atob, btoa } from './base64.ts'
import { Blob, File } from './blob.ts'
import { installConsole } from './console.ts'
import { Crypto } from './crypto.ts'
import { DOMException } from './dom-exception.ts'
import { Event, EventTarget } from './events.ts'
import { FormData } from './form-data.ts'
import { Headers } from './headers.ts'
import { Request } from './request.ts'
import { Response } from './response.ts'
import { structuredClone } from './structured-clone.ts'
import { CryptoKey, SubtleCrypto } from './subtle.ts'
import { TextDecoder, TextEncoder } from './text-codecs.ts'
import { clearTimer, queueMicrotask, setInterval, setTimeout } from './timers.ts'
import { URL } from './url.ts'
import { URLSearchParams } from './url-search-params.ts'

/**
 * Globals that are removed: they use memory that the isolate's limit does not see, block its thread, or run
 * callbacks from the garbage collector when no call with a deadline is left.
 */
const REMOVED = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry', 'WeakRef']

const CLASSES = {
  AbortController,
  AbortSignal,
  Blob,
  Crypto,
  CryptoKey,
  DOMException,
  Event,
  EventTarget,
  File,
  FormData,
  Headers,
  Request,
  Response,
  SubtleCrypto,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
}

const FUNCTIONS = {
  atob,
  btoa,
  clearInterval: clearTimer,
  clearTimeout: (id: unknown) => clearTimer(id),
  queueMicrotask,
  setInterval,
  setTimeout,
  structuredClone,
}

/** Installs the isolate's standard library and removes what would harm the host. */
export function installGlobals(): void {
  for (const name of REMOVED) Reflect.deleteProperty(globalThis, name)
  installArrayBuffer()
  for (const [name, value] of Object.entries({ ...CLASSES, ...FUNCTIONS })) {
    // The minifier shortens names that libraries read.
    Object.defineProperty(value, 'name', { value: name, configurable: true })
    define(name, value)
  }
  for (const [name, value] of Object.entries(CLASSES)) {
    if (Object.hasOwn(value.prototype, Symbol.toStringTag)) continue
    Object.defineProperty(value.prototype, Symbol.toStringTag, { value: name, configurable: true })
  }
  define('crypto', new Crypto())
  // The cast: its methods are written by name.
  installConsole(console as unknown as Record<string, unknown>)
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true })
}
