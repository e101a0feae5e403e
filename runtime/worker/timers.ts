/** Timers of one isolate. Their number is limited, and they end with the isolate's last call. */
export type Timers = {
  set(id: number, ms: number): void
  clear(id: number): void
  clearAll(): void
}

/** Maximum number of open timers of one isolate. */
const MAX_TIMERS = 1000
/** Longest delay, in milliseconds. No call lives longer. */
const MAX_DELAY_MS = 300_000

/** Makes the timers of one isolate. `fire` is called with the id of an expired timer. */
export function createTimers(fire: (id: number) => void): Timers {
  const open = new Map<number, NodeJS.Timeout>()
  const clear = (id: number) => {
    clearTimeout(open.get(id))
    open.delete(id)
  }
  return {
    set(id, ms) {
      if (open.size >= MAX_TIMERS) return
      clear(id)
      const delayMs = Math.min(MAX_DELAY_MS, Math.max(1, ms || 1))
      open.set(
        id,
        setTimeout(() => {
          open.delete(id)
          fire(id)
        }, delayMs),
      )
    },
    clear,
    clearAll() {
      if (open.size === 0) return
      for (const id of [...open.keys()]) clear(id)
    },
  }
}
