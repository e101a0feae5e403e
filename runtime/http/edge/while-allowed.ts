/** Long responses with files and lists. They end when the reader loses the right to them. */

/** Longest time between two checks of the right, in milliseconds. */
const JUDGED_MS = 1000

/**
 * Returns the same body, and checks the right again before a chunk is taken. An error of `judge` aborts the
 * body, which cannot be mistaken for the whole.
 *
 * @param judge Throws once the reader has lost the right.
 */
export function whileAllowed(
  body: ReadableStream<Uint8Array>,
  judge: () => Promise<unknown>,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let judgedMs = performance.now()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (performance.now() - judgedMs >= JUDGED_MS) {
          try {
            await judge()
          } catch (error) {
            await reader.cancel(error)
            throw error
          }
          judgedMs = performance.now()
        }
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
