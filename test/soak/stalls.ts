/** How long this process itself was held up: what it measured then is late by as much. */

const EVERY_MS = 10
/** A timer that is so late is none of this machine's usual ones, in milliseconds. */
const USUAL_MS = 5
/** Stalls of longer ago are part of no call any more, in milliseconds. */
const KEPT_MS = 120_000

export type Stalls = {
  /** The sum of all stalls since a moment of `performance.now()`, in milliseconds. */
  since(atMs: number): number
  stop(): void
}

export function watchStalls(): Stalls {
  let stalls: { atMs: number; lostMs: number }[] = []
  let lastMs = performance.now()
  const timer = setInterval(() => {
    const nowMs = performance.now()
    const lostMs = nowMs - lastMs - EVERY_MS
    lastMs = nowMs
    if (lostMs <= USUAL_MS) return
    stalls.push({ atMs: nowMs, lostMs })
    if ((stalls[0]?.atMs ?? nowMs) < nowMs - 2 * KEPT_MS)
      stalls = stalls.filter((one) => one.atMs >= nowMs - KEPT_MS)
  }, EVERY_MS)
  return {
    since(fromMs) {
      const nowMs = performance.now()
      // The one that is under way: its timer has not fired yet.
      const running = Math.max(0, nowMs - lastMs - EVERY_MS)
      return stalls
        .filter(({ atMs }) => atMs >= fromMs)
        .reduce((sum, { lostMs }) => sum + lostMs, running)
    },
    stop: () => clearInterval(timer),
  }
}
