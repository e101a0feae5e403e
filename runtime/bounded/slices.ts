/**
 * Long work of the host's main thread, done in slices. Over the whole host one slice runs in a turn of the
 * event loop: fifty long works at once delay a small request by one slice, not by fifty.
 */

/** Work that may pause wherever it yields; answers its result in the end. */
export type Steps<T> = Generator<void, T>

/** Length of a slice, in milliseconds: what a request that arrives meanwhile waits at most. */
const SLICE_MS = 2

/** Works that wait for a turn of their own, in order. */
const waiting: (() => void)[] = []
/** What works have taken of this turn, in milliseconds. */
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
 * Runs work to its end in slices. What is short ends at once, without a turn of the event loop.
 *
 * @param work Yields wherever it can be interrupted, at least once in a millisecond of work.
 * @returns what the work returns
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

/** Runs the same work without a pause, where the caller knows that it is short. */
export function atOnce<T>(work: Iterator<void, T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
