/** The deadlines of a lane's calls, of which hardly any ever pass: one timer for all of them. */

/** One deadline, to be cleared by. */
export type Deadline = { readonly endMs: number; readonly late: () => void }

export type Deadlines = {
  /** Calls `late` once, at most a tick after so many milliseconds, unless it is cleared before. */
  set(inMs: number, late: () => void): Deadline
  clear(deadline: Deadline): void
}

/** How much later than at its end a deadline may be noticed, in milliseconds. */
const TICK_MS = 10

/** The clock is one that is never set: a call must not end because the time of day is corrected. */
export function createDeadlines(tickMs: number = TICK_MS): Deadlines {
  const open = new Set<Deadline>()
  let ticking: NodeJS.Timeout | null = null

  function tick(): void {
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
