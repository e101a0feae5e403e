/**
 * Accounts for the time that guests use on the worker's main thread. Guests that answer quickly run there,
 * which saves two thread switches per entry. Guests that compute for longer run on other threads.
 */

/** Longest slice on the main thread, in milliseconds: the longest delay that one guest can cause others. */
export const SLICE_MS = 25

/**
 * Longest slice while the system gives the processor to other programs, in milliseconds, and how long that
 * state lasts after it was last seen. A timeout also counts the time in which the guest did not run: 25 ms
 * would cut guests that computed for less than one.
 */
export const BUSY_SLICE_MS = 100
const BUSY_FOR_MS = 2000

/** Processor time from which a slice is long, in milliseconds. A long slice makes a guest heavy. */
const LONG_MS = 4

/**
 * Number of short slices after which one long slice is forgiven: it was a garbage collection. One in this
 * many does not change the 99th percentile of the other guests.
 */
const FORGIVEN_AFTER = 500

/**
 * Processor time of a guest in one turn of the event loop, in milliseconds. Its further entries wait for the
 * next turn.
 */
const GUEST_TURN_MS = 12

/** How long a reading of the system's meters is reused, in milliseconds: each reading is a system call. */
const LOOK_MS = 1

/**
 * Mean slice from which a guest that has used up its turn is heavy, in milliseconds. A shorter mean stands
 * for many calls.
 */
const LIGHT_MS = 1

/**
 * Time of all guests in one turn of the event loop, in milliseconds. Further entries wait for the next turn.
 */
const TURN_MS = 25

/** The use of the main thread by one guest. */
export type Share = {
  /**
   * Reports whether the main thread has time for this guest in this turn. If not, its entries wait for the
   * next turn.
   */
  mayRun(): boolean
  /** Returns the longest slice allowed now, in milliseconds. */
  limitMs(): number
  /** Begins a slice. */
  begin(): void
  /** Ends the slice and returns its duration, in milliseconds. */
  end(): number
  /** Reports whether the last slice brought the guest over its share. */
  isHeavy(): boolean
}

/** System's meters of the current thread. */
type Meter = {
  /** Time since a fixed moment, in milliseconds. */
  nowMs(): number
  /** Processor time of this thread so far, in milliseconds. */
  cpuMs(): number
  /** Number of times that the system took the processor away so far. */
  switches(): number
}

const METER: Meter = {
  nowMs: () => performance.now(),
  cpuMs() {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  },
  switches: () => process.resourceUsage().involuntaryContextSwitches,
}

/**
 * Makes the shares of all guests of a worker. For the first `unknownMs`, the machine is assumed to be busy:
 * nothing has been measured yet, and the worker's code is cold.
 */
export function createSlices(
  meter: Meter = METER,
  unknownMs: number = BUSY_FOR_MS,
): { share(): Share } {
  let turn = 0
  let turnSpentMs = 0
  let turnEnds = false
  const cpuMs = lookedAt(meter.cpuMs)
  const switches = lookedAt(meter.switches)
  let busyUntilMs = meter.nowMs() + unknownMs
  let seenSwitches = 0
  const noteBusy = () => {
    busyUntilMs = meter.nowMs() + BUSY_FOR_MS
  }

  const endTurn = () => {
    turnEnds = false
    turn += 1
    turnSpentMs = 0
  }

  const limitMs = (): number => {
    const nowMs = meter.nowMs()
    const seen = switches(nowMs)
    if (seen > seenSwitches) noteBusy()
    seenSwitches = seen
    return nowMs < busyUntilMs ? BUSY_SLICE_MS : SLICE_MS
  }

  return {
    share() {
      let seenTurn = -1
      let spentMs = 0
      let count = 0
      let shortSlices = 0
      let begunMs = 0
      let begunCpuMs = 0
      let heavy = false
      return {
        mayRun: () => turnSpentMs < TURN_MS && (seenTurn !== turn || spentMs < GUEST_TURN_MS),
        limitMs,
        begin() {
          if (seenTurn !== turn) {
            seenTurn = turn
            spentMs = 0
            count = 0
          }
          if (!turnEnds) {
            turnEnds = true
            setImmediate(endTurn)
          }
          begunMs = meter.nowMs()
          begunCpuMs = cpuMs(begunMs)
        },
        end() {
          const tookMs = meter.nowMs() - begunMs
          turnSpentMs += tookMs
          // On a busy machine a short slice may take long. Count only its processor time.
          const sliceMs = tookMs < LONG_MS ? tookMs : meter.cpuMs() - begunCpuMs
          if (tookMs > 2 * sliceMs) noteBusy()
          const isLong = sliceMs >= LONG_MS
          const isForgiven = isLong && shortSlices >= FORGIVEN_AFTER
          shortSlices = isLong ? 0 : shortSlices + 1
          // A forgiven slice must not count towards the turn, either.
          spentMs += isForgiven ? 0 : sliceMs
          count += 1
          heavy = isLong ? !isForgiven : spentMs >= GUEST_TURN_MS && spentMs / count >= LIGHT_MS
          return tookMs
        },
        isHeavy: () => heavy,
      }
    },
  }
}

/**
 * Returns a meter that is read at most once per `LOOK_MS` and otherwise repeats its last value. A slice may
 * be counted too long by that much.
 */
function lookedAt(meter: () => number): (nowMs: number) => number {
  let atMs = Number.NEGATIVE_INFINITY
  let value = 0
  return (nowMs) => {
    if (nowMs - atMs >= LOOK_MS) {
      atMs = nowMs
      value = meter()
    }
    return value
  }
}
