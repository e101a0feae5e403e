/** The calls that run in this isolate. A record holds only own data properties: trusted code reads it. */
import { mapDelete, mapGet, mapSet, mapSize, SafeMap } from './primordials.ts'

/**
 * Part of an AbortController that a call needs. The type avoids an import: abort.ts reports to the log of the
 * call.
 */
type Controller = { readonly signal: unknown; abort(reason?: unknown): void }

/** One call of one capability. */
export class GuestCall {
  readonly id: number
  readonly capability: string
  openFetches = 0
  fetches = 0
  logLines = 0
  aborted = false
  ended = false
  hasRaw = false
  /** Whether the host accepts tables (protocol/tables.ts), or the columns that it reads. */
  table: readonly string[] | boolean = false
  /** Maximum number of structural characters of the reply (contract/limits/reply-limits.ts). */
  maxMarks = 1 / 0
  raw: unknown = undefined
  /** Made when the author first reads `ctx.signal`. */
  controller: Controller | null = null

  constructor(id: number, capability: string) {
    this.id = id
    this.capability = capability
  }
}

const running = new SafeMap<number, GuestCall>()
// Id 0: the bundle's own top-level code.
let recent = new GuestCall(0, '')

/** Makes the record of a new call. */
export function openCall(id: number, capability: string): GuestCall {
  const call = new GuestCall(id, capability)
  recent = call
  mapSet(running, id, call)
  return call
}

/** Removes a call and returns the number of calls that still run. */
export function closeCall(call: GuestCall): number {
  call.ended = true
  // The record may live on as the recent call. Do not keep the reply with it.
  call.raw = undefined
  mapDelete(running, call.id)
  return mapSize(running)
}

/** Returns the running call with an id, or undefined. */
export function findCall(id: number): GuestCall | undefined {
  return mapGet(running, id)
}

/** Returns the call that began last. Used where the call is unknown (console, timers). */
export function recentCall(): GuestCall {
  return recent
}
