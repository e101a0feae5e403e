/**
 * The operations of the worker on a guest. Each is an entry into the isolate: a slice of the worker's main
 * thread, or a task on another thread, limited by a gate. Also handles the rejections that a connector leaves
 * unhandled: isolated-vm reports them as the failure of the entry that runs at that moment.
 */
import type ivmModule from 'isolated-vm'
import { boxChars } from './box.ts'
import { onMainThread } from './main-thread.ts'
import { BUSY_SLICE_MS, type Share, SLICE_MS } from './slices.ts'
import { createTurns } from './turns.ts'
import { isHuge } from './unhandled-rejections.ts'

/** Takes a message of the guest that is sent at once: see the prelude. */
type Post = (op: string, id: number, headJson: string, body: string) => void

export type GuestIsolate = {
  /** Runs a capability. Its answer comes in the box of this entry or of a later one. */
  run(call: number, capability: string, callJson: string): void
  /** Delivers the answer of a request or a timer. `call` is the call that it belongs to, or null. */
  deliver(id: number, headJson: string, body: string, call: number | null): void
  abort(call: number): void
  /** Resolves when no code of the guest is running. */
  ping(): Promise<void>
  /** Resolves when no entry is left on another thread. */
  idle(): Promise<void>
  /** Names of the capabilities that the connector's code implements. */
  readonly capabilities: string[]
}

/** Events of the isolate. */
export type Hooks = {
  post: Post
  onCatastrophe(message: string): void
  /** Receives the function that ends the isolate, before anything runs in it. */
  onMade(end: () => void): void
  /** Receives the messages and answers of an entry: see box.ts. */
  onBox(box: unknown): void
  /**
   * No more answers will come: the isolate hit its memory limit, a slice was too long (`cut`), or the isolate
   * failed.
   */
  onBroken(error: unknown, why: 'memory' | 'cut' | 'failed'): void
  /** Called when the guest has used more than its share of the main thread. */
  onHeavy(): void
  /** Reports whether the guest's entries must run on other threads now. */
  isThreaded(): boolean
  /**
   * Code of the connector rejected a promise, and nothing handled it by the end of the turn. `reason` is a
   * primitive or an Error whose texts the guest made, of any size. `call` is the call whose turn it was, or
   * null. There is one per turn: isolated-vm returns the first rejection and drops the others.
   */
  onStray(reason: unknown, call: number | null): void
}

/** Number of entries on threads after which the isolate must have been idle once. */
const GATE_ENTRIES = 256

/** Maximum number of deliveries of an isolate on threads at once: each may return a huge rejection reason. */
const MAX_TURNS = 4

/** Maximum number of attempts to collect a box while another rejection is reported instead. */
const MAX_COLLECTS = 3

/**
 * Largest heap of a guest on the main thread, in bytes: garbage collections of larger ones would block it.
 */
const LARGE_BYTES = 16 * 1024 * 1024

/**
 * Number of slices after which the heap is measured, and the duration, in milliseconds, after which a single
 * slice measures it.
 */
const MEASURED_EVERY = 32
const QUICK_MS = 2

/** Size in characters from which a box is released at once instead of at the next entry. */
const FORGET_CHARS = 256 * 1024

const COPY = { result: { copy: true } } as const
const BRING = { result: { externalCopy: true } } as const
const SLICE = { result: { copy: true }, timeout: SLICE_MS } as const
const BUSY_SLICE = { result: { copy: true }, timeout: BUSY_SLICE_MS } as const

/** Functions of the guest, by name: see the prelude. */
export type Entries = Record<
  'run' | 'deliver' | 'abort' | 'collect' | 'forget' | 'ping',
  ivmModule.Reference
>

