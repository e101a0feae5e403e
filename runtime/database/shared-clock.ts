/**
 * What time it is for all hosts of a database, without asking it: counted on from its last answer. For what a host judges
 * without the database, such as the age of a page token that another host has made.
 */
export type SharedClock = {
  /** In milliseconds since 1970; before the database was asked for the first time, the host's own clock. */
  now(): number
  /** The database has answered with its time, in milliseconds since 1970. */
  told(databaseMs: number): void
}

/** Makes a clock that counts on without the host's: that may be set while the database is away. */
export function createSharedClock(
  host: () => number = () => Date.now(),
  countMs: () => number = () => performance.now(),
): SharedClock {
  let startedAtMs: number | null = null
  return {
    now: () => (startedAtMs === null ? host() : startedAtMs + countMs()),
    told(databaseMs) {
      startedAtMs = databaseMs - countMs()
    },
  }
}
