/**
 * How fast the host reads replies. It reads for the connector, also for one that never looks at what
 * comes: at full speed, endless replies would take the host's thread from everybody.
 */

export type ReadPace = {
  /** Counts what was read, and says how long to wait before reading on, in milliseconds. */
  read(bytes: number): number
}

/** What a piece costs at least, in bytes: a reply in chunks of one byte is work for each of them. */
const MIN_PIECE_BYTES = 1024

/** Shorter waits are not worth a timer, in milliseconds. */
const SHORTEST_MS = 4

/** A pace of so many bytes a second, of which a burst may be ahead. Each reader waits for its own turn. */
export function createPace(
  bytesPerSecond: number,
  burstBytes: number,
  now: () => number = () => performance.now(),
): ReadPace {
  const aheadMs = (burstBytes / bytesPerSecond) * 1000
  /** When all that was read is paid for. */
  let paidMs = 0
  return {
    read(bytes) {
      const nowMs = now()
      const costMs = (Math.max(bytes, MIN_PIECE_BYTES) / bytesPerSecond) * 1000
      paidMs = Math.max(paidMs, nowMs) + costMs
      const waitMs = paidMs - aheadMs - nowMs
      return waitMs < SHORTEST_MS ? 0 : waitMs
    },
  }
}
