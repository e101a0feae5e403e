/**
 * The system's own limit of what a worker may hold (RLIMIT_DATA), kept in step with its isolates.
 *
 * V8 takes an address range of 512 MiB for the code of each isolate, writable from the start, and Linux
 * counts it as data although hardly any of it is ever used (measured: an idle worker with 64 isolates holds
 * 165 MiB and counts 33 GiB). One figure for all workers would either end a worker with its fourth isolate
 * or stop nobody, so the limit starts low and is raised before each isolate that needs it.
 */
/** What V8 reserves for each isolate's code, in bytes. */
const ISOLATE_RANGE_BYTES = 512 * 1024 * 1024

/**
 * The rest of a worker, in bytes: 0.6 GiB of Node's own ranges, and more than the resident memory at which it
 * is killed from outside.
 */
const WORKER_BYTES = 2 * 1024 * 1024 * 1024

/** Isolates that a worker starts with room for; those of one tenant never need more. */
const FIRST_ISOLATES = 2

/** What is asked for by a worker that holds so many: raised seldom, and ahead of who needs it. */
const next = (held: number): number => held + Math.max(2, Math.ceil(held / 4))

/** How long until a raise that failed is tried again, in milliseconds: the system may be out of descriptors. */
const RETRY_MS = 100

/** The limit of a worker that holds so many isolates, in bytes. */
export const dataLimitOf = (isolates: number): number =>
  WORKER_BYTES + isolates * ISOLATE_RANGE_BYTES

/** The limit that a worker starts with, in bytes. */
export const FIRST_DATA_LIMIT: number = dataLimitOf(FIRST_ISOLATES)

/** Sets the limit of a running process, in bytes. Rejects when the system refuses or has no room for it. */
export type SetDataLimit = (pid: number, bytes: number) => Promise<void>

type DataRoom = {
  /** Goes on when the worker may hold so many isolates: mostly at once. */
  forIsolates(count: number, then: () => void): void
  /** The worker has ended; who waits is not called any more. */
  stop(): void
}

/** Room for the isolates of one worker. With `set` null there is no limit, and always room. */
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
        // The deadlines of those that wait bound it; a worker that is gone stops it.
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())
      }
      letIn()
    }
    raising = false
  }

  const letIn = () => {
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
