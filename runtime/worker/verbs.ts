/**
 * What the worker does to a guest, in a few verbs. An entry runs on the worker's main thread for a slice,
 * or on a thread of its own behind a gate. Here is also told what becomes of the rejections that a
 * connector leaves unhandled, which isolated-vm reports as failures of whatever runs just then.
 */
import type ivmModule from 'isolated-vm'
import { boxChars } from './box.ts'
import { type Share, SLICE_MS } from './slices.ts'
import { isHuge } from './strays.ts'
import { createTurns } from './turns.ts'

/** A message of the guest that leaves at once: see the prelude. */
export type Post = (op: string, id: number, headJson: string, body: string) => void

export type GuestIsolate = {
  /** Runs a capability; its answer comes in a box of this entry or of a later one. */
  run(call: number, capability: string, callJson: string): void
  /** Hands the answer of a request or a timer in; `call` is whose it is, or null. */
  deliver(id: number, headJson: string, body: string, call: number | null): void
  abort(call: number): void
  /** Resolves when no code of the guest runs. */
  ping(): Promise<void>
  /** Resolves when nothing of it is left on another thread. */
  idle(): Promise<void>
  /** The names of the capabilities that the connector's code implements. */
  readonly capabilities: string[]
}

/** What the isolate tells of itself. */
export type Hooks = {
  post: Post
  onCatastrophe(message: string): void
  /** Handed what ends the isolate, before anything runs in it. */
  onMade(end: () => void): void
  /** What an entry has brought about: see box.ts. */
  onBox(box: unknown): void
  /** No answer will come any more: it was ended by its limit of memory, by a slice that was too long, or failed. */
  onBroken(error: unknown, why: 'memory' | 'cut' | 'failed'): void
  /** The guest has taken more of the main thread than its part. */
  onHeavy(): void
  /** Whether its entries go on threads of their own now. */
  isThreaded(): boolean
  /**
   * Code of the connector rejected a promise and nothing handled it by the end of the turn. `reason` is
   * a primitive or an Error with texts of the guest's making, of any size; `call` is whose turn it was,
   * or null. One for each turn: isolated-vm hands over the first and drops the others.
   */
  onStray(reason: unknown, call: number | null): void
}

/** How many entries on threads, and how many characters, may pass before the isolate must have been idle once. */
const GATE_ENTRIES = 256

/** How many delivered turns of an isolate are on threads at once: each may hand a huge reason over. */
const MAX_TURNS = 4

/** How often a box is asked for while each time another rejection comes instead. */
const MAX_COLLECTS = 3

/** A heap of more bytes is too large for the main thread, which its collections would hold up. */
const LARGE_BYTES = 16 * 1024 * 1024

/** How often the heap is looked at, in slices; sooner after one that took longer, in milliseconds. */
const LOOK_EVERY = 32
const QUICK_MS = 2

/** From this many characters on, a box is let go of at once instead of at the next entry. */
const FORGET_CHARS = 256 * 1024

const COPY = { result: { copy: true } } as const
const SLICE = { result: { copy: true }, timeout: SLICE_MS } as const

/** The guest's functions, by name: see the prelude. */
export type Entries = Record<
  'run' | 'deliver' | 'abort' | 'collect' | 'forget' | 'ping',
  ivmModule.Reference
>

/**
 * The verbs. On threads there is a drain gate: isolated-vm keeps every handle of a wake-up alive until the
 * isolate's queue runs dry, so sustained load kills a healthy isolate (sandbox.md section 0.3): after so many
 * entries, or an eighth of the memory limit in characters, everything waits until it was idle.
 */
