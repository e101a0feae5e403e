/**
 * Time shared by all hosts of a database, extrapolated from its last answer without asking it. For checks
 * that a host makes without the database, such as the age of a page token made by another host.
 */
export type SharedClock = {
  /** Returns milliseconds since 1970. Until the database has answered, this is the host's own clock. */
  now(): number
  /** Sets the time that the database has answered, in milliseconds since 1970. */
  told(databaseMs: number): void
}

/**
 * Makes a clock that does not advance by the host's clock, because that may be set while the database is
 * away.
 */
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
