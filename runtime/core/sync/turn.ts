/** Turns of a host at a run: a minute if other runs wait, otherwise longer. */

/** Maximum duration of a host's work on one run, in milliseconds. */
const MAX_TURN_MS = 900_000

type TurnClock = {
  /** Reports whether the turn is over, so that the host checks for other runs at the next checkpoint. */
  over(): boolean
  /** Extends the turn if no run waits. Returns whether it may continue. */
  longer(): boolean
}

/**
 * Starts a turn of `turnMs` milliseconds by the host's monotonic clock: setting the time back does not extend
 * it.
 */
export function beginTurn(turnMs: number): TurnClock {
  const beganMs = performance.now()
  let endMs = beganMs + turnMs
  const over = () => performance.now() > endMs
  return {
    over,
    longer() {
      endMs = Math.min(performance.now() + turnMs, beganMs + MAX_TURN_MS)
      return !over()
    },
  }
}
