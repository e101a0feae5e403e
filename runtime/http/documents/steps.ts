/** Large documents are made in steps, so that a host that makes one answers others between them. */
import { setImmediate as others } from 'node:timers/promises'

/** Work that may pause wherever it yields; answers its result in the end. */
export type Steps<T> = Generator<void, T>

/** All at once: for scripts and tests. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** How long others wait at most for the next pause, beside the longest step, in milliseconds. */
const SLICE_MS = 5

/** The same, letting others have their turn. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  let begunMs = performance.now()
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() - begunMs < SLICE_MS) continue
    await others()
    begunMs = performance.now()
  }
}
