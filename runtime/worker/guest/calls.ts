/** The calls that run in this isolate. A record holds own data only: trusted paths read it. */
import { mapDelete, mapGet, mapSet, mapSize, SafeMap } from './primordials.ts'

/** What a call needs of its AbortController, whose file reports to the log of the call. */
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
  /** Whether the host reads tables (protocol/tables.ts), or which of their columns. */
  table: readonly string[] | boolean = false
  raw: unknown = undefined
  /** Made when the author first asks for `ctx.signal`. */
  controller: Controller | null = null

  constructor(id: number, capability: string) {
    this.id = id
    this.capability = capability
  }
}

const running = new SafeMap<number, GuestCall>()
// id 0: the bundle's own top-level code
let recent = new GuestCall(0, '')

/** Makes the record of a call that begins. */
export function openCall(id: number, capability: string): GuestCall {
  const call = new GuestCall(id, capability)
  recent = call
  mapSet(running, id, call)
  return call
}

/** Forgets a call and returns how many still run. */
export function closeCall(call: GuestCall): number {
  call.ended = true
  // the record may live on as the recent call: without the reply
  call.raw = undefined
  mapDelete(running, call.id)
  return mapSize(running)
}

/** The running call of an id. */
export function findCall(id: number): GuestCall | undefined {
  return mapGet(running, id)
}

/** The call that began last, for what cannot be told apart by call (console, timers). */
export function recentCall(): GuestCall {
  return recent
}
