/** Growth of a server's heap. */
import { setFlagsFromString } from 'node:v8'

/**
 * By default, V8 lets the heap of a quiet host grow by only 16 MB, including buffers, before it collects all
 * of it: 2 to 11 times in five seconds of a single caller's lists. With growth to twice the live size it
 * never does so in that time (test/bench/RESULTS.md).
 */
const GROWING_PERCENT = 100

/**
 * Makes V8 collect the whole heap when it has grown to twice the size in use. Call it once a server is ready:
 * V8 rejects code that was compiled under other flags, so a command-line option would make it compile Node's
 * own modules again at each start.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`)
}
