/** Input and output of egress: a call, its requests, their replies. */
import type { Manifest } from '../../contract/connector/manifest.ts'
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import type { UpstreamRecord } from '../../contract/connector/upstream-record.ts'
import type { OutgoingRequest, ReplyHead } from '../exchange/exchange.ts'
import type { Settings } from '../rules/server-url.ts'

/** One call of a capability. */
export type EgressCall = {
  connectorId: string
  /** Tenant of the call, among those of its connector. No tenant may hold all of a shared budget. */
  tenant?: string
  /** Current manifest, read before each request. Another object after the operator has changed a grant. */
  readonly manifest: Manifest
  capability: string
  /** Level of the capability. It decides which methods an entry without `methods` allows. */
  level: 'read' | 'write'
  settings: Settings
  /** End of the call, in milliseconds since the epoch. No wait is longer. */
  endMs?: number
  /**
   * Returns the key that, with connector and origin, identifies the call's pace: settings and the constant
   * parts of the credentials. Called at the first request.
   */
  governorKey?(): string
  /**
   * Aborted at the deadline, when the caller disconnects, and when the call has ended; then open fetches are
   * dropped. If the reason is a RuntimeError, open fetches fail with it.
   */
  signal: AbortSignal
  /** Aborts the request that this call was made for, with the error. */
  cut?(error: unknown): void
  /** Each request is sent once, without retries: a code or a refresh token can be used only once. */
  once?: true
  /** Values of the placeholders, or null if the call has no secrets. */
  secrets: CallSecrets | null
  /**
   * Removes the call's secrets from a text. Used on the path in records and in messages about a URL, before
   * they are cut; query and headers are never shown. Without it, paths are shown unchanged.
   */
  redact?: (text: string) => string
}

/** One fetch of the connector. */
export type EgressRequest = OutgoingRequest & {
  redirect: 'follow' | 'manual' | 'error'
  /** Ends this fetch. The call's own signal ends all of them. */
  signal?: AbortSignal
}

/** Reply to one fetch, complete and decoded. */
export type EgressReply = {
  status: number
  /** URL of the last hop, without a fragment. */
  url: string
  redirected: boolean
  /** Names in lower case, in order, without cookies, and without content-encoding if the host has decoded. */
  headers: [name: string, value: string][]
  body: Buffer
}

/** Egress, opened for one call. */
export type OpenEgress = {
  /**
   * Performs one fetch.
   *
   * @throws egress_url, egress_undeclared, egress_setting, egress_private, egress_header, egress_body,
   * egress_secret, egress_redirects, egress_concurrency, upstream_rejected, upstream_connect_timeout,
   * upstream_closed, upstream_timeout, upstream_too_large, upstream_garbled, or the RuntimeError of the
   * call's signal
   */
  fetch(request: EgressRequest): Promise<EgressReply>
  /** One record for each hop, in order, filled in as the hop proceeds; at most `maxRecords`. */
  records: readonly UpstreamRecord[]
  /**
   * Reports whether any request other than GET or HEAD was handed to a connection. Then the call must not run
   * again.
   */
  hasWritten(): boolean
}

/** Token of an exchange. */
export type Token = {
  value: string
  /** In milliseconds of the process's monotonic clock, which is finer than the wall clock. */
  madeMs: number
  /** In milliseconds since the Unix epoch. */
  goodUntilMs: number
}

/**
 * Reply of one hop, without secrets. `read` or `discard` ends it and completes its record. The URL is the one
 * with placeholders.
 */
export type HopReply = ReplyHead & {
  url: URL
  /** Token of the exchange that was sent with the request. */
  token: Token | null
}
