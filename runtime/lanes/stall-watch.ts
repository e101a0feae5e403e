/**
 * Sees that the main thread of a worker does not answer any more: guests run on it in short slices, but
 * native code of the engine ends in no slice (sandbox.md section 3). After a silence the worker is asked;
 * where it says nothing either, though it computes, it has to go.
 */
export type StallWatch = {
  /** The worker has said something. */
  heard(): void
  /** The worker judges a reply of so many characters, and hears nothing meanwhile. */
  judging(chars: number): void
  /** To be called every 10 ms while calls are in the worker. */
  look(): void
}

export type StallSteps = {
  /** Asks the main thread for a sign of life. */
  ask(): void
  /** It does not answer. */
  stalled(): void
  /** Begins to look at the main thread; the answer says whether it has computed since and could have answered. */
  watchMainThread(): () => boolean
}

/** Silence after which a worker is asked, and how long its answer may take, in looks of 10 ms. */
const QUIET_LOOKS = 10
const ANSWER_LOOKS = 20

/** Looks that a worker gets for each million characters that it judges, and for how many at most. */
const LOOKS_PER_MILLION = 30
const MAX_JUDGED_CHARS = 34_000_000

/**
 * Counts looks and not time: where the host itself was held up, an answer may lie in the pipe that it
 * reads before its next look.
 */
export function createStallWatch(steps: StallSteps): StallWatch {
  let silentLooks = 0
  let extraLooks = 0
  let hasRun: (() => boolean) | null = null

  const heard = () => {
    silentLooks = 0
    extraLooks = 0
    hasRun = null
  }

  return {
    heard,
    judging(chars) {
      heard()
      const millions = Math.min(chars, MAX_JUDGED_CHARS) / 1_000_000
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
      // One that waits is not stuck in a guest's code: another worker would be no sooner.
      if (hasRun()) steps.stalled()
    },
  }
}
