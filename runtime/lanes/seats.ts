/**
 * Where the calls of one worker sit: gives each an isolate, or a place in line for one, and sees to it
 * that an isolate which should be free or gone really is.
 */
import { RuntimeError } from '../contract/errors.ts'
import { createIsolateTable, type IsolateLimits } from './isolate-table.ts'
import { createWatchdog } from './watchdog.ts'

export type SeatLimits = IsolateLimits & {
  /** Calls that may wait for an isolate of this worker. */
  maxWaiting: number
  /** How long a guest may take to answer a ping after a deadline, in milliseconds. */
  pingMs: number
  /** The same for an isolate in which nothing runs: nobody waits for it, and the machine may be busy. */
  idlePingMs: number
  /** How long a worker may take to confirm that an isolate is gone, in milliseconds. */
  disposeMs: number
}

/** One call that wants an isolate. */
export type Ticket = {
  /** Digest of the connector. */
  connector: string
  isolateKey: string
  enter(isolate: number): void
  /** The worker ended while the call waited. */
  again(): void
}

/** What the seats ask of the lane. */
export type SeatSteps = {
  ping(isolate: number): void
  dispose(isolate: number): void
  /** The isolate does not answer: its calls are over. */
  fail(isolate: number): void
  kill(): void
}

export type Seats = {
  /**
   * Seats a call, now or when there is room: first come, first served.
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
  orphan(call: number, isolate: number, leftMs: number): void
  /** An orphan has answered. */
  replied(call: number): void
  answered(isolate: number): void
  /** The worker says that an isolate is gone; where nobody had asked for that, it is made sure. */
  gone(isolate: number, asked: boolean): void
  /** Looks at idle isolates: code of theirs may run on when no call is left to have a deadline. */
  tend(): void
  /** Whose isolates there are. */
  connectors(): string[]
  readonly size: number
  /** The worker has ended. */
  stop(): void
}

export function createSeats(steps: SeatSteps, limits: SeatLimits, now: () => number): Seats {
  const isolates = createIsolateTable(limits, now)
  const line = new Set<Ticket>()
  const orphans = new Map<number, { isolate: number; timer: NodeJS.Timeout }>()
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
    },
    limits.disposeMs,
  )

  function dispose(isolate: number): void {
    if (stopped) return
    watchdog.disposing(isolate)
    steps.dispose(isolate)
  }

  function seat(ticket: Ticket): boolean {
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
    for (const ticket of [...line]) {
      // Whose tenant sits already takes nothing from those before.
      if (full && !isolates.knows(ticket.connector, ticket.isolateKey)) continue
      if (line.has(ticket) && !seat(ticket)) full = true
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
      const mayPass = line.size === 0 || isolates.knows(ticket.connector, ticket.isolateKey)
      if (mayPass && seat(ticket)) return
      if (line.size >= limits.maxWaiting) {
        throw new RuntimeError(
          'queue_full',
          `${limits.maxWaiting} calls are waiting for a sandbox; send fewer at once`,
        )
      }
      line.add(ticket)
    },
    giveUp: (ticket) => void line.delete(ticket),
    release,
    overrun,
    orphan(call, isolate, leftMs) {
      const lapse = () => {
        orphans.delete(call)
        overrun(isolate)
        release(isolate)
      }
      orphans.set(call, { isolate, timer: setTimeout(lapse, leftMs).unref() })
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
    },
    connectors: isolates.connectors,
    get size() {
      return isolates.size
    },
    stop() {
      stopped = true
      watchdog.stop()
      for (const { timer } of orphans.values()) clearTimeout(timer)
      orphans.clear()
      const waiting = [...line]
      line.clear()
      for (const ticket of waiting) ticket.again()
    },
  }
}
