/** How the heap of a server grows. */
import { setFlagsFromString } from 'node:v8'

/**
 * Left alone, V8 lets a quiet host's heap grow by 16 MB before it collects all of it, and counts buffers: 2 to 11 times in
 * five seconds of a single caller's lists, where it is never with twice of what lives (test/bench/RESULTS.md).
 */
const GROWING_PERCENT = 100

/**
 * Makes V8 collect the whole heap when it has grown to twice the size of what is in use. Call it once a server is ready:
 * V8 rejects code that was compiled under other flags, so an option of the command line would make it compile Node's own
 * modules again at each start.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`)
}
