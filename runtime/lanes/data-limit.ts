/**
 * Memory limit of a worker in the operating system (RLIMIT_DATA), adjusted to the number of its isolates.
 *
 * V8 reserves an address range of 512 MiB for the code of each isolate. It is writable, so Linux counts it as
 * data although hardly any of it is used (measured: an idle worker with 64 isolates uses 165 MiB and counts
 * 33 GiB). One limit for all workers would either kill a worker at its fourth isolate or limit none. So the
 * limit starts low and is raised before each isolate that needs it.
 */
/** Address range that V8 reserves for the code of an isolate, in bytes. */
const ISOLATE_RANGE_BYTES = 512 * 1024 * 1024

/**
 * Data of the rest of a worker, in bytes: 0.6 GiB of Node's own ranges, and more than the resident memory at
 * which the host kills it.
 */
const WORKER_BYTES = 2 * 1024 * 1024 * 1024

/** Isolates covered by the initial limit. Workers of one tenant never need more. */
const FIRST_ISOLATES = 2

/** Returns the number of isolates to raise the limit for: in large steps, before they are needed. */
const next = (held: number): number => held + Math.max(2, Math.ceil(held / 4))

/** Delay before a failed raise is retried, in milliseconds. The system may be out of descriptors. */
const RETRY_MS = 100

/** Returns the limit of a worker with this many isolates, in bytes. */
export const dataLimitOf = (isolates: number): number =>
  WORKER_BYTES + isolates * ISOLATE_RANGE_BYTES

/** Initial limit of a worker, in bytes. */
export const FIRST_DATA_LIMIT: number = dataLimitOf(FIRST_ISOLATES)

/** Sets the limit of a running process, in bytes. Rejects if the system refuses it or is out of resources. */
export type SetDataLimit = (pid: number, bytes: number) => Promise<void>

type DataRoom = {
  /** Calls `then` when the worker may have this many isolates, which is usually immediately. */
  forIsolates(count: number, then: () => void): void
  /** The worker has ended. Waiting callbacks are dropped. */
  stop(): void
}

/** Manages the limit of one worker. If `set` is null there is no limit, and every isolate is allowed. */
export function createDataRoom(pid: number, set: SetDataLimit | null): DataRoom {
  let granted = set === null ? Number.POSITIVE_INFINITY : FIRST_ISOLATES
  let wanted = 0
  let raising = false
  let stopped = false
  let waiting: { count: number; then: () => void }[] = []

  const raise = async (): Promise<void> => {
    if (raising || set === null) return
    raising = true
    while (!stopped && wanted > granted) {
      const count = wanted
      try {
        await set(pid, dataLimitOf(count))
        granted = count
      } catch {
        // Bounded by the deadlines of the waiting calls, and ended by the end of the worker.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())
      }
      admit()
    }
    raising = false
  }

  const admit = () => {
    if (stopped) return
    const all = waiting
    waiting = []
    for (const one of all) {
      if (one.count <= granted) one.then()
      else waiting.push(one)
    }
  }

  return {
    forIsolates(count, then) {
      if (count >= granted) wanted = Math.max(wanted, next(count))
      if (wanted > granted) void raise()
      if (count <= granted) then()
      else waiting.push({ count, then })
    },
    stop() {
      stopped = true
      waiting = []
    },
  }
}
