/**
 * A lane: one worker process at a time and the calls in it. Starts it lazily, gives calls to its
 * isolates, serves their requests from egress, holds every deadline, and replaces the worker when it
 * dies. Decides connector, tenant, capability and deadline of everything a worker says from its own
 * table, by call id.
 */

import { RuntimeError } from '../contract/errors.ts'
import type { Heads, Message, Reply } from '../contract/frames.ts'
import type { LoadedConnector } from '../contract/loaded.ts'
import { createIsolateTable, type IsolateLimits } from './isolate-table.ts'
import { isolateError, workerError } from './lane-errors.ts'
import type { Launcher } from './launch.ts'
import { type FetchReply, type FetchRequest, performFetch } from './perform-fetch.ts'
import { createWatchdog } from './watchdog.ts'
import { startWorker, type WorkerEnd, type WorkerLink } from './worker-link.ts'

export type LaneCall = {
  connector: LoadedConnector
  /** Digest of settings and credentials: which tenant's isolate. */
  isolateKey: string
  capability: string
  /** Request, settings, credentials and page, as the guest gets them. */
  callJson: string
  raw: boolean
  /** From now until the answer must be there, in milliseconds. */
  deadlineMs: number
  /** Aborted when the caller hangs up. */
  signal: AbortSignal
  fetch(request: FetchRequest): Promise<FetchReply>
  log(line: Heads['log']): void
}

/** The guest's answer: the message's head and bytes; `fetchError` where the handler let one through. */
export type LaneReply = { reply: Reply; body: Buffer; fetchError: RuntimeError | null }

export type LaneLimits = IsolateLimits & {
  /** How long a guest may take to answer a ping after a deadline, in milliseconds. */
  pingMs: number
  /** How long a worker may take to confirm that an isolate is gone, in milliseconds. */
  disposeMs: number
  /** How long a worker may take to start, in milliseconds. */
  startMs: number
  /** First and longest pause before a worker that keeps dying is started again, in milliseconds. */
  restartMs: number
  maxRestartMs: number
}

export type Lane = {
  run(call: LaneCall): Promise<LaneReply>
  /** Asks the connector's code what it implements; loads it in an isolate of its own. */
  describe(connector: LoadedConnector, deadlineMs: number): Promise<string[]>
  readonly pid: number | null
  readonly running: number
  /** When the lane last had work, in milliseconds since the epoch. */
  readonly lastUsedMs: number
  readonly isolates: number
  /** Ends the worker. With the reason `stopped` the lane is over: no other is started. */
  kill(reason: WorkerEnd['reason'], detail: string): void
}

type Pending = {
  id: number
  isolate: number
  connector: LoadedConnector
  settle(result: LaneReply | string[] | RuntimeError): void
  fetch: LaneCall['fetch'] | null
  log: LaneCall['log'] | null
  /** Open requests of the call; all end with it. */
  requests: Map<number, AbortController>
  fetchErrors: Map<number, RuntimeError>
}

type Worker = {
  link: WorkerLink
  ready: Promise<void>
  /** By digest: who waits until the bundle has left, or null once it has. */
  loaded: Map<string, (() => void)[] | null>
  lastCall: number
}

