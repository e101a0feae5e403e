/** Measures durations that are promised, on a machine that also runs other programs. */

/** Number of attempts, because other programs may have had the processor. */
const TRIES = 5

/**
 * Runs `once` until it has taken less than `boundMs` milliseconds, a few times at most. Returns the last
 * duration. Code that is really too slow is so every time. `once` may itself return the number of
 * milliseconds that count.
 */
export async function bestMs(boundMs: number, once: () => unknown): Promise<number> {
  let tookMs = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < TRIES && tookMs >= boundMs; tries += 1) {
    const begunMs = performance.now()
    const counted = await once()
    tookMs = typeof counted === 'number' ? counted : performance.now() - begunMs
  }
  return tookMs
}
