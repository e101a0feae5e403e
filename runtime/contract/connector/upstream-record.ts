/** One request to an upstream, as it may be told and logged: where it went and how it ended, never what it carried. */
export type UpstreamRecord = {
  method: string
  /** Host, with the port where it is not the scheme's own. */
  host: string
  /** Without the call's secrets, then cut at 200 characters; no query. */
  path: string
  /** Names, and values that are no secrets, with the question mark; empty for none. */
  query: string
  /** The declared text behind the path, such as an SQL statement, without values. For errors, not for logs. */
  text?: string
  /** False for a request that waits for its turn, or was refused before it was handed to a connection. */
  sent: boolean
  status: number | null
  /** Our own error code, or `null`. */
  error: string | null
  /** Until when the upstream asked to be left alone, in milliseconds since the epoch; 0 where it did not. */
  askedUntilMs: number
  /** Sizes in bytes. */
  sentBytes: number
  receivedBytes: number
  /** When it began, in milliseconds since the epoch. */
  beganAtMs: number
  /** From judging it to the end of its body. */
  ms: number
}
