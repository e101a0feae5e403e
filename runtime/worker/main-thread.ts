/**
 * Runs the worker's own long work on its main thread: making isolates, copying results of threads, checking
 * large replies. The work is spread over turns of the event loop, so that the pipe is read and pings are
 * answered in between.
 */

/** Work of one turn, in milliseconds, after which the rest waits for the next turn. */
const PORTION_MS = 10

/** Waiting work, oldest first. Bounded by what the guests of this worker may have under way. */
const waiting = new Set<() => void>()
let spentMs = 0
let turnEnds = false

/**
 * Runs work now or in a later turn, in the order of the calls. Rejects with the error that the work throws.
 */
export function onMainThread<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      try {
        resolve(work())
      } catch (error) {
        reject(error)
      }
    }
    if (waiting.size === 0 && spentMs < PORTION_MS) perform(settle)
    else waiting.add(settle)
  })
}

function perform(work: () => void): void {
  const begunMs = performance.now()
  work()
  spentMs += performance.now() - begunMs
  if (turnEnds) return
  turnEnds = true
  // Nested: immediate callbacks of this turn run before the pipe is read again.
  setImmediate(setImmediate, nextTurn)
}

function nextTurn(): void {
  turnEnds = false
  spentMs = 0
  for (const work of waiting) {
    if (spentMs >= PORTION_MS) return
    waiting.delete(work)
    perform(work)
  }
}
