/** One worker of a lane: its link, its readiness, its loaded bundles and its isolates. */
import type { Message } from '../protocol/frames.ts'
import type { LoadedConnector } from '../protocol/loaded.ts'
import { MAIN_THREAD } from '../protocol/worker-heads.ts'
import { createDataRoom } from './data-limit.ts'
import { createHandOver, type HandOver } from './hand-over.ts'
import {
  createIsolateScheduler,
  type IsolateScheduler,
  type SchedulerLimits,
} from './isolate-scheduler.ts'
import { unreadyError } from './lane-errors.ts'
import type { Launcher } from './launch.ts'
import { readStat, watchMainThread, watchStarvation } from './process-stat.ts'
import { createStallWatch, type StallWatch } from './stall-watch.ts'
import { startWorker, type WorkerEnd, type WorkerLink } from './worker-link.ts'

export type LaneWorker = {
  readonly link: WorkerLink
  readonly seats: IsolateScheduler
  readonly stall: StallWatch
  readonly handOver: HandOver
  /** Rejects if the worker ends before it is ready. */
  readonly ready: Promise<void>
  readonly isReady: boolean
  /**
   * Raises the memory limit for the current isolates, sends a bundle (once, and again if its grants changed),
   * and continues when it has left: a small message would overtake it.
   */
  load(connector: LoadedConnector, then: () => void): void
  /** Id of the last call that was sent to it. */
  lastCall: number
}

type LaneWorkerEvents = {
  onMessage(from: LaneWorker, message: Message): void
  onEnd(from: LaneWorker, end: WorkerEnd): void
  /** An isolate does not answer: fails its calls. */
  onSilent(isolate: number): void
}

export type LaneWorkerLimits = SchedulerLimits & {
  /** Time for a worker to start, in milliseconds. */
  startMs: number
}

/** Starts a worker. */
export function startLaneWorker(
  launcher: Launcher,
  events: LaneWorkerEvents,
  limits: LaneWorkerLimits,
  now: () => number,
): LaneWorker {
  const ready = Promise.withResolvers<void>()
  let isReady = false
  // Calls await this. There may be none yet when it fails.
  ready.promise.catch(() => {})
  const link = startWorker(
    launcher,
    (message) => {
      stall.heard()
      if (message.kind === 'taken') return taken(message.head.ticket)
      if (message.kind !== 'ready') return events.onMessage(made, message)
      isReady = true
      launcher.onReady?.(link.pid)
      ready.resolve()
    },
    (end) => {
      clearTimeout(patience)
      room.stop()
      ready.reject(unreadyError(end))
      events.onEnd(made, end)
    },
  )
  const room = createDataRoom(link.pid, launcher.setDataLimit)
  const load = createLoader(link)
  const seats = createIsolateScheduler(
    {
      ping: (isolate) => link.send('ping', 0, { isolate }),
      dispose: (isolate) => link.send('dispose', 0, { isolate }),
      fail: events.onSilent,
      kill(starved) {
        // A worker that was stopped (SIGSTOP), or got no CPU time, could not end it.
        const { stopped = false } = readStat(link.pid) ?? {}
        link.kill(stopped || starved ? 'killed' : 'crashed', 'an isolate did not end')
      },
      watchStarvation: () => watchStarvation(link.pid),
    },
    limits,
    now,
  )
  const stall = createStallWatch({
    ask: () => link.send('ping', 0, { isolate: MAIN_THREAD }),
    stalled() {
      // A worker stopped by a signal is continued by the user who stopped it, or replaced by the lane.
      if (readStat(link.pid)?.stopped) stall.heard()
      else link.kill('stalled', 'its main thread did not answer')
    },
    watchMainThread: () => watchMainThread(link.pid),
  })
  const handOver = createHandOver()
  const taken = (ticket: number) => {
    if (!handOver.left(ticket)) link.kill('protocol', `a body with the ticket ${ticket} never was`)
  }
  const made: LaneWorker = {
    link,
    seats,
    stall,
    handOver,
    ready: ready.promise,
    get isReady() {
      return isReady
    },
    load: (connector, then) => room.forIsolates(seats.held, () => load(connector, then)),
    lastCall: 0,
  }
  const patience = setTimeout(() => link.kill('crashed', 'did not start in time'), limits.startMs)
  void ready.promise.then(
    () => clearTimeout(patience),
    () => {},
  )
  return made
}

/** State of a connector in the worker. `waiters` wait until the bundle has left; null once it has. */
type Sent = Pick<LoadedConnector, 'memoryMb' | 'responseFields'> & {
  waiters: (() => void)[] | null
}

function createLoader(link: WorkerLink): LaneWorker['load'] {
  /** By digest. */
  const loaded = new Map<string, Sent>()
  return (connector, then) => {
    const { digest, memoryMb, responseFields } = connector
    const known = loaded.get(digest)
    // The same package with other grants is sent again.
    if (known?.memoryMb === memoryMb && known.responseFields === responseFields) {
      if (known.waiters === null) return then()
      return void known.waiters.push(then)
    }
    const waiters = [then]
    const sent: Sent = { memoryMb, responseFields, waiters }
    loaded.set(digest, sent)
    const head = { connector: digest, memoryMb, responseFields }
    link.send('load', 0, head, Buffer.from(connector.code), () => {
      sent.waiters = null
      for (const go of waiters) go()
    })
  }
}
