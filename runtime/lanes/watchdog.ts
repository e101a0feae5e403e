/**
 * Makes sure that an isolate which should be free really is. It is pinged; one that does not answer is
 * disposed of, and a worker that cannot do that is killed: some native loops end in no other way
 * (sandbox.md section 3).
 */
export type Watchdog = {
  /** Pings an isolate and acts when it stays silent; does nothing while it is watched already. */
  watch(isolate: number): void
  /** The isolate answered, or is gone. */
  answered(isolate: number): void
  stop(): void
}

export type WatchdogSteps = {
  ping(isolate: number): void
  /** The isolate stayed silent: ends its calls and asks the worker to dispose of it. */
  dispose(isolate: number): void
  /** The worker did not confirm. */
  kill(isolate: number): void
}

/** `pingMs` and `disposeMs` are how long each step may take, in milliseconds. */
export function createWatchdog(steps: WatchdogSteps, pingMs: number, disposeMs: number): Watchdog {
  const watched = new Map<number, NodeJS.Timeout>()
  return {
    watch(isolate) {
      if (watched.has(isolate)) return
      const silent = () => {
        watched.set(
          isolate,
          setTimeout(() => steps.kill(isolate), disposeMs),
        )
        steps.dispose(isolate)
      }
      watched.set(isolate, setTimeout(silent, pingMs))
      steps.ping(isolate)
    },
    answered(isolate) {
      clearTimeout(watched.get(isolate))
      watched.delete(isolate)
    },
    stop() {
      for (const timer of watched.values()) clearTimeout(timer)
      watched.clear()
    },
  }
}
