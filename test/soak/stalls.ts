/** Measures stalls of this process itself, by which its other measurements are too long. */

const EVERY_MS = 10
/** Delay of a timer from which it counts as a stall, in milliseconds. */
const USUAL_MS = 5
/** How long stalls are stored, in milliseconds: no call lasts longer. */
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
      // The current stall: its timer has not fired yet.
      const running = Math.max(0, nowMs - lastMs - EVERY_MS)
      return stalls
        .filter(({ atMs }) => atMs >= fromMs)
        .reduce((sum, { lostMs }) => sum + lostMs, running)
    },
    stop: () => clearInterval(timer),
  }
}
