/**
 * Makes sure that an isolate which should be free or disposed of really is. An isolate that does not answer a
 * ping is reported as silent. A worker that does not confirm a disposal is killed, since some native loops
 * end in no other way (sandbox.md section 3).
 */
export type Watchdog = {
  /**
   * Pings an isolate, which must answer within this many milliseconds. Of several watches the shortest
   * counts.
   */
  watch(isolate: number, patienceMs: number): void
  /** The worker was told to dispose of an isolate and must confirm it. */
  disposing(isolate: number): void
  /** The isolate answered. This does not confirm a disposal. */
  answered(isolate: number): void
  /** The isolate has ended. */
  gone(isolate: number): void
  stop(): void
}

type WatchdogSteps = {
  ping(isolate: number): void
  /** The isolate did not answer. */
  silent(isolate: number): void
  /** The worker did not confirm. `starved`: it got hardly any CPU time. */
  kill(starved: boolean): void
  /**
   * Starts observing the worker. The returned function reports whether it was runnable since, but got no CPU
   * time.
   */
  watchStarvation(): () => boolean
}

/** Factor of the time allowed to a starved worker. */
const STARVED_TURNS = 5

type Watch = { timer: NodeJS.Timeout; patienceMs: number }

/** Creates the watchdog. `disposeMs`: time for the worker to confirm a disposal, in milliseconds. */
export function createWatchdog(steps: WatchdogSteps, disposeMs: number): Watchdog {
  const pinged = new Map<number, Watch>()
  const disposed = new Map<number, NodeJS.Timeout>()

  const answered = (isolate: number) => {
    clearTimeout(pinged.get(isolate)?.timer)
    pinged.delete(isolate)
  }

  /**
   * Waits for the confirmation. On a busy machine another worker would be no faster, so this one gets more
   * time.
   */
  function awaitEnd(isolate: number, turn: number): void {
    const isStarved = steps.watchStarvation()
    const unconfirmed = () => {
      const starved = isStarved()
      if (starved && turn < STARVED_TURNS) awaitEnd(isolate, turn + 1)
      else steps.kill(starved)
    }
    disposed.set(isolate, setTimeout(unconfirmed, disposeMs))
  }

  return {
    watch(isolate, patienceMs) {
      if (disposed.has(isolate)) return
      const known = pinged.get(isolate)
      if (known && known.patienceMs <= patienceMs) return
      clearTimeout(known?.timer)
      const silent = () => {
        pinged.delete(isolate)
        steps.silent(isolate)
      }
      pinged.set(isolate, { timer: setTimeout(silent, patienceMs), patienceMs })
      if (!known) steps.ping(isolate)
    },
    disposing(isolate) {
      answered(isolate)
      if (!disposed.has(isolate)) awaitEnd(isolate, 1)
    },
    answered,
    gone(isolate) {
      answered(isolate)
      clearTimeout(disposed.get(isolate))
      disposed.delete(isolate)
    },
    stop() {
      for (const { timer } of pinged.values()) clearTimeout(timer)
      for (const timer of disposed.values()) clearTimeout(timer)
      pinged.clear()
      disposed.clear()
    },
  }
}
