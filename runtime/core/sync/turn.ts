/** How long a host goes on with one run: a minute where others wait, else longer. */

/** How long a host goes on with one run at most, in milliseconds. */
const LONGEST_TURN_MS = 900_000

type TurnClock = {
  /** Whether others may be asked for: at the next checkpoint. */
  over(): boolean
  /** Nobody waits: begins another turn; answers whether that is allowed. */
  longer(): boolean
}

/**
 * Begins a turn of so many milliseconds, by the host's steady clock: setting the time back makes no turn
 * longer.
 */
export function beginTurn(turnMs: number): TurnClock {
  const beganMs = performance.now()
  let endMs = beganMs + turnMs
  const over = () => performance.now() > endMs
  return {
    over,
    longer() {
      endMs = Math.min(performance.now() + turnMs, beganMs + LONGEST_TURN_MS)
      return !over()
    },
  }
}
