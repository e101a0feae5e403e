/** Ties a connection attempt to the request that needs it, so that both end together. */
import type { Dispatcher } from 'undici'

/**
 * Signal of the request that is being dispatched. undici opens the connection synchronously during the
 * dispatch, does not tell for which request, and keeps waiting for it after the request was aborted.
 */
let dispatching: AbortSignal | undefined

/** Returns the signal of the request that needs a connection; undefined if undici reconnects by itself. */
export const signalOfDispatch = (): AbortSignal | undefined => dispatching

/** Sends a request. An attempt to connect for it ends with its signal. */
export function requestWith(
  dispatcher: Dispatcher,
  signal: AbortSignal,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> {
  dispatching = signal
  try {
    return dispatcher.request(options)
  } finally {
    dispatching = undefined
  }
}
