/**
 * One isolate with the prelude and one connector in it: what the worker does to a guest, in five
 * verbs. Knows isolated-vm; knows nothing of the host, of frames, of contracts.
 */
import type ivmModule from 'isolated-vm'
import { syncOp } from './sync-ops.ts'

type Ivm = typeof ivmModule

/** A bundle and V8's own cache of it, made at its first compilation in this process. */
export type Source = {
  code: string
  name: string
  cached: ivmModule.ExternalCopy<ArrayBuffer> | null
}

/** A message of the guest to the outside: see the prelude. */
export type Post = (op: string, id: number, headJson: string, body: string) => void

export type GuestIsolate = {
  /** Runs a capability; resolves to [headJson, responseJson, rawJson], all of the guest's making. */
  run(call: number, capability: string, callJson: string): Promise<unknown>
  /** Hands the answer of a request or a timer in. */
  deliver(id: number, headJson: string, body: string): void
  abort(call: number): void
  /** Resolves when the guest's thread is free. */
  ping(): Promise<void>
  /** The names of the capabilities that the connector's code implements. */
  readonly capabilities: string[]
}

/** How many posts, and how many characters, may pass before the isolate must have been idle once. */
const GATE_POSTS = 256

/** How long a connector's top-level code may take, in milliseconds. */
const LOAD_TIMEOUT_MS = 2000

const RESULT = { result: { copy: true, promise: true } } as const

/**
 * Makes an isolate and loads prelude and connector. Throws what the connector's top-level code threw,
 * or isolated-vm's own error when time or memory ran out. `onMade` is handed what ends the isolate,
 * before anything runs in it.
 */
export async function createGuestIsolate(
  ivm: Ivm,
  prelude: Source,
  connector: Source,
  memoryMb: number,
  post: Post,
  onCatastrophe: (message: string) => void,
  onMade: (end: () => void) => void = () => {},
): Promise<GuestIsolate> {
  const isolate = new ivm.Isolate({ memoryLimit: memoryMb, onCatastrophicError: onCatastrophe })
  const dispose = () => {
    if (!isolate.isDisposed) isolate.dispose()
  }
  onMade(dispose)
  try {
    const context = await isolate.createContext()
    const global = context.global
    await global.set('__hostSync', new ivm.Callback(syncOp, { sync: true }))
    await global.set('__hostPost', new ivm.Callback(post, { ignored: true }))
    await evaluate(isolate, context, prelude)
    const entries = await global.get('__keyway', { reference: true })
    const entry = (name: string): Promise<ivmModule.Reference> =>
      entries.get(name as never, { reference: true } as never)
    const adopt = await entry('adopt')
    const run = await entry('run')
    const deliver = await entry('deliver')
    const abort = await entry('abort')
    const ping = await entry('ping')
    const join = await entry('join')
    // Before the plugin: its top-level code could take the entries.
    await global.delete('__keyway')
    await evaluate(isolate, context, connector)
    const adoptedJson = await adopt.apply(undefined, [], {
      timeout: LOAD_TIMEOUT_MS,
      result: { copy: true },
    })
    const adopted = JSON.parse(adoptedJson as string)
    if (adopted.ok !== true) throw new Error(adopted.message)
    return verbs(isolate, { run, join, deliver, abort, ping }, adopted.capabilities, memoryMb)
  } catch (error) {
    dispose()
    throw error
  }
}

async function evaluate(
  isolate: ivmModule.Isolate,
  context: ivmModule.Context,
  source: Source,
): Promise<void> {
  const filename = source.name
  if (source.cached === null) {
    const script = await isolate.compileScript(source.code, { filename, produceCachedData: true })
    // Made before any of the source has run, so the guest had no hand in it.
    source.cached =
      (script as { cachedData?: ivmModule.ExternalCopy<ArrayBuffer> }).cachedData ?? null
    await script.run(context, { timeout: LOAD_TIMEOUT_MS })
    return
  }
  const script = await isolate.compileScript(source.code, { filename, cachedData: source.cached })
  await script.run(context, { timeout: LOAD_TIMEOUT_MS })
}

type Entries = Record<'run' | 'join' | 'deliver' | 'abort' | 'ping', ivmModule.Reference>

/**
 * The verbs, behind the drain gate. isolated-vm keeps every handle of a wake-up alive until the
 * isolate's queue runs dry, so sustained load kills a healthy isolate (sandbox.md section 0.3): after
 * so many posts, or an eighth of the memory limit in characters, everything waits until it was idle.
 */
function verbs(
  isolate: ivmModule.Isolate,
  entries: Entries,
  capabilities: string[],
  memoryMb: number,
): GuestIsolate {
  const gateChars = (memoryMb * 1024 * 1024) / 8
  let posts = 0
  let chars = 0
  let gate: Promise<void> | null = null
  let waiting: (() => void)[] = []

  const ping = () =>
    entries.ping.apply(undefined, [], { result: { copy: true } }).then(() => undefined)

  /** Whoever waited at the gate may find the isolate gone, and isolated-vm throws at once then. */
  const pass = (size: number, go: () => void, failed: (error: unknown) => void) => {
    if (gate !== null) {
      waiting.push(() => pass(size, go, failed))
      return
    }
    posts += 1
    chars += size
    try {
      go()
    } catch (error) {
      failed(error)
    }
    if (posts < GATE_POSTS && chars < gateChars) return
    gate = ping()
      .catch(() => undefined)
      .then(() => new Promise((resolve) => setImmediate(resolve)))
    void gate.then(() => {
      gate = null
      posts = 0
      chars = 0
      const released = waiting
      waiting = []
      for (const one of released) one()
    })
  }

  const unlessDisposed = (error: unknown) => {
    if (!isolate.isDisposed) throw error
  }

  /**
   * A rejection that the plugin left unhandled hits the call that runs just then: its own answer is
   * asked for again.
   */
  const runOnce = (call: number, capability: string, callJson: string): Promise<unknown> =>
    entries.run.apply(undefined, [call, capability, callJson], RESULT).catch((error) => {
      if (isolate.isDisposed) throw error
      return entries.join.apply(undefined, [call], RESULT)
    })

  return {
    capabilities,
    run: (call, capability, callJson) =>
      new Promise((resolve, reject) => {
        const go = () => {
          runOnce(call, capability, callJson).then((parts) => {
            if (Array.isArray(parts)) for (const part of parts) chars += String(part).length
            resolve(parts)
          }, reject)
        }
        pass(callJson.length, go, reject)
      }),
    deliver(id, headJson, body) {
      const go = () => entries.deliver.applyIgnored(undefined, [id, headJson, body])
      pass(headJson.length + body.length, go, unlessDisposed)
    },
    abort: (call) => pass(0, () => entries.abort.applyIgnored(undefined, [call]), unlessDisposed),
    ping,
  }
}
