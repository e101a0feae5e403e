/**
 * Keeps one spare worker that has no lane yet. The first call of a lane then waits only for its connector: a
 * process takes 60 to 100 ms to start, and copying its page tables blocks the host.
 */
import type { Launcher, WorkerProcess } from './launch.ts'
import { readStat } from './process-stat.ts'

type Spare = {
  /** Returns the spare worker, or a new one. Throws what the launcher throws. */
  start(): WorkerProcess
  /** Keeps a spare worker from now on. */
  keep(): void
  /**
   * Starts the spare worker now, for a start that is about to come. The returned function stops it if none
   * came.
   */
  prepare(): () => void
  /** Stops the spare worker and keeps none any more. */
  stop(): void
}

type SparePace = {
  /** Delay of the first spare after `keep`, in milliseconds: the start of the host comes first. */
  firstMs: number
  /** Delay of the next spare after one was taken, in milliseconds: the call that took it comes first. */
  nextMs: number
}

const PACE: SparePace = { firstMs: 100, nextMs: 3000 }

/**
 * Creates the keeper. `onLost`: the spare ended by itself or was killed; `how` is a signal or an exit code.
 */
export function createSpare(
  launcher: Pick<Launcher, 'start'>,
  onLost: (how: string) => void,
  { firstMs, nextMs }: SparePace = PACE,
): Spare {
  let kept: WorkerProcess | null = null
  let keeps = false
  let isOver = false
  let timer: NodeJS.Timeout | undefined

  function refill(): void {
    if (kept !== null || isOver) return
    let made: WorkerProcess
    try {
      made = launcher.start()
    } catch {
      // The next start of a worker reports the same error to its caller.
      return
    }
    kept = made
    // A lost spare is not replaced until the next start. If workers cannot live, each would be replaced again
    // and again.
    const lose = (how: string) => {
      if (kept !== made) return
      drop()
      onLost(how)
    }
    made.process.on('error', ({ message }) => lose(message))
    made.process.on('exit', (code, signal) => lose(signal ?? `exit ${code}`))
    made.pipe.on('error', ({ message }) => lose(message))
  }

  function drop(): void {
    kept?.process.kill('SIGKILL')
    kept = null
  }

  function schedule(ms: number): void {
    clearTimeout(timer)
    timer = setTimeout(refill, ms)
    timer.unref()
  }

  return {
    start() {
      if (keeps) schedule(nextMs)
      if (kept !== null && !runs(kept)) drop()
      if (kept === null) return launcher.start()
      const made: WorkerProcess = { ...kept, hasStarted: true }
      kept = null
      return made
    },
    keep() {
      if (keeps || isOver) return
      keeps = true
      schedule(firstMs)
    },
    prepare() {
      refill()
      const made = kept
      return () => {
        if (!keeps && kept === made) drop()
      }
    },
    stop() {
      isOver = true
      clearTimeout(timer)
      drop()
    },
  }
}

/**
 * Reports whether a worker runs. A worker killed a moment ago has not reported it yet, and a stopped one
 * would not answer.
 */
function runs({ process: { pid, exitCode, signalCode } }: WorkerProcess): boolean {
  if (pid === undefined || exitCode !== null || signalCode !== null) return false
  const seen = readStat(pid)
  return process.platform !== 'linux' || (seen !== null && !seen.stopped && !seen.hasEnded)
}

/**
 * Does the work that precedes a description while its worker starts. Stops the worker if there will be no
 * description.
 */
export async function withWorker<T extends { ok: boolean }>(
  { prepare }: { prepare(): () => void },
  work: () => Promise<T>,
): Promise<T> {
  const letGo = prepare()
  let isWanted = false
  try {
    const made = await work()
    isWanted = made.ok
    return made
  } finally {
    if (!isWanted) letGo()
  }
}
