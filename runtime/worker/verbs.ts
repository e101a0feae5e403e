/**
 * The operations of the worker on a guest. Each is an entry into the isolate: a slice of the worker's main thread, or a
 * task on another thread, limited by a gate. Also handles the rejections that a connector leaves unhandled: isolated-vm
 * reports them as the failure of the entry that runs at that moment.
 */
import type ivmModule from 'isolated-vm'
import { boxChars } from './box.ts'
import { onMainThread } from './main-thread.ts'
import { BUSY_SLICE_MS, type Share, SLICE_MS } from './slices.ts'
import { isHuge } from './strays.ts'
import { createTurns } from './turns.ts'

/** A message of the guest that leaves at once: see the prelude. */
type Post = (op: string, id: number, headJson: string, body: string) => void

export type GuestIsolate = {
  /** Runs a capability; its answer comes in a box of this entry or of a later one. */
  run(call: number, capability: string, callJson: string): void
  /** Hands the answer of a request or a timer in; `call` is whose it is, or null. */
  deliver(id: number, headJson: string, body: string, call: number | null): void
  abort(call: number): void
  /** Resolves when no code of the guest is running. */
  ping(): Promise<void>
  /** Resolves when no entry is left on another thread. */
  idle(): Promise<void>
  /** The names of the capabilities that the connector's code implements. */
  readonly capabilities: string[]
}

/** Events of the isolate. */
export type Hooks = {
  post: Post
  onCatastrophe(message: string): void
  /** Handed what ends the isolate, before anything runs in it. */
  onMade(end: () => void): void
  /** The messages and answers of an entry: see box.ts. */
  onBox(box: unknown): void
  /** No more answers will come: the isolate hit its memory limit, a slice was too long (`cut`), or it failed. */
  onBroken(error: unknown, why: 'memory' | 'cut' | 'failed'): void
  /** The guest has used more than its share of the main thread. */
  onHeavy(): void
  /** Whether its entries must run on other threads now. */
  isThreaded(): boolean
  /**
   * Code of the connector rejected a promise and nothing handled it by the end of the turn. `reason` is
   * a primitive or an Error with texts of the guest's making, of any size; `call` is whose turn it was,
   * or null. One for each turn: isolated-vm hands over the first and drops the others.
   */
  onStray(reason: unknown, call: number | null): void
}

/** Entries on threads after which the isolate must have been idle once. */
const GATE_ENTRIES = 256

/** Most deliveries of an isolate on threads at once: each may return a huge rejection reason. */
const MAX_TURNS = 4

/** Most attempts to collect a box while another rejection is reported instead. */
const MAX_COLLECTS = 3

/** Largest heap of a guest on the main thread, in bytes: garbage collections of larger ones would block it. */
const LARGE_BYTES = 16 * 1024 * 1024

/** The heap is measured after so many slices, and after each slice longer than this, in milliseconds. */
const MEASURED_EVERY = 32
const QUICK_MS = 2

/** A box of at least so many characters is released at once instead of at the next entry. */
const FORGET_CHARS = 256 * 1024

const COPY = { result: { copy: true } } as const
const BRING = { result: { externalCopy: true } } as const
const SLICE = { result: { copy: true }, timeout: SLICE_MS } as const
const BUSY_SLICE = { result: { copy: true }, timeout: BUSY_SLICE_MS } as const

/** The guest's functions, by name: see the prelude. */
export type Entries = Record<
  'run' | 'deliver' | 'abort' | 'collect' | 'forget' | 'ping',
  ivmModule.Reference
>

/**
 * Makes the operations. Entries on threads pass a drain gate: isolated-vm keeps every handle of a wake-up alive until
 * the isolate's queue is empty, so that sustained load would kill a healthy isolate (sandbox.md section 0.3). After a
 * number of entries, or an eighth of the memory limit in characters, all others wait until it has been idle.
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
  // After its last box has arrived, a thread may still hold the isolate to collect garbage: the main thread would wait.
  let settled = true
  // After a huge rejection reason: later ones are not fetched, because they would accumulate here.
  let deaf = false

  /** Reports what failed in the guest, unless the isolate has ended. */
  const stray = (error: unknown, call: number | null) => {
    if (isolate.isDisposed) throw error
    deaf ||= isHuge(error)
    hooks.onStray(error, call)
  }

  /** Whether the time limit of a slice ended an entry; a guest may reject with the same text, but not that late. */
  const isCut = (error: unknown, tookMs: number): boolean =>
    !isolate.isDisposed &&
    tookMs >= SLICE_MS - 1 &&
    error instanceof Error &&
    /timed out/i.test(error.message)

  /** The worker ignores this for isolates that it ended itself, so a disposed one has hit its memory limit. */
  const broken = (error: unknown) => hooks.onBroken(error, isolate.isDisposed ? 'memory' : 'failed')

  function enter(entry: ivmModule.Reference, args: Args, size: number, call: number | null): void {
    // Its memory may have run out between two entries, in a garbage collection of V8's own.
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
      // What was not released in time is with the next entry.
      if (!isCut(error, performance.now() - begunMs)) stray(error, null)
    }
  }

  /** The box of an entry whose result was replaced by an unhandled rejection. */
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

  /** After a slice, when no thread can hold the isolate: asking another thread costs it a wake-up, and this one another. */
  function measureHere(): void {
    slices = 0
    if (isolate.isDisposed) return
    try {
      takeHeap(isolate.getHeapStatisticsSync())
    } catch (error) {
      unmeasured(error)
    }
  }

  /** After entries on threads: the main thread would wait for a garbage collection in progress. */
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
      // Apart: either takes long for a large box, and many may arrive at once.
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

  /** The oldest entry whose box has not arrived. */
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

  /** Resolves when the guest's thread is free. A rejection of an earlier entry may fail it; the thread is free anyway. */
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
