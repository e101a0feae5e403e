/** Waits for `work` until the signal aborts; then throws the signal's reason. The work itself continues. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const gone = Promise.withResolvers<never>()
  const abort = () => gone.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    return await Promise.race([work, gone.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
