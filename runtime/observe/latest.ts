/** A value with many readers, refreshed every few seconds. */

/** Maximum time that a reader waits for a new reading, in milliseconds. */
const PATIENCE_MS = 1000

/**
 * Returns a function that reads again if the last value is older than `everyMs`, with only one reading at a
 * time for all callers. Null if no new value arrives in time and the last one is stale, or if the last
 * reading failed.
 */
export function latest<T>(everyMs: number, staleMs: number, read: () => Promise<T>) {
  let last: { value: T; atMs: number } | null = null
  let reading: Promise<void> | null = null
  return async (): Promise<T | null> => {
    if (last && performance.now() - last.atMs < everyMs) return last.value
    const beganMs = performance.now()
    reading ??= read()
      .then(
        (value) => {
          // The age counts from the start of the reading.
          last = { value, atMs: beganMs }
        },
        () => {
          last = null
        },
      )
      .finally(() => {
        reading = null
      })
    await within(PATIENCE_MS, reading)
    return last && performance.now() - last.atMs < Math.max(staleMs, PATIENCE_MS * 2)
      ? last.value
      : null
  }
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, ms)
  await Promise.race([work, over.promise])
  clearTimeout(timer)
}