/**
 * Makes the operations of a guest. Entries on threads pass a drain gate: isolated-vm keeps every handle of a
 * wake-up alive until the isolate's queue is empty, so sustained load would kill a healthy isolate
 * (sandbox.md section 0.3). After `GATE_ENTRIES` entries, or an eighth of the memory limit in characters,
 * further entries wait until the isolate has been idle.
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
  /** Entries on threads whose boxes have not arrived, by number, oldest first. */
  const away = new Set<number>()
  let lastEntry = 0
  let passed = 0
  let chars = 0
  let gate: Promise<void> | null = null
  let waiting: (() => void)[] = []
  let waitForIdle: (() => void)[] = []
  let slices = 0
  let isLarge = false
  // After its last box has arrived, a thread may still hold the isolate to collect garbage. The main thread
  // would wait for it.
  let settled = true
  // Set after a huge rejection reason. Later reasons are not fetched, because they would accumulate in the
  // worker.
  let deaf = false

  /** Reports a failure of the guest, unless the isolate has ended. */
  const stray = (error: unknown, call: number | null) => {
    if (isolate.isDisposed) throw error
    deaf ||= isHuge(error)
    hooks.onStray(error, call)
  }

  /**
   * Reports whether the time limit of a slice ended an entry. A guest may reject with the same text, but not
   * that late.
   */
  const isCut = (error: unknown, tookMs: number): boolean =>
    !isolate.isDisposed &&
    tookMs >= SLICE_MS - 1 &&
    error instanceof Error &&
    /timed out/i.test(error.message)

  /**
   * Reports the end of the isolate. The worker ignores this for isolates that it ended itself, so a disposed
   * one has hit its memory limit.
   */
  const broken = (error: unknown) => hooks.onBroken(error, isolate.isDisposed ? 'memory' : 'failed')

  function enter(entry: ivmModule.Reference, args: Args, size: number, call: number | null): void {
    // Its memory may have run out between two entries, in a garbage collection that V8 started.
    if (isolate.isDisposed) return broken(new Error('the isolate has ended'))
    const again = () => enter(entry, args, size, call)
    if (gate !== null) return void waiting.push(again)
    if (deaf || isLarge || hooks.isThreaded()) return pass(entry, args, size, call)
    if (!settled) {
      closeGate()
      waiting.push(again)
    } else if (share.mayRun()) slice(entry, args, call)
    else setImmediate(again)
  }

  /** Runs an entry synchronously on the main thread. */
  function slice(entry: ivmModule.Reference, args: Args, call: number | null): void {
    lastEntry += 1
    const own = lastEntry
    const entered = [own, own, false, ...args]
    let box: unknown
    let tookMs: number
    const limits = share.limitMs() === SLICE_MS ? SLICE : BUSY_SLICE
    share.begin()
    try {
      box = entry.applySync(undefined, entered, limits)
      tookMs = share.end()
    } catch (error) {
      tookMs = share.end()
      if (isCut(error, tookMs)) return hooks.onBroken(error, 'cut')
      const begunMs = performance.now()
      try {
        box = collectHere(own, error, call)
      } catch (again) {
        if (isCut(again, performance.now() - begunMs)) return hooks.onBroken(again, 'cut')
        return broken(again)
      }
    }
    slices += 1
    if (slices >= MEASURED_EVERY || tookMs > QUICK_MS) measureHere()
    if (share.isHeavy()) hooks.onHeavy()
    hooks.onBox(box)
    if (boxChars(box) >= FORGET_CHARS) forgetHere(own + 1)
  }

  function forgetHere(before: number): void {
    if (isolate.isDisposed) return
    const begunMs = performance.now()
    try {
      entries.forget.applySync(undefined, [before], BUSY_SLICE)
    } catch (error) {
      // The next entry drops what was not released in time.
      if (!isCut(error, performance.now() - begunMs)) stray(error, null)
    }
  }

  /** Returns the box of an entry whose result was replaced by an unhandled rejection. */
  function collectHere(
    own: number,
    error: unknown,
    call: number | null,
    tries = MAX_COLLECTS,
  ): unknown {
    stray(error, call)
    const begunMs = performance.now()
    try {
      return entries.collect.applySync(undefined, [own], BUSY_SLICE)
    } catch (again) {
      if (tries > 1 && !isCut(again, performance.now() - begunMs))
        return collectHere(own, again, call, tries - 1)
      throw again
    }
  }

  /**
   * Measures the heap after a slice, when no thread can hold the isolate. Asking another thread would cost a
   * wake-up there and one here.
   */
  function measureHere(): void {
    slices = 0
    if (isolate.isDisposed) return
    try {
      takeHeap(isolate.getHeapStatisticsSync())
    } catch (error) {
      unmeasured(error)
    }
  }

  /**
   * Measures the heap after entries on threads. On the main thread, it would wait for a garbage collection in
   * progress.
   */
  async function measureHeap(): Promise<void> {
    slices = 0
    try {
      takeHeap(await isolate.getHeapStatistics())
    } catch (error) {
      unmeasured(error)
    }
  }

  function takeHeap({ used_heap_size: bytes }: ivmModule.HeapStatistics): void {
    isLarge = bytes > LARGE_BYTES
  }

  function unmeasured(error: unknown): void {
    if (isolate.isDisposed) broken(error)
    else stray(error, null)
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
    // Runs are bounded by the number of calls; deliveries are not.
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
      const brought = await boxOf(own, entry, args, call)
      // Two portions: each takes long for a large box, and many boxes may arrive at once.
      const box: unknown = await onMainThread(() => brought.copy({ release: true }))
      await onMainThread(() => takeBox(own, box))
    } catch (error) {
      away.delete(own)
      broken(error)
    }
    if (away.size > 0) return
    const waited = waitForIdle
    waitForIdle = []
    for (const one of waited) one()
  }

  function takeBox(own: number, box: unknown): void {
    const size = boxChars(box)
    chars += size
    away.delete(own)
    hooks.onBox(box)
    if (size >= FORGET_CHARS && !isolate.isDisposed)
      entries.forget.applyIgnored(undefined, [oldest()])
  }

  async function boxOf(
    own: number,
    entry: ivmModule.Reference,
    args: Args,
    call: number | null,
  ): Promise<ivmModule.ExternalCopy> {
    const entered = [own, oldest(), true, ...args]
    if (deaf) {
      entry.applyIgnored(undefined, entered)
      return await collect(own, call)
    }
    try {
      return await entry.apply(undefined, entered, BRING)
    } catch (error) {
      stray(error, call)
      return await collect(own, call)
    }
  }

  async function collect(
    own: number,
    call: number | null,
    tries = MAX_COLLECTS,
  ): Promise<ivmModule.ExternalCopy> {
    try {
      return await entries.collect.apply(undefined, [own], BRING)
    } catch (error) {
      stray(error, call)
      if (tries > 1) return await collect(own, call, tries - 1)
      throw error
    }
  }

  /** Returns the oldest entry whose box has not arrived. */
  const oldest = (): number => away.values().next().value ?? lastEntry + 1

  function closeGate(): void {
    gate = idle()
      .then(measureHeap)
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

  /**
   * Resolves when the guest's thread is free. If a rejection of an earlier entry fails the ping, the thread
   * is free anyway.
   */
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
