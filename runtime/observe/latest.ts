/** A value that many look at and that is read again every few seconds. */

/** How long a reader waits for a new reading, in milliseconds. */
const PATIENCE_MS = 1000

/**
 * Reads again what is older than `everyMs`: one reading at a time, however many look. Null where none came in
 * time and the last one is stale, or the last one failed.
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
          // What took long is as old as its question.
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
