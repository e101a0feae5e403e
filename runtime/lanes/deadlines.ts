/** Deadlines of a lane's calls. All share one timer, because hardly any ever pass. */
import { createSlots } from '../bounded/slots.ts'

/** Handle to clear a deadline. */
type Deadline = number

type Deadlines = {
  /** Calls `late` once after a delay in milliseconds, at most one tick later, unless cleared. */
  set(inMs: number, late: () => void): Deadline
  clear(deadline: Deadline): void
}

/** Maximum delay after a deadline, in milliseconds. */
export const TICK_MS = 10

/**
 * Uses a monotonic clock, since a correction of the system time must not end calls. `onTick` is called at
 * each tick while there are deadlines.
 */
export function createDeadlines(
  tickMs: number = TICK_MS,
  onTick: () => void = () => {},
): Deadlines {
  const open = createSlots<{ id: Deadline; endMs: number; late: () => void }>()
  let ticking: NodeJS.Timeout | null = null

  function tick(): void {
    onTick()
    const nowMs = performance.now()
    for (const { id, endMs, late } of open.values()) {
      // Another expired deadline may have cleared it.
      if (endMs > nowMs || open.get(id) === undefined) continue
      open.delete(id)
      late()
    }
    if (open.size > 0 || ticking === null) return
    clearInterval(ticking)
    ticking = null
  }

  return {
    set(inMs, late) {
      const deadline = { id: 0, endMs: performance.now() + inMs, late }
      deadline.id = open.add(deadline)
      ticking ??= setInterval(tick, tickMs)
      return deadline.id
    },
    clear: open.delete,
  }
}
