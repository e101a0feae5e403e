/**
 * Makes sure that an isolate which should be free, or gone, really is. One that does not answer a ping
 * is reported silent; a worker that does not confirm the end of one is killed: some native loops end in
 * no other way (sandbox.md section 3).
 */
export type Watchdog = {
  /** Pings an isolate that must answer in so many milliseconds. Of several such watches the shortest counts. */
  watch(isolate: number, patienceMs: number): void
  /** The worker was told to dispose of an isolate, and must confirm it. */
  disposing(isolate: number): void
  /** The isolate answered. That is no confirmation of its end. */
  answered(isolate: number): void
  /** The isolate is gone. */
  gone(isolate: number): void
  stop(): void
}

type WatchdogSteps = {
  ping(isolate: number): void
  /** The isolate did not answer. */
  silent(isolate: number): void
  /** The worker did not confirm; `starved` where it was hardly let to run in all that time. */
  kill(starved: boolean): void
  /** Begins to look at the worker; the answer says whether it would have run since, and was not let to. */
  watchStarvation(): () => boolean
}

/** How many times as long a worker is waited for that is starved. */
const STARVED_TURNS = 5

type Watch = { timer: NodeJS.Timeout; patienceMs: number }

/** `disposeMs` is how long the worker may take to confirm an end, in milliseconds. */
export function createWatchdog(steps: WatchdogSteps, disposeMs: number): Watchdog {
  const pinged = new Map<number, Watch>()
  const disposed = new Map<number, NodeJS.Timeout>()

  const answered = (isolate: number) => {
    clearTimeout(pinged.get(isolate)?.timer)
    pinged.delete(isolate)
  }

  /** On a machine that is too busy another worker would be no sooner: this one gets more time. */
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
