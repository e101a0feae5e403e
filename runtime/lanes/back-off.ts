/**
 * Computes when a worker that keeps dying may be restarted. A successful call in between does not reset it;
 * only time without a death does.
 */
export type BackOffLimits = {
  /** First and maximum pause before a restart, in milliseconds. */
  restartMs: number
  maxRestartMs: number
  /** Time without a death after which earlier deaths are forgotten, in milliseconds. */
  calmMs: number
}

type BackOff = {
  died(): void
  /**
   * Records that no worker could be started. This is not caused by its connectors, and the pause does not
   * grow.
   */
  failed(): void
  /** Returns the pause before the next start, in milliseconds. */
  pauseMs(): number
  /** Forgets all deaths. */
  forget(): void
}

/** Deaths without a pause. A worker may be killed through no fault of its connector. */
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
