/** Waits no longer than a signal says; the work itself goes on. Throws the signal's reason. */
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