/** Makes a lane; nothing is started before its first call. */
export function createLane(
  launcher: Launcher,
  limits: LaneLimits,
  onEnd: (end: WorkerEnd) => void,
  now: () => number = Date.now,
): Lane {
  const pending = new Map<number, Pending>()
  /** Calls that have no isolate yet: their worker is starting. */
  const waiting = new Set<Pending['settle']>()
  let closed = false
  let isolates = createIsolateTable(limits, now)
  let worker: Worker | null = null
  let nextCall = 1
  let lastUsedMs = now()
  let restartMs = 0
  let startableMs = 0

  const watchdog = createWatchdog(
    {
      ping: (isolate) => worker?.link.send('ping', 0, { isolate }),
      dispose(isolate) {
        const message = 'another call of this tenant would not end'
        failIsolate(isolate, new RuntimeError('isolate_disposed', message))
        isolates.forget(isolate)
        worker?.link.send('dispose', 0, { isolate })
      },
      kill: () => worker?.link.kill('crashed', 'an isolate did not end'),
    },
    limits.pingMs,
    limits.disposeMs,
  )

  function start(): Worker {
    isolates = createIsolateTable(limits, now)
    let readied: () => void = () => {}
    let refused: (error: RuntimeError) => void = () => {}
    const ready = new Promise<void>((resolve, reject) => {
      readied = resolve
      refused = reject
    })
    // Every call awaits it; none may be there yet when it fails.
    ready.catch(() => {})
    const link = startWorker(
      launcher,
      (message) => {
        if (message.kind === 'ready') readied()
        else receive(made, message)
      },
      (end) => {
        clearTimeout(patience)
        const error = workerError(end)
        refused(error)
        if (worker !== made) return
        worker = null
        ended(end, error)
      },
    )
    const made: Worker = { link, ready, loaded: new Map(), lastCall: 0 }
    const patience = setTimeout(() => link.kill('crashed', 'did not start in time'), limits.startMs)
    void ready.then(
      () => clearTimeout(patience),
      () => {},
    )
    return made
  }

  function ended(end: WorkerEnd, error: RuntimeError): void {
    watchdog.stop()
    if (end.reason !== 'stopped') {
      restartMs = Math.min(limits.maxRestartMs, restartMs === 0 ? limits.restartMs : restartMs * 2)
      startableMs = now() + (restartMs === limits.restartMs ? 0 : restartMs)
    }
    for (const call of [...pending.values()]) call.settle(error)
    onEnd(end)
  }

  /** The running worker; after repeated deaths a pause comes first, which the call's deadline bounds. */
  async function obtain(): Promise<Worker> {
    const pauseMs = worker === null ? startableMs - now() : 0
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
    // Let go while the call waited: a worker started now would have no owner.
    if (closed) throw workerError({ reason: 'stopped', detail: '' })
    worker ??= start()
    const mine = worker
    await mine.ready
    return mine
  }

  /** Hands a bundle over once, and goes on when it has left: a small message would overtake it. */
  function load(to: Worker, connector: LoadedConnector, then: () => void): void {
    const { digest, memoryMb, responseFields } = connector
    const known = to.loaded.get(digest)
    if (known === null) return then()
    if (known) return void known.push(then)
    const waiters = [then]
    to.loaded.set(digest, waiters)
    const head = { connector: digest, memoryMb, responseFields }
    to.link.send('load', 0, head, Buffer.from(connector.code), () => {
      to.loaded.set(digest, null)
      for (const go of waiters) go()
    })
  }

  /** One entry of the call table: placed in an isolate, ended exactly once. */
  async function place<T>(
    connector: LoadedConnector,
    isolateKey: string,
    deadlineMs: number,
    signal: AbortSignal | null,
    serves: Pick<Pending, 'fetch' | 'log'>,
    send: (worker: Worker, call: number, isolate: number) => void,
  ): Promise<T> {
    lastUsedMs = now()
    const endMs = now() + deadlineMs
    return new Promise<T>((resolve, reject) => {
      let over = false
      let call: Pending | null = null
      const settle = (result: LaneReply | string[] | RuntimeError) => {
        if (over) return
        over = true
        waiting.delete(settle)
        clearTimeout(timer)
        signal?.removeEventListener('abort', hangUp)
        lastUsedMs = now()
        if (call) close(call)
        if (result instanceof RuntimeError) reject(result)
        else resolve(result as T)
      }
      /** Takes the call out of its isolate before its answer; nothing else of it may be late. */
      const leave = (error: RuntimeError) => {
        if (call) worker?.link.send('cancel', call.id, { isolate: call.isolate })
        settle(error)
      }
      const timer = setTimeout(() => {
        // One that ran too long takes no new calls, and shows that it still lives.
        if (call) {
          isolates.retire(call.isolate)
          watchdog.watch(call.isolate)
        }
        leave(new RuntimeError('deadline_passed', 'no answer before the deadline of the call'))
      }, deadlineMs)
      const hangUp = () => {
        const { isolate } = call ?? {}
        // Nobody waits any more, but code that spins must still end.
        if (isolate !== undefined) setTimeout(() => checkOn(isolate), endMs - now()).unref()
        leave(new RuntimeError('caller_gone', 'the caller hung up'))
      }
      signal?.addEventListener('abort', hangUp, { once: true })
      if (signal?.aborted) return hangUp()
      waiting.add(settle)
      obtain()
        .then((mine) => {
          if (over) return
          waiting.delete(settle)
          const { isolate, evicted } = isolates.take(connector.digest, isolateKey)
          for (const one of evicted) mine.link.send('dispose', 0, { isolate: one })
          const id = nextCall++
          mine.lastCall = id
          call = {
            id,
            isolate,
            connector,
            settle,
            ...serves,
            requests: new Map(),
            fetchErrors: new Map(),
          }
          pending.set(id, call)
          load(mine, connector, () => {
            if (!over) send(mine, id, isolate)
          })
        })
        .catch((error: unknown) => {
          const text = 'no worker process could be started'
          settle(
            error instanceof RuntimeError
              ? error
              : new RuntimeError('worker_died', text, {}, error),
          )
        })
    })
  }

  function close(call: Pending): void {
    pending.delete(call.id)
    for (const request of call.requests.values()) request.abort()
    if (isolates.release(call.isolate)) worker?.link.send('dispose', 0, { isolate: call.isolate })
  }

  function checkOn(isolate: number): void {
    if (worker && isolates.has(isolate)) watchdog.watch(isolate)
  }

  function failIsolate(isolate: number, error: RuntimeError): void {
    for (const call of [...pending.values()]) if (call.isolate === isolate) call.settle(error)
  }

  function receive(from: Worker, message: Message): void {
    if (worker !== from) return
    const { kind, head, body } = message
    if (kind === 'pong') return watchdog.answered(head.isolate)
    if (kind === 'disposed') {
      watchdog.answered(head.isolate)
      isolates.forget(head.isolate)
      return failIsolate(head.isolate, isolateError(head))
    }
    const call = pending.get(message.call)
    if (!call) {
      // A call that has ended may still be heard of; one that never was, may not.
      if (message.call > from.lastCall) from.link.kill('protocol', `call ${message.call} never was`)
      return
    }
    if (kind === 'reply' && call.fetch !== null) {
      if (head.ok && head.responseBytes > body.length)
        return from.link.kill('protocol', 'a reply shorter than it says')
      restartMs = 0
      const fetchError = 'fetch' in head ? (call.fetchErrors.get(head.fetch) ?? null) : null
      return call.settle({ reply: head, body, fetchError })
    }
    if (kind === 'described' && call.fetch === null)
      return call.settle(head.capabilities.map(String))
    if (kind === 'log') return call.log?.(head)
    if (kind === 'fetch_abort') return call.requests.get(head.request)?.abort()
    if (kind === 'fetch') return void forward(from, call, head, body)
    from.link.kill('protocol', `${kind} is not for a host`)
  }

  async function forward(from: Worker, call: Pending, head: Heads['fetch'], body: Buffer) {
    const abort = new AbortController()
    call.requests.set(head.request, abort)
    const answer = await performFetch(call.fetch, head, body, abort.signal)
    call.requests.delete(head.request)
    if (!pending.has(call.id) || worker !== from) return
    if (answer.error) call.fetchErrors.set(head.request, answer.error)
    const { reply, bytes } = answer
    from.link.send(
      'fetched',
      call.id,
      { isolate: call.isolate, request: head.request, reply },
      bytes,
    )
  }

  return {
    run: (call) =>
      place<LaneReply>(
        call.connector,
        call.isolateKey,
        call.deadlineMs,
        call.signal,
        call,
        (to, id, isolate) => {
          const { connector, capability, raw } = call
          to.link.send(
            'call',
            id,
            { connector: connector.digest, isolate, capability, raw },
            Buffer.from(call.callJson),
          )
        },
      ),
    describe: (connector, deadlineMs) =>
      place<string[]>(
        connector,
        'describe',
        deadlineMs,
        null,
        { fetch: null, log: null },
        (to, id, isolate) => {
          to.link.send('describe', id, { connector: connector.digest, isolate })
        },
      ),
    get pid() {
      return worker?.link.pid ?? null
    },
    get running() {
      return pending.size + waiting.size
    },
    get lastUsedMs() {
      return lastUsedMs
    },
    get isolates() {
      return worker === null ? 0 : isolates.size
    },
    kill(reason, detail) {
      if (reason === 'stopped') {
        closed = true
        for (const settle of [...waiting]) settle(workerError({ reason, detail }))
      }
      worker?.link.kill(reason, detail)
    },
  }
}
