/**
 * Runs long work on the main thread in slices. The whole host runs one slice per turn of the event loop:
 * fifty long jobs delay a small request by one slice, not by fifty.
 */

/** Work that can pause at each yield. It returns its result at the end. */
export type Steps<T> = Generator<void, T>

/** Length of a slice in milliseconds, which is the longest delay of a request that arrives during one. */
const SLICE_MS = 2

/** Jobs waiting for a turn, in order. */
const waiting: (() => void)[] = []
/** Time that jobs have used of this turn, in milliseconds. */
let spentMs = 0

function spend(ms: number): void {
  if (spentMs === 0)
    setImmediate(() => {
      spentMs = 0
    })
  spentMs += ms
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(takeTurn)
  })
}

function takeTurn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(takeTurn)
}

/**
 * Runs work to its end in slices. Short work ends immediately, without a turn of the event loop.
 *
 * @param work yields at each point where it can be interrupted, at least once per millisecond of work
 * @returns the result of the work
 * @throws what the work throws
 */
export async function inSlices<T>(work: Iterator<void, T>): Promise<T> {
  let leftMs = SLICE_MS - spentMs
  for (;;) {
    if (leftMs <= 0) {
      await nextTurn()
      leftMs = SLICE_MS
    }
    const startMs = performance.now()
    let step: IteratorResult<void, T>
    try {
      do step = work.next()
      while (!step.done && performance.now() - startMs < leftMs)
    } finally {
      spend(performance.now() - startMs)
    }
    if (step.done) return step.value
    leftMs = 0
  }
}

/** Runs the same work without a pause, if the caller knows that it is short. */
export function atOnce<T>(work: Iterator<void, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
