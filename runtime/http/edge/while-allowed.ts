/** Files and lists that are sent for long: they end with the right to them, and not with their last line. */

/** Longest time that something is sent on by an old judgement, in milliseconds. */
const JUDGED_MS = 1000

/**
 * The same body, judged again before a piece of it is taken. What `judge` throws cuts it off: it is never taken for whole.
 *
 * @param judge throws once the reader may not have it any more
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
