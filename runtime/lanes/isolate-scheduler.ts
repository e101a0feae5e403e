/**
 * Where the calls of one worker sit: gives each an isolate, or a place in line for one, and sees to it
 * that an isolate which should be free or gone really is.
 */
import { isFairShare } from '../bounded/fair-share.ts'
import type { LaneCall } from '../protocol/lane-call.ts'
import { createIsolateTable, type IsolateLimits } from './isolate-table.ts'
import { createWaitQueue, type Ticket } from './wait-queue.ts'
import { createWatchdog } from './watchdog.ts'

export type SchedulerLimits = IsolateLimits & {
  /** Calls that may wait for an isolate of this worker. */
  maxWaiting: number
  /** Several connectors sit in this worker, and none of them may take all of it. */
  shared: boolean
  /** How long a guest may take to answer a ping after a deadline, in milliseconds. */
  pingMs: number
  /** The same for an isolate in which nothing runs: nobody waits for it, and the machine may be busy. */
  idlePingMs: number
  /** How long a worker may take to confirm that an isolate is gone, in milliseconds. */
  disposeMs: number
}

/** What the seats ask of the lane. */
type SchedulerSteps = {
  ping(isolate: number): void
  dispose(isolate: number): void
  /** The isolate does not answer: its calls are over. */
  fail(isolate: number): void
  /** An isolate does not end; see the watchdog. */
  kill(starved: boolean): void
  watchStarvation(): () => boolean
}

/** What an orphan runs; it ends early if the operator takes that away. */
type Orphan = Pick<LaneCall, 'version'> & { capability: LaneCall['capability'] | null }

export type IsolateScheduler = {
  /**
   * Seats a call, now or when there is room: first come, first served, but for connectors that have more
   * than their share.
   *
   * @throws queue_full
   */
  take(ticket: Ticket): void
  /** The call waits no more. */
  giveUp(ticket: Ticket): void
  /** A call has ended. */
  release(isolate: number): void
  /** A call has run past its deadline: its isolate takes no others, and shows that it still lives. */
  overrun(isolate: number): void
  /** Nobody waits for this call any more, but it keeps its seat until its answer, or for so long. */
  orphan(call: number, isolate: number, leftMs: number, of: Orphan): void
  /** Ends some orphans now. */
  lapse(isOver: (of: Orphan) => boolean): void
  /** An orphan has answered. */
  replied(call: number): void
  answered(isolate: number): void
  /** The worker says that an isolate is gone; where nobody had asked for that, it is made sure. */
  gone(isolate: number, asked: boolean): void
  /**
   * Looks at idle isolates: code of theirs may run on when no call is left to have a deadline, and many that are idle
   * for long hold memory for nobody.
   */
  tend(): void
  /** Whose isolates there are. */
  connectors(): string[]
  readonly size: number
  /** All that take room in the worker, those on their way out included. */
  readonly held: number
  /** Calls that wait for an isolate. */
  readonly waiting: number
  /** Abandoned calls, and isolates that were told to end but have not: their code may still run. */
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
        // A call that came after the ping has a deadline of its own.
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

  /** Whether its isolate would be one too many of its connector. */
  function isOverShare({ connector, isolateKey }: Ticket): boolean {
    if (!limits.shared || isolates.isBusy(connector, isolateKey)) return false
    const held = isolates.busy(connector)
    const free = limits.maxIsolates - isolates.busy() - 1
    // Who has none may have the last.
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
      // Whose tenant sits already takes nothing from those before.
      if (full && !isolates.knows(ticket.connector, ticket.isolateKey)) continue
      // One that has its share leaves the seat to those behind.
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
