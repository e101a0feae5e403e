/**
 * A lane: one worker process at a time and the calls in it. Starts the worker lazily, assigns calls to its
 * isolates, serves their requests through egress, enforces deadlines, and replaces the worker when it dies.
 * For every message of a worker, connector, tenant, capability and deadline are taken from the host's own
 * table, by call id.
 */

import { createSlots } from '../bounded/slots.ts'
import { RuntimeError } from '../contract/errors/errors.ts'
import { takenAway } from '../contract/errors/taken-away.ts'
import { messageOf } from '../contract/errors/thrown.ts'
import { REQUEST_LIMITS } from '../contract/limits/requests.ts'
import { type Heads, MAX_FRAME_PAYLOAD, type Message } from '../protocol/frames.ts'
import type { Done, LaneCall, LaneReply, RequireServed } from '../protocol/lane-call.ts'
import type { LoadedConnector } from '../protocol/loaded.ts'
import { closeInPlace } from '../protocol/reply-room.ts'
import { type BackOffLimits, createBackOff } from './back-off.ts'
import { createDeadlines, TICK_MS } from './deadlines.ts'
import type { HeavyBook } from './heavy-book.ts'
import { heldUpError, isolateError, overdueError, toLaneError, workerError } from './lane-errors.ts'
import { type LaneWorker, type LaneWorkerLimits, startLaneWorker } from './lane-worker.ts'
import type { Launcher } from './launch.ts'
import { boundLine } from './log-lines.ts'
import type { Cut, Errand, Pending } from './pending.ts'
import { errorForGuest, performFetch, tooManyFetches, tooMuchWaits } from './perform-fetch.ts'
import type { Ticket } from './wait-queue.ts'
import type { WorkerEnd } from './worker-link.ts'

export type LaneLimits = LaneWorkerLimits & BackOffLimits

export type Lane = {
  /** Runs a call; `done` may be called before this returns. */
  start(call: LaneCall, done: Done<LaneReply>): void
  /** Returns the capabilities that the connector's code implements. Loads it in an isolate of its own. */
  describe(connector: LoadedConnector, deadlineMs: number): Promise<string[]>
  readonly pid: number | null
  readonly running: number
  /** End of the lane's last work, in milliseconds since the epoch. */
  readonly lastUsedMs: number
  readonly isolates: number
  /** Calls waiting for an isolate. */
  readonly waiting: number
  /** Number of answers from its workers so far. */
  readonly answers: number
  /** Called periodically. Makes sure that isolates without calls are idle. */
  tend(): void
  /** Allows the next worker to start immediately, however often earlier ones died. */
  forgive(): void
  /** Ends the calls for which `requireServed` throws, with the thrown error, as if their deadline had passed. */
  cutOff(requireServed: RequireServed): void
  /** Ends the worker. With the reason `stopped` the lane is closed and starts no other. */
  kill(reason: WorkerEnd['reason'], detail: string): void
}

type Send = (to: LaneWorker, call: number, isolate: number) => void

/** Ends of a worker after which its connectors are kept off the next worker's main thread for a time. */
const BY_GUESTS: readonly WorkerEnd['reason'][] = ['stalled', 'memory', 'crashed']

/** Maximum number of requests of one call in total. */
const MAX_FETCHES = REQUEST_LIMITS.inAll

/** Returns the error of a call whose version or capability was revoked; null if it may continue. */
function takenFrom(
  { version, capability }: Pick<Errand, 'version' | 'capability'>,
  requireServed: RequireServed,
): RuntimeError | null {
  if (version === undefined || capability === null) return null
  try {
    requireServed(version, capability)
    return null
  } catch (error) {
    return toLaneError(error)
  }
}

