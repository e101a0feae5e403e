/**
 * Accounts for the time that guests use on the worker's main thread. Guests that answer quickly run there, which saves
 * two thread switches per entry; those that compute for longer run on other threads.
 */

/** Longest slice on the main thread, in milliseconds: the longest delay that one guest can cause the others. */
export const SLICE_MS = 25

/** The same while the system lets other programs run in the middle of slices, and for how long after it was seen. */
export const BUSY_SLICE_MS = 100
const BUSY_FOR_MS = 2000

/** Processor time of one slice, and of all slices in one turn of the event loop, that makes a guest heavy, in milliseconds. */
const HEAVY_MS = 4
const HEAVY_TURN_MS = 12

/** Time of all guests in one turn of the event loop after which the others go on threads, in milliseconds. */
const TURN_MS = 25

/** The use of the main thread by one guest. */
export type Share = {
  /** Whether the main thread has time for this guest in this turn. */
  mayRun(): boolean
  /** Longest slice now, in milliseconds. */
  limitMs(): number
  /** Begins a slice. */
  begin(): void
  /** Ends the slice and answers how long it took, in milliseconds. */
  end(): number
  /** Whether the last slice brought the guest over its share. */
  isHeavy(): boolean
}

/** Makes the shares of all guests of a worker. */
export function createSlices(): { share(): Share } {
  let turn = 0
  let turnSpentMs = 0
  let turnEnds = false
  let busyUntilMs = 0

  const endTurn = () => {
    turnEnds = false
    turn += 1
    turnSpentMs = 0
  }

  return {
    share() {
      let seenTurn = -1
      let spentMs = 0
      let begunMs = 0
      let begunCpuMs = 0
      let heavy = false
      return {
        mayRun: () => turnSpentMs < TURN_MS,
        limitMs: () => (performance.now() < busyUntilMs ? BUSY_SLICE_MS : SLICE_MS),
        begin() {
          if (seenTurn !== turn) {
            seenTurn = turn
            spentMs = 0
          }
          if (!turnEnds) {
            turnEnds = true
            setImmediate(endTurn)
          }
          begunCpuMs = threadCpuMs()
          begunMs = performance.now()
        },
        end() {
          const tookMs = performance.now() - begunMs
          turnSpentMs += tookMs
          // On a busy machine a short slice may take long: it counts with what it computed.
          const sliceMs = tookMs < HEAVY_MS ? tookMs : threadCpuMs() - begunCpuMs
          if (tookMs > 2 * sliceMs) busyUntilMs = performance.now() + BUSY_FOR_MS
          spentMs += sliceMs
          heavy = sliceMs >= HEAVY_MS || spentMs >= HEAVY_TURN_MS
          return tookMs
        },
        isHeavy: () => heavy,
      }
    },
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
