/** Tells a connection that is being made for which request it is, so that it ends with it. */
import type { Dispatcher } from 'undici'

/**
 * Of the request that is being dispatched. undici asks for the connection of a request while it dispatches it, and waits
 * for that connection also after the request was aborted; it does not say for which request it asks.
 */
let dispatching: AbortSignal | undefined

/** What ends the request for which a connection is asked for; undefined where a connection of undici's own is made anew. */
export const signalOfDispatch = (): AbortSignal | undefined => dispatching

/** Sends a request. A connection that is made for it ends with its signal. */
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
