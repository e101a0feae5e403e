/** How the heap of a server grows. */
import { setFlagsFromString } from 'node:v8'

/**
 * Left alone, V8 lets a quiet host's heap grow by 16 MB before it collects all of it, and counts buffers: 2 to 11 times in
 * five seconds of a single caller's lists, where it is never with twice of what lives (test/bench/RESULTS.md).
 */
const GROWING_PERCENT = 100

/**
 * Has all of the heap collected at twice of what lives. To be called once a server is ready: V8 rejects code that was
 * compiled under other flags, so with an option of the command line Node's own modules, and all others at their first
 * start, would be compiled anew.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`)
}
