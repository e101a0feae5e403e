/**
 * Rate at which the host reads replies. It also reads for connectors that never look at the reply: at full
 * speed, endless replies would keep the host's thread from all other calls.
 */

export type ReadPace = {
  /** Counts bytes that were read. @returns how long to wait before reading on, in milliseconds */
  read(bytes: number): number
}

/** Minimum cost of a piece, in bytes: a reply in chunks of one byte is work for each of them. */
const MIN_PIECE_BYTES = 1024

/** Shorter waits are not worth a timer, in milliseconds. */
const SHORTEST_MS = 4

/** Creates a pace of `bytesPerSecond` that a burst may exceed. Each reader waits for its own turn. */
export function createPace(
  bytesPerSecond: number,
  burstBytes: number,
  now: () => number = () => performance.now(),
): ReadPace {
  const aheadMs = (burstBytes / bytesPerSecond) * 1000
  /** Time by which the pace allows all bytes read so far. */
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
