/** Deadlines of a lane's calls, with one timer for all, because hardly any ever pass. */

/** Handle to clear a deadline. */
type Deadline = { readonly endMs: number; readonly late: () => void }

type Deadlines = {
  /** Calls `late` once after so many milliseconds, at most one tick later, unless cleared. */
  set(inMs: number, late: () => void): Deadline
  clear(deadline: Deadline): void
}

/** Longest delay after a deadline, in milliseconds. */
export const TICK_MS = 10

/**
 * A monotonic clock: a correction of the system time must not end calls. `onTick` is called at each tick
 * while there are deadlines.
 */
export function createDeadlines(
  tickMs: number = TICK_MS,
  onTick: () => void = () => {},
): Deadlines {
  const open = new Set<Deadline>()
  let ticking: NodeJS.Timeout | null = null

  function tick(): void {
    onTick()
    const nowMs = performance.now()
    for (const deadline of open) {
      if (deadline.endMs > nowMs) continue
      open.delete(deadline)
      deadline.late()
    }
    if (open.size > 0 || ticking === null) return
    clearInterval(ticking)
    ticking = null
  }

  return {
    set(inMs, late) {
      const deadline = { endMs: performance.now() + inMs, late }
      open.add(deadline)
      ticking ??= setInterval(tick, tickMs)
      return deadline
    },
    clear: (deadline) => void open.delete(deadline),
  }
}