/** Creates a lane. It starts no worker before its first call. */
export function createLane(
  launcher: Launcher,
  limits: LaneLimits,
  heavy: HeavyBook,
  /** Called at the end of every worker, with the connectors that were in it. */
  onEnd: (end: WorkerEnd, connectors: string[]) => void,
  now: () => number = Date.now,
): Lane {
  const pending = createSlots<Pending>()
  /** Calls without an isolate: their worker is starting, or full. */
  const waiting = new Map<Pending['settle'], Pick<Pending, 'errand' | 'cut'>>()
  const backOff = createBackOff(limits, now)
  const deadlines = createDeadlines(TICK_MS, () => {
    if (worker?.isReady && pending.size > 0) worker.stall.look()
  })
  let closed = false
  let worker: LaneWorker | null = null
  let answers = 0
  let lastUsedMs = now()

  const events = {
    onMessage: receive,
    onEnd: ended,
    onSilent: (isolate: number) => failIsolate(isolate, heldUpError()),
  }

  /** Moves the next calls of this capability to threads of their own. */
  function markHeavy({ errand: { connector, capability } }: Pending): void {
    if (capability !== null) heavy.mark(connector.digest, capability)
  }

  function ended(from: LaneWorker, end: WorkerEnd): void {
    if (worker !== from) return
    worker = null
    if (end.reason === 'unstarted') backOff.failed()
    else if (end.reason !== 'stopped') backOff.died()
    const connectors = from.seats.connectors()
    // It is not known which connector or call caused it.
    if (BY_GUESTS.includes(end.reason))
      for (const connector of connectors) heavy.mark(connector, null)
    const error = workerError(end, pending.size + from.seats.unheard)
    // First, so that no isolate freed by a failing call is assigned again.
    from.seats.stop()
    // Before the calls fail: they may be retried, in another lane.
    onEnd(end, connectors)
    for (const call of pending.values()) call.settle(error)
  }

  /** Returns the running worker. After repeated deaths it waits first, bounded by the call's deadline. */
  async function obtain(): Promise<LaneWorker> {
    const pauseMs = worker === null ? backOff.pauseMs() : 0
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
    // The lane was closed while the call waited. A worker started now would have no owner.
    if (closed) throw workerError({ reason: 'stopped', detail: '' }, 0)
    worker ??= start()
    const mine = worker
    await mine.ready
    return mine
  }

  function start(): LaneWorker {
    try {
      return startLaneWorker(launcher, events, limits, now)
    } catch (error) {
      const end: WorkerEnd = { reason: 'unstarted', detail: messageOf(error) }
      backOff.failed()
      onEnd(end, [])
      throw workerError(end, 0)
    }
  }

  /** Adds an entry to the call table: assigns it to an isolate and ends it exactly once. */
  function place(errand: Errand, send: Send, done: Done<LaneReply | string[]>): void {
    const { connector, isolateKey, deadlineMs, signal } = errand
    lastUsedMs = now()
    const endMs = now() + deadlineMs
    let over = false
    let call: Pending | null = null
    let giveUp = () => {}
    const settle = (result: LaneReply | string[] | RuntimeError) => {
      if (over) return
      over = true
      waiting.delete(settle)
      giveUp()
      deadlines.clear(deadline)
      signal?.removeEventListener('abort', hangUp)
      lastUsedMs = now()
      if (call) close(call)
      done(result)
    }
    /** Frees the call's isolate before its answer arrives, if nothing else of it is outstanding. */
    const leave = (error: RuntimeError) => {
      if (call?.sent) call.worker.link.send('cancel', call.id, { isolate: call.isolate })
      settle(error)
    }
    const cut: Cut = (error = overdueError()) => {
      if (over) return
      call?.worker.seats.overrun(call.isolate)
      leave(error)
    }
    const deadline = deadlines.set(deadlineMs, cut)
    const hangUp = () => {
      // The caller has hung up, but the code must still end: by an answer, at its deadline, or when it
      // is revoked.
      if (call?.sent) {
        call.orphaned = true
        const { version, capability } = errand
        const leftMs = Math.max(0, endMs - now())
        call.worker.seats.orphan(call.id, call.isolate, leftMs, { version, capability })
      }
      leave(new RuntimeError('caller_gone', 'the caller hung up'))
    }
    const enter = (mine: LaneWorker, isolate: number) => {
      waiting.delete(settle)
      const entered = open(mine, isolate, errand, { settle, cut })
      call = entered
      mine.load(connector, () => {
        if (over) return
        entered.sent = true
        send(mine, entered.id, isolate)
      })
    }
    const queue = (mine: LaneWorker) => {
      if (over) return
      const ticket: Ticket = {
        connector: connector.digest,
        // An isolate keeps the memory limit that it was created with.
        isolateKey: `${connector.memoryMb} ${isolateKey}`,
        enter: (isolate) => enter(mine, isolate),
        again: begin,
        refuse: settle,
      }
      giveUp = () => mine.seats.giveUp(ticket)
      mine.seats.take(ticket)
    }
    const failed = (error: unknown) => settle(toLaneError(error))
    const begin = () => {
      // In a warm lane a call starts synchronously, since each promise would cost a tick.
      if (!worker?.isReady || closed) return void obtain().then(queue).catch(failed)
      try {
        queue(worker)
      } catch (error) {
        failed(error)
      }
    }
    signal?.addEventListener('abort', hangUp, { once: true })
    if (signal?.aborted) return hangUp()
    begin()
    if (call === null && !over) waiting.set(settle, { errand, cut })
  }

  function open(
    to: LaneWorker,
    isolate: number,
    errand: Errand,
    ends: Pick<Pending, 'settle' | 'cut'>,
  ): Pending {
    const { fetch, log } = errand
    const call: Pending = {
      id: 0,
      errand,
      isolate,
      worker: to,
      sent: false,
      orphaned: false,
      ...ends,
      fetch,
      log,
      logLines: 0,
      requests: null,
      fetches: 0,
      fetchErrors: null,
    }
    call.id = pending.add(call)
    to.lastCall = call.id
    return call
  }

  function close(call: Pending): void {
    pending.delete(call.id)
    for (const request of call.requests?.values() ?? []) request.abort()
    if (!call.orphaned) call.worker.seats.release(call.isolate)
  }

  function failIsolate(isolate: number, error: RuntimeError): void {
    for (const call of pending.values()) if (call.isolate === isolate) call.settle(error)
  }

  function receive(from: LaneWorker, message: Message): void {
    if (worker !== from) return
    const { kind, head, body } = message
    if (kind === 'pong') return from.seats.answered(head.isolate)
    if (kind === 'working') return from.stall.working(head.chars)
    if (kind === 'disposed') {
      if (head.reason === 'cut' || head.reason === 'memory')
        for (const call of pending.values()) if (call.isolate === head.isolate) markHeavy(call)
      from.seats.gone(head.isolate, head.reason === 'asked')
      return failIsolate(head.isolate, isolateError(head))
    }
    const call = pending.get(message.call)
    if (!call) {
      if (kind === 'reply') from.seats.replied(message.call)
      // Messages of ended calls may still arrive. Messages of calls that never existed may not.
      if (message.call > from.lastCall) from.link.kill('protocol', `call ${message.call} never was`)
      return
    }
    if (kind === 'reply' && call.fetch !== null) {
      answers += 1
      if (head.ok && head.responseBytes > body.length)
        return from.link.kill('protocol', 'a reply shorter than it says')
      const fetchError = 'fetch' in head ? (call.fetchErrors?.get(head.fetch) ?? null) : null
      const isUsual = head.ok && head.cursorJson === 'null' && head.responseBytes === body.length
      const envelope = isUsual ? closeInPlace(body, message.roomBytes) : null
      const isEnvelope = envelope !== null
      return call.settle({ reply: head, body: envelope ?? body, isEnvelope, fetchError })
    }
    if (kind === 'described' && call.fetch === null)
      return call.settle(head.capabilities.map(String))
    if (kind === 'log') {
      call.logLines += 1
      const line = boundLine(head, call.logLines)
      return line === null ? undefined : call.log?.(line)
    }
    if (kind === 'heavy') return markHeavy(call)
    if (kind === 'fetch_abort') return call.requests?.get(head.request)?.abort()
    if (kind === 'fetch') return void forward(call, head, body).catch(from.link.contain)
    from.link.kill('protocol', `${kind} is not for a host`)
  }

  async function forward(call: Pending, head: Heads['fetch'], body: Buffer): Promise<void> {
    const abort = new AbortController()
    call.requests ??= new Map()
    call.requests.set(head.request, abort)
    call.fetches += 1
    const done =
      call.fetches > MAX_FETCHES
        ? errorForGuest(tooManyFetches(MAX_FETCHES))
        : await performFetch(call.fetch, head, body, abort.signal)
    const { handOver, link } = call.worker
    const size = done.bytes.length
    // A body that fits into a frame is sent immediately. Most do, and each promise would cost a tick.
    const isLarge = size > MAX_FRAME_PAYLOAD
    const ticket = isLarge ? await handOver.enter(call.isolate, size, abort.signal) : undefined
    call.requests.delete(head.request)
    if (pending.get(call.id) === undefined) return void (ticket && handOver.left(ticket))
    const { reply, bytes, error } = ticket === null ? errorForGuest(tooMuchWaits()) : done
    // Record only one of the many identical errors.
    if (error && call.fetches <= MAX_FETCHES + 1) {
      call.fetchErrors ??= new Map()
      call.fetchErrors.set(head.request, error)
    }
    const answer = { isolate: call.isolate, request: head.request, reply }
    link.send('fetched', call.id, ticket ? { ...answer, ticket } : answer, bytes)
  }

  return {
    start(call, done) {
      const send: Send = (to, id, isolate) => {
        const { connector, capability, raw, limits } = call
        const { digest } = connector
        // A call that must not be retried is never cut.
        const threaded = call.hasWritten() || heavy.has(digest, capability)
        const head = { connector: digest, isolate, capability, raw, threaded, limits }
        to.link.send('call', id, head, call.callJson)
      }
      // Cast: calls are settled with replies only; `described` settles descriptions.
      place(call, send, done as Done<LaneReply | string[]>)
    },
    describe: (connector, deadlineMs) =>
      new Promise((resolve, reject) => {
        const noCall = { capability: null, signal: null, fetch: null, log: null }
        place(
          { connector, isolateKey: 'describe', deadlineMs, ...noCall },
          (to, id, isolate) =>
            to.link.send('describe', id, { connector: connector.digest, isolate }),
          // Cast: see `start`.
          (ended) => (ended instanceof RuntimeError ? reject(ended) : resolve(ended as string[])),
        )
      }),
    get pid() {
      return worker?.link.pid ?? null
    },
    get running() {
      return pending.size + waiting.size
    },
    get lastUsedMs() {
      return lastUsedMs
    },
    get answers() {
      return answers
    },
    get isolates() {
      return worker?.seats.size ?? 0
    },
    get waiting() {
      return worker?.seats.waiting ?? 0
    },
    tend: () => worker?.seats.tend(),
    forgive: backOff.forget,
    cutOff(requireServed) {
      // Waiting calls first: an isolate that becomes free must not start one of them.
      for (const { errand, cut } of [...waiting.values(), ...pending.values()]) {
        const error = takenFrom(errand, requireServed)
        if (error !== null) cut(takenAway(error, errand.hasWritten?.() ?? false))
      }
      // This is safe for the upstream system: earlier writes are done, and open requests were aborted when
      // the caller hung up.
      worker?.seats.lapse((of) => takenFrom(of, requireServed) !== null)
    },
    kill(reason, detail) {
      if (reason === 'stopped') {
        closed = true
        for (const settle of [...waiting.keys()]) settle(workerError({ reason, detail }, 0))
      }
      worker?.link.kill(reason, detail)
    },
  }
}
