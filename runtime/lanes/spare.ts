/**
 * Keeps one worker that no lane has yet. The first call of a lane then waits for its connector alone: a process takes 60 to
 * 100 ms to start, and the host is stopped while its page tables are copied for it.
 */
import type { Launcher, WorkerProcess } from './launch.ts'
import { readStat } from './process-stat.ts'

type Spare = {
  /** The worker that is kept, or a new one where there is none. Throws what the launcher throws. */
  start(): WorkerProcess
  /** Keeps one from now on. */
  keep(): void
  /** Starts the one that is kept at once, for a start that is about to come. The answer ends it where none came. */
  prepare(): () => void
  /** Ends the one that is kept, and keeps none any more. */
  stop(): void
}

type SparePace = {
  /** How long after `keep` one is started, in milliseconds: what a host begins with comes first. */
  firstMs: number
  /** How long after one was taken the next is started, in milliseconds: the call that took it comes first. */
  nextMs: number
}

const PACE: SparePace = { firstMs: 100, nextMs: 3000 }

/** `onLost`: the one that was kept has ended by itself, or was ended by others; `how` is a signal or an exit code. */
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
    // One that is lost has no successor until the next start: where workers cannot live, each would be followed by another.
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

/** One that was killed a moment ago has not told so yet; one that is stopped would answer nobody. */
function runs({ process: { pid, exitCode, signalCode } }: WorkerProcess): boolean {
  if (pid === undefined || exitCode !== null || signalCode !== null) return false
  const seen = readStat(pid)
  return process.platform !== 'linux' || (seen !== null && !seen.stopped && !seen.hasEnded)
}

/** Does what comes before a description while its worker starts, and ends that worker where there will be none. */
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
