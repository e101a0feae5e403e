/**
 * Keeps one worker that no lane has yet. The first call of a lane then waits for its connector alone: a process takes 60 to
 * 100 ms to start, and the host is stopped while its page tables are copied for it.
 */
import type { Launcher, WorkerProcess } from './launch.ts'

type Spare = {
  /** The worker that is kept, or a new one where there is none. Throws what the launcher throws. */
  start(): WorkerProcess
  /** Keeps one from now on. */
  keep(): void
  /** Starts the one that is kept at once, for a start that is about to come; it ends where none comes. */
  prepare(): void
  /** Ends the one that is kept, and keeps none any more. */
  stop(): void
}

type SparePace = {
  /** How long after `keep` one is started, in milliseconds: what a host begins with comes first. */
  firstMs: number
  /** How long after one was taken the next is started, in milliseconds: the call that took it comes first. */
  nextMs: number
  /** How long one that was prepared waits to be taken where none is kept, in milliseconds. */
  waitMs: number
}

const PACE: SparePace = { firstMs: 100, nextMs: 250, waitMs: 10_000 }

export function createSpare(
  launcher: Pick<Launcher, 'start'>,
  { firstMs, nextMs, waitMs }: SparePace = PACE,
): Spare {
  let kept: WorkerProcess | null = null
  let keeps = false
  let timer: NodeJS.Timeout | undefined

  function refill(): void {
    if (kept !== null) return
    let made: WorkerProcess
    try {
      made = launcher.start()
    } catch {
      // The system has no room for one: whoever needs one next is told so.
      return
    }
    kept = made
    // One that dies has no successor until the next start: where workers cannot live, each would be followed by another.
    const gone = () => {
      if (kept === made) kept = null
    }
    made.process.on('error', gone)
    made.process.on('exit', gone)
    made.pipe.on('error', gone)
  }

  function drop(): void {
    kept?.process.kill('SIGKILL')
    kept = null
  }

  function schedule(what: () => void, ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(what, ms)
    timer.unref()
  }

  return {
    start() {
      const made = kept
      kept = null
      if (keeps) schedule(refill, nextMs)
      return made !== null && isAlive(made) ? made : launcher.start()
    },
    keep() {
      if (keeps) return
      keeps = true
      schedule(refill, firstMs)
    },
    prepare() {
      refill()
      if (!keeps) schedule(drop, waitMs)
    },
    stop() {
      keeps = false
      clearTimeout(timer)
      drop()
    },
  }
}

const isAlive = ({ process: { pid, exitCode, signalCode } }: WorkerProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null
