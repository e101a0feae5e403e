/** The audit line of every hop: where it went and how it ended, never what it carried. */

/** One hop. Sizes in bytes, `ms` from judging to the end of the body. */
export type EgressRecord = {
  method: string
  /** Host, with the port where it is not the scheme's own. */
  host: string
  /** Cut at 200 characters; no query. */
  path: string
  /** False for a hop that was refused before it was handed to a connection. */
  sent: boolean
  status: number | null
  /** Our own error code, or `null`. */
  error: string | null
  sentBytes: number
  receivedBytes: number
  ms: number
}

/** A new record, for a hop that has been parsed and not been judged yet. */
export const createRecord = (url: URL, method: string): EgressRecord => ({
  method,
  host: url.host,
  path: url.pathname.slice(0, 200),
  sent: false,
  status: null,
  error: null,
  sentBytes: 0,
  receivedBytes: 0,
  ms: 0,
})

/** True for methods that may change something at the upstream. */
export const isWriting = (method: string): boolean => method !== 'GET' && method !== 'HEAD'
