/** One request to an upstream, for reports and logs: its target and outcome, never its content. */
export type UpstreamRecord = {
  method: string
  /** Host, with the port if it is not the scheme's default. */
  host: string
  /** Path without query, with the call's secrets removed, cut at 200 characters. */
  path: string
  /** Names, and values that are not secret, with the question mark; empty if there is no query. */
  query: string
  /**
   * The declared text that `path` refers to, such as an SQL statement, without values. For errors, not for
   * logs.
   */
  text?: string
  /** False for a request that is queued, or was refused before it was handed to a connection. */
  sent: boolean
  status: number | null
  /** Internal error code (RuntimeCode), or null. */
  error: string | null
  /** End of the wait that the upstream asked for, in milliseconds since the epoch; 0 if it asked for none. */
  askedUntilMs: number
  /** Sizes in bytes. */
  sentBytes: number
  receivedBytes: number
  /** Start time, in milliseconds since the epoch. */
  beganAtMs: number
  /** Duration from the check of the request to the end of the response body. */
  ms: number
}
