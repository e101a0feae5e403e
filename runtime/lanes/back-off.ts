/**
 * When a worker that keeps dying may be started again. An answer in between proves nothing: only time
 * without a death does.
 */
export type BackOffLimits = {
  /** First and longest pause before a worker that keeps dying is started again, in milliseconds. */
  restartMs: number
  maxRestartMs: number
  /** Time without a death after which the earlier ones are forgotten, in milliseconds. */
  calmMs: number
}

type BackOff = {
  died(): void
  /** None could be started. That has nothing to do with what runs in it, and the pause never grows. */
  failed(): void
  /** How long the next start has to wait, in milliseconds. */
  pauseMs(): number
  /** As if it had never died. */
  forget(): void
}

/** Deaths that cost no pause: a worker may be killed for what is not its connector's fault. */
const FREE_DEATHS = 2

export function createBackOff(limits: BackOffLimits, now: () => number): BackOff {
  let deaths = 0
  let lastDeathMs = 0
  let startableMs = 0
  return {
    died() {
      if (now() - lastDeathMs >= limits.calmMs) deaths = 0
      deaths += 1
      lastDeathMs = now()
      if (deaths <= FREE_DEATHS) return
      const pauseMs = limits.restartMs * 2 ** (deaths - FREE_DEATHS - 1)
      startableMs = now() + Math.min(limits.maxRestartMs, pauseMs)
    },
    failed() {
      startableMs = Math.max(startableMs, now() + limits.restartMs)
    },
    pauseMs: () => Math.max(0, startableMs - now()),
    forget() {
      deaths = 0
      startableMs = 0
    },
  }
}