export function verbs(
  isolate: ivmModule.Isolate,
  entries: Entries,
  capabilities: string[],
  memoryMb: number,
  share: Share,
  hooks: Hooks,
): GuestIsolate {
  const gateChars = (memoryMb * 1024 * 1024) / 8
  const turns = createTurns(MAX_TURNS)
  /** Entries on threads whose boxes are not here, by number, the oldest first. */
  const away = new Set<number>()
  let lastEntry = 0
  let passed = 0
  let chars = 0
  let gate: Promise<void> | null = null
  let waiting: (() => void)[] = []
  let waitForIdle: (() => void)[] = []
  let slices = 0
  let isLarge = false
  // A thread may hold the isolate after its last box is here, to collect garbage: the main thread would wait.
  let settled = true
  // After a huge reason: those of later turns stay where they are, for they would pile up here.
  let deaf = false

  /** Tells of what failed in the guest, unless it is the isolate that has ended. */
  const stray = (error: unknown, call: number | null) => {
    if (isolate.isDisposed) throw error
    deaf ||= isHuge(error)
    hooks.onStray(error, call)
  }

  /** Who ends an isolate hears nothing of it any more; else it was its limit of memory. */
  const broken = (error: unknown) => hooks.onBroken(error, isolate.isDisposed ? 'memory' : 'failed')

  function enter(entry: ivmModule.Reference, args: Args, size: number, call: number | null): void {
    if (isolate.isDisposed) return
    const again = () => enter(entry, args, size, call)
    if (gate !== null) return void waiting.push(again)
    if (deaf || isLarge || hooks.isThreaded()) return pass(entry, args, size, call)
    if (!settled) {
      closeGate()
      waiting.push(again)
    } else if (share.mayRun()) slice(entry, args, call)
    else setImmediate(again)
  }

  /** Runs an entry here and now. */
  function slice(entry: ivmModule.Reference, args: Args, call: number | null): void {
    lastEntry += 1
    const own = lastEntry
    const entered = [own, own, false, ...args]
    let box: unknown
    let tookMs: number
    share.begin()
    try {
      box = entry.applySync(undefined, entered, SLICE)
      tookMs = share.end()
    } catch (error) {
      tookMs = share.end()
      if (!isolate.isDisposed && isTimeout(error, tookMs)) return hooks.onBroken(error, 'cut')
      try {
        box = collectHere(own, error, call)
      } catch (again) {
        return broken(again)
      }
    }
    slices += 1
    if (slices >= LOOK_EVERY || tookMs > QUICK_MS) void lookAtHeap()
    if (share.isHeavy()) hooks.onHeavy()
    hooks.onBox(box)
    if (boxChars(box) >= FORGET_CHARS) forgetHere(own + 1)
  }

  function forgetHere(before: number): void {
    if (isolate.isDisposed) return
    try {
      entries.forget.applySync(undefined, [before], SLICE)
    } catch (error) {
      stray(error, null)
    }
  }

  /** The box of an entry whose turn left a stray: it is there all the same. */
  function collectHere(
    own: number,
    error: unknown,
    call: number | null,
    tries = MAX_COLLECTS,
  ): unknown {
    stray(error, call)
    try {
      return entries.collect.applySync(undefined, [own], SLICE)
    } catch (again) {
      if (tries > 1) return collectHere(own, again, call, tries - 1)
      throw again
    }
  }

  /** On a thread: the main one would wait while garbage of a large heap is collected. */
  async function lookAtHeap(): Promise<void> {
    slices = 0
    try {
      const { used_heap_size: bytes } = await isolate.getHeapStatistics()
      isLarge = bytes > LARGE_BYTES
    } catch (error) {
      if (!isolate.isDisposed) stray(error, null)
    }
  }

  /** Runs an entry on a thread. */
  function pass(entry: ivmModule.Reference, args: Args, size: number, call: number | null): void {
    settled = false
    passed += 1
    chars += size
    lastEntry += 1
    const own = lastEntry
    away.add(own)
    const go = () => onThread(own, entry, args, call)
    // The turn of a run ends with it: as many as there are calls may be under way.
    if (entry === entries.run) void go()
    else turns.enter(go)
    if (passed >= GATE_ENTRIES || chars >= gateChars) closeGate()
  }

  async function onThread(
    own: number,
    entry: ivmModule.Reference,
    args: Args,
    call: number | null,
  ): Promise<void> {
    try {
      const box = await boxOf(own, entry, args, call)
      const size = boxChars(box)
      chars += size
      away.delete(own)
      hooks.onBox(box)
      if (size >= FORGET_CHARS && !isolate.isDisposed)
        entries.forget.applyIgnored(undefined, [oldest()])
    } catch (error) {
      away.delete(own)
      broken(error)
    }
    if (away.size > 0) return
    const waited = waitForIdle
    waitForIdle = []
    for (const one of waited) one()
  }

  async function boxOf(
    own: number,
    entry: ivmModule.Reference,
    args: Args,
    call: number | null,
  ): Promise<unknown> {
    const entered = [own, oldest(), true, ...args]
    if (deaf) {
      entry.applyIgnored(undefined, entered)
      return await collect(own, call)
    }
    try {
      return await entry.apply(undefined, entered, COPY)
    } catch (error) {
      stray(error, call)
      return await collect(own, call)
    }
  }

  async function collect(own: number, call: number | null, tries = MAX_COLLECTS): Promise<unknown> {
    try {
      return await entries.collect.apply(undefined, [own], COPY)
    } catch (error) {
      stray(error, call)
      if (tries > 1) return await collect(own, call, tries - 1)
      throw error
    }
  }

  /** The oldest entry whose box is not here. */
  const oldest = (): number => away.values().next().value ?? lastEntry + 1

  function closeGate(): void {
    gate = idle()
      .then(lookAtHeap)
      .catch(() => undefined)
      .then(() => new Promise((resolve) => setImmediate(resolve)))
    void gate.then(() => {
      gate = null
      passed = 0
      chars = 0
      settled = true
      const released = waiting
      waiting = []
      for (const one of released) one()
    })
  }

  const idle = (): Promise<void> =>
    away.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          waitForIdle.push(resolve)
        })

  /** Resolves when the guest's thread is free. A stray of an earlier turn may fail it: it is free all the same. */
  const askThread = () =>
    entries.ping
      .apply(undefined, [], COPY)
      .then(() => undefined)
      .catch((error) => stray(error, null))

  return {
    capabilities,
    run: (call, capability, callJson) =>
      enter(entries.run, [call, capability, callJson], callJson.length, call),
    deliver: (id, headJson, body, call) =>
      enter(entries.deliver, [id, headJson, body], headJson.length + body.length, call),
    abort: (call) => enter(entries.abort, [call], 0, call),
    ping: () => (away.size === 0 ? Promise.resolve() : askThread()),
    idle,
  }
}

type Args = (number | string)[]

/** Whether a slice was ended because it took too long; a guest may reject with the same words earlier. */
function isTimeout(error: unknown, tookMs: number): boolean {
  return tookMs >= SLICE_MS - 1 && error instanceof Error && /timed out/i.test(error.message)
}
