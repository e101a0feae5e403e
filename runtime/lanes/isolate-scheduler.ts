/**
 * Assigns the calls of one worker to isolates or to its wait queue, and makes sure that isolates which should
 * be free or removed really are.
 */
import { isFairShare } from '../bounded/fair-share.ts'
import type { LaneCall } from '../protocol/lane-call.ts'
import { createIsolateTable, type IsolateLimits } from './isolate-table.ts'
import { createWaitQueue, type Ticket } from './wait-queue.ts'
import { createWatchdog } from './watchdog.ts'

export type SchedulerLimits = IsolateLimits & {
  /** Maximum number of calls waiting for an isolate of this worker. */
  maxWaiting: number
  /** Several connectors share this worker, and none of them may take all of it. */
  shared: boolean
  /** Time to answer a ping after a deadline, in milliseconds. */
  pingMs: number
  /** The same for an idle isolate. It may be longer: no call waits, and the machine may be busy. */
  idlePingMs: number
  /** Time for a worker to confirm that an isolate was disposed of, in milliseconds. */
  disposeMs: number
}

/** Operations of the lane that the scheduler uses. */
type SchedulerSteps = {
  ping(isolate: number): void
  dispose(isolate: number): void
  /** The isolate does not answer: fails its calls. */
  fail(isolate: number): void
  /** Kills the worker because an isolate does not end; see watchdog.ts. */
  kill(starved: boolean): void
  watchStarvation(): () => boolean
}

/** The code that an orphaned call runs. It is ended early if the operator revokes it. */
type Orphan = Pick<LaneCall, 'version'> & { capability: LaneCall['capability'] | null }

export type IsolateScheduler = {
  /**
   * Assigns a call to an isolate, now or when there is room. First come, first served, except for connectors
   * that exceed their share.
   *
   * @throws queue_full
   */
  take(ticket: Ticket): void
  /** Removes a waiting call. */
  giveUp(ticket: Ticket): void
  /** A call has ended. */
  release(isolate: number): void
  /** A call has passed its deadline. Its isolate takes no further calls and is pinged. */
  overrun(isolate: number): void
  /** The caller has hung up, but the call keeps its isolate until it answers, or for `leftMs`. */
  orphan(call: number, isolate: number, leftMs: number, of: Orphan): void
  /** Ends the orphaned calls for which `isOver` is true. */
  lapse(isOver: (of: Orphan) => boolean): void
  /** An orphaned call has answered. */
  replied(call: number): void
  answered(isolate: number): void
  /** The worker reports that an isolate has ended. If this was not requested, the end is verified. */
  gone(isolate: number, asked: boolean): void
  /**
   * Checks idle isolates: their code may still run although no call has a deadline, and idle isolates use
   * memory.
   */
  tend(): void
  /** Digests of the connectors that have isolates. */
  connectors(): string[]
  readonly size: number
  /** Isolates that use memory of the worker, including those being disposed of. */
  readonly held: number
  /** Calls waiting for an isolate. */
  readonly waiting: number
  /** Orphaned calls, and isolates whose disposal is not confirmed. Their code may still run. */
  readonly unheard: number
  /** The worker has ended. */
  stop(): void
}

export function createIsolateScheduler(
  steps: SchedulerSteps,
  limits: SchedulerLimits,
  now: () => number,
): IsolateScheduler {
  const isolates = createIsolateTable(limits, now)
  const line = createWaitQueue(limits.maxWaiting)
  const orphans = new Map<
    number,
    { isolate: number; of: Orphan; lapse(): void; timer: NodeJS.Timeout }
  >()
  let stopped = false

  const watchdog = createWatchdog(
    {
      ping: steps.ping,
      silent(isolate) {
        // A call that started after the ping has a deadline of its own.
        if (isolates.serves(isolate)) return
        isolates.discard(isolate)
        steps.fail(isolate)
        dispose(isolate)
      },
      kill: steps.kill,
      watchStarvation: steps.watchStarvation,
    },
    limits.disposeMs,
  )

  function dispose(isolate: number): void {
    if (stopped) return
    watchdog.disposing(isolate)
    steps.dispose(isolate)
  }

  /** Reports whether its isolate would exceed the connector's share. */
  function isOverShare({ connector, isolateKey }: Ticket): boolean {
    if (!limits.shared || isolates.isBusy(connector, isolateKey)) return false
    const held = isolates.busy(connector)
    const free = limits.maxIsolates - isolates.busy() - 1
    // A connector without an isolate may have the last one.
    return held > 0 && !isFairShare(held + 1, free)
  }

  function seat(ticket: Ticket): boolean {
    if (isOverShare(ticket)) return false
    const { isolate, evicted } = isolates.take(ticket.connector, ticket.isolateKey)
    for (const one of evicted) dispose(one)
    if (isolate === null) return false
    line.delete(ticket)
    ticket.enter(isolate)
    return true
  }

  function callNext(): void {
    if (stopped || line.size === 0) return
    let full = false
    for (const ticket of line.tickets()) {
      // A tenant that already has an isolate takes no room from the calls before it.
      if (full && !isolates.knows(ticket.connector, ticket.isolateKey)) continue
      // A connector at its share leaves the place to later calls.
      if (!line.has(ticket) || isOverShare(ticket)) continue
      full = !seat(ticket) || full
    }
  }

  function release(isolate: number): void {
    if (isolates.release(isolate)) dispose(isolate)
    callNext()
  }

  function overrun(isolate: number): void {
    if (!isolates.has(isolate)) return
    if (isolates.retire(isolate)) dispose(isolate)
    else watchdog.watch(isolate, limits.pingMs)
  }

  return {
    take(ticket) {
      const { connector, isolateKey } = ticket
      const mayPass = !line.holds(connector) || isolates.knows(connector, isolateKey)
      if (mayPass && seat(ticket)) return
      line.add(ticket)
    },
    giveUp: line.delete,
    release,
    overrun,
    orphan(call, isolate, leftMs, of) {
      const lapse = () => {
        orphans.delete(call)
        overrun(isolate)
        release(isolate)
      }
      orphans.set(call, { isolate, of, lapse, timer: setTimeout(lapse, leftMs).unref() })
    },
    lapse(isOver) {
      for (const { of, lapse, timer } of [...orphans.values()]) {
        if (!isOver(of)) continue
        clearTimeout(timer)
        lapse()
      }
    },
    replied(call) {
      const orphan = orphans.get(call)
      if (!orphan) return
      clearTimeout(orphan.timer)
      orphans.delete(call)
      release(orphan.isolate)
    },
    answered: watchdog.answered,
    gone(isolate, asked) {
      if (!asked && isolates.discard(isolate)) return dispose(isolate)
      watchdog.gone(isolate)
      isolates.forget(isolate)
      callNext()
    },
    tend() {
      for (const isolate of isolates.toCheck()) watchdog.watch(isolate, limits.idlePingMs)
      for (const isolate of isolates.cool()) dispose(isolate)
    },
    connectors: isolates.connectors,
    get size() {
      return isolates.size
    },
    get held() {
      return isolates.held
    },
    get waiting() {
      return line.size
    },
    get unheard() {
      return orphans.size + isolates.held - isolates.size
    },
    stop() {
      stopped = true
      watchdog.stop()
      for (const { timer } of orphans.values()) clearTimeout(timer)
      orphans.clear()
      for (const ticket of line.tickets()) {
        line.delete(ticket)
        ticket.again()
      }
    },
  }
}
