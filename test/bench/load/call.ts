/** One call of a load generator. */
import type { Dispatcher, Pool } from 'undici'
import type { Target } from './loads.ts'

const HEADERS = { 'content-type': 'application/json' }
/** How an answer begins that is an error of the connector interface. */
const ERROR_START = Buffer.from('{"is_error"')

/**
 * Sends a call, reads all of its answer, and says whether it is one, and no error. A connection that broke is a failed
 * call like others.
 *
 * The answer is counted as it comes: without streams and texts the generator takes less of the machine that it shares with
 * what it measures (RESULTS.md).
 */
export const isAnswered = (pool: Pool, { path, body }: Target): Promise<boolean> =>
  new Promise((resolve) => {
    pool.dispatch({ path, method: 'POST', headers: HEADERS, body }, createHandler(resolve))
  })

function createHandler(resolve: (isAnswered: boolean) => void): Dispatcher.DispatchHandler {
  let isGood = false
  let start: Buffer | null = null
  return {
    onRequestStart() {},
    onResponseStart(_controller, status) {
      isGood = status === 200
    },
    onResponseData(_controller, chunk) {
      // The first bytes may come in pieces.
      if (start === null) start = chunk.subarray(0, ERROR_START.length)
      else if (start.length < ERROR_START.length) start = Buffer.concat([start, chunk])
    },
    onResponseEnd() {
      const isError = start?.subarray(0, ERROR_START.length).equals(ERROR_START) === true
      resolve(isGood && !isError)
    },
    onResponseError() {
      resolve(false)
    },
  }
}
