/**
 * What the worker does to a guest, in a few verbs, behind a gate; and what becomes of the rejections
 * that a connector leaves unhandled, which isolated-vm reports as failures of whatever runs just then.
 */
import type ivmModule from 'isolated-vm'
import { isHuge } from './strays.ts'
import { createTurns } from './turns.ts'

/** A message of the guest to the outside: see the prelude. */
export type Post = (op: string, id: number, headJson: string, body: string) => void

export type GuestIsolate = {
  /** Runs a capability; resolves to [headJson, responseJson, rawJson], all of the guest's making. */
  run(call: number, capability: string, callJson: string): Promise<unknown>
  /** Hands the answer of a request or a timer in; `call` is whose it is, or null. */
  deliver(id: number, headJson: string, body: string, call: number | null): void
  abort(call: number): void
  /** Resolves when the guest's thread is free. */
  ping(): Promise<void>
  /** The names of the capabilities that the connector's code implements. */
  readonly capabilities: string[]
}

/** What the isolate tells of itself. */
export type Hooks = {
  post: Post
  onCatastrophe(message: string): void
  /** Handed what ends the isolate, before anything runs in it. */
  onMade(end: () => void): void
  /**
   * Code of the connector rejected a promise and nothing handled it by the end of the turn. `reason` is
   * a primitive or an Error with texts of the guest's making, of any size; `call` is whose turn it was,
   * or null. One for each turn: isolated-vm hands over the first and drops the others.
   */
  onStray(reason: unknown, call: number | null): void
}

/** How many posts, and how many characters, may pass before the isolate must have been idle once. */
const GATE_POSTS = 256

/** How many delivered turns of an isolate are under way at once: each may hand a huge reason over. */
const MAX_TURNS = 4

/** How often an answer is asked for while each time another rejection comes instead. */
const MAX_JOINS = 3

/** From this many characters on, a kept answer is let go of at once instead of when others come. */
const FORGET_CHARS = 16 * 1024

const RESULT = { result: { copy: true, promise: true } } as const

/** How long an answer waits for the end of its turn, which tells of strays, in milliseconds. */
const TURN_PATIENCE_MS = 20

/** The guest's functions, by name: see the prelude. */
export type Entries = Record<
  'run' | 'join' | 'forget' | 'deliver' | 'abort' | 'ping',
  ivmModule.Reference
>

/**
 * The verbs, behind the drain gate. isolated-vm keeps every handle of a wake-up alive until the
 * isolate's queue runs dry, so sustained load kills a healthy isolate (sandbox.md section 0.3): after
 * so many posts, or an eighth of the memory limit in characters, everything waits until it was idle.
 */
export function verbs(
  isolate: ivmModule.Isolate,
  entries: Entries,
  capabilities: string[],
  memoryMb: number,
  { onStray }: Pick<Hooks, 'onStray'>,
): GuestIsolate {
  const gateChars = (memoryMb * 1024 * 1024) / 8
  const turns = createTurns(MAX_TURNS)
  let posts = 0
  let chars = 0
  let gate: Promise<void> | null = null
  let waiting: (() => void)[] = []
  // After a huge reason: those of later turns stay where they are, for they would pile up here.
  let deaf = false

  /** Tells of what failed in the guest, unless it is the isolate that has ended. */
  const stray = (error: unknown, call: number | null) => {
    if (isolate.isDisposed) throw error
    deaf ||= isHuge(error)
    onStray(error, call)
  }

  // A stray of an earlier turn may fail it: the thread is free all the same.
  const ping = () =>
    entries.ping
      .apply(undefined, [], { result: { copy: true } })
      .then(() => undefined)
      .catch((error) => stray(error, null))

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
    gate = turns
      .idle()
      .then(ping)
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

  /** A turn that has no answer. Its strays are told of; an isolate that is gone says so elsewhere. */
  const turn = (entry: ivmModule.Reference, args: unknown[], call: number | null) =>
    turns.enter(async () => {
      try {
        if (deaf) entry.applyIgnored(undefined, args)
        else await entry.apply(undefined, args)
      } catch (error) {
        if (!isolate.isDisposed) stray(error, call)
      }
    })

  /** The answer of a call whose own turn left a stray: it is there all the same, and asked for again. */
  async function joined(call: number, error: unknown, tries = MAX_JOINS): Promise<unknown> {
    stray(error, call)
    return entries.join
      .apply(undefined, [call], RESULT)
      .catch((again) => (tries > 1 ? joined(call, again, tries - 1) : Promise.reject(again)))
  }

  async function answered(call: number, run: Promise<unknown>): Promise<unknown> {
    const parts = await run.catch((error) => joined(call, error))
    let size = 0
    if (Array.isArray(parts)) for (const part of parts) size += String(part).length
    chars += size
    if (size >= FORGET_CHARS && !isolate.isDisposed) entries.forget.applyIgnored(undefined, [call])
    // The turn that brought the answer may have left a stray: it is told of while the call is known.
    await turns.oldest(TURN_PATIENCE_MS)
    return parts
  }

  return {
    capabilities,
    run: (call, capability, callJson) =>
      new Promise((resolve, reject) => {
        const go = () => {
          const run = entries.run.apply(undefined, [call, capability, callJson], RESULT)
          answered(call, run).then(resolve, reject)
        }
        pass(callJson.length, go, reject)
      }),
    deliver(id, headJson, body, call) {
      const go = () => turn(entries.deliver, [id, headJson, body], call)
      pass(headJson.length + body.length, go, unlessDisposed)
    },
    abort: (call) => pass(0, () => turn(entries.abort, [call], call), unlessDisposed),
    ping,
  }
}
