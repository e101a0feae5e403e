/**
 * Detects that the main thread of a worker no longer answers. Guests run on it in short slices, but native code of the
 * engine cannot be interrupted (sandbox.md section 3). A silent worker is pinged; if it computes and does not answer,
 * it is stalled.
 */
export type StallWatch = {
  /** The worker has sent a message. */
  heard(): void
  /** The worker is processing this many characters, during which it reads nothing; 0 when done. */
  working(chars: number): void
  /** Called every 10 ms while calls are in the worker. */
  look(): void
}

type StallSteps = {
  /** Pings the main thread. */
  ask(): void
  /** The main thread computes and does not answer. */
  stalled(): void
  /** Starts measuring the main thread; the result says whether it has used enough processor time since to answer. */
  watchMainThread(): () => boolean
}

/** Silence before a ping, and the time to answer it, in checks of 10 ms. */
const QUIET_LOOKS = 10
const ANSWER_LOOKS = 20

/**
 * Additional checks per million characters being processed, and the maximum number of characters that count.
 */
const LOOKS_PER_MILLION = 30
const MAX_WORKED_CHARS = 34_000_000

/** Counts checks instead of time: if the host itself was blocked, an answer may already be in the pipe. */
export function createStallWatch(steps: StallSteps): StallWatch {
  let silentLooks = 0
  let extraLooks = 0
  let hasRun: (() => boolean) | null = null

  const heard = () => {
    silentLooks = 0
    hasRun = null
  }

  return {
    heard,
    working(chars) {
      heard()
      const millions = Math.min(chars, MAX_WORKED_CHARS) / 1_000_000
      extraLooks = Math.ceil(millions * LOOKS_PER_MILLION)
    },
    look() {
      silentLooks += 1
      if (hasRun === null) {
        if (silentLooks < QUIET_LOOKS + extraLooks) return
        silentLooks = 0
        hasRun = steps.watchMainThread()
        steps.ask()
        return
      }
      if (silentLooks < ANSWER_LOOKS || silentLooks % ANSWER_LOOKS !== 0) return
      // A waiting thread is not stuck in guest code, and another worker would not be faster.
      if (hasRun()) steps.stalled()
    },
  }
}
