/** What goes in and out of the door: a call, its requests, their replies. */
import type { Manifest } from '../../contract/connector/manifest.ts'
import type { CallSecrets } from '../../contract/connector/secrets.ts'
import type { UpstreamRecord } from '../../contract/connector/upstream-record.ts'
import type { OutgoingRequest, ReplyHead } from '../exchange/exchange.ts'
import type { Settings } from '../rules/server-url.ts'

/** One call of a capability. */
export type EgressCall = {
  connectorId: string
  /** Whose call it is among those of the connector: none of them may hold all that they share. */
  tenant?: string
  /** Asked for anew before each request: another object once the operator has granted or taken back something. */
  readonly manifest: Manifest
  capability: string
  /** The capability's own level: it decides which methods an entry without `methods` allows. */
  level: 'read' | 'write'
  settings: Settings
  /** When the call ends, in milliseconds since the epoch; nothing waits longer than that. */
  endMs?: number
  /**
   * Whose pace it is, beside the connector and the origin: settings and what of the credentials stays
   * the same. Asked for at the first request.
   */
  governorKey?(): string
  /**
   * Aborted at the deadline, when the caller hangs up, and when the call has ended: what is still open
   * then is dropped. A reason that is a RuntimeError is what open fetches fail with.
   */
  signal: AbortSignal
  /** Aborts the one request that this is the call for, with the error. */
  cut?(error: unknown): void
  /** Requests are sent once, whatever the upstream says: a code and a refresh token are good once. */
  once?: true
  /** What placeholders stand for; `null` where the call has no secrets. */
  secrets: CallSecrets | null
  /**
   * Takes the call's secrets out of a text. Used on the path in records and in messages about an address,
   * before they are cut; query and headers are never told. Without it, paths are told as they are.
   */
  redact?: (text: string) => string
}

/** One fetch of the connector. */
export type EgressRequest = OutgoingRequest & {
  redirect: 'follow' | 'manual' | 'error'
  /** Ends this one fetch; the call's own signal ends them all. */
  signal?: AbortSignal
}

/** The reply to one fetch, whole and decoded. */
export type EgressReply = {
  status: number
  /** Of the last hop, without a fragment. */
  url: string
  redirected: boolean
  /** Names in lower case, in order; no cookies, no content-encoding where the host has decoded. */
  headers: [name: string, value: string][]
  body: Buffer
}

/** The door, open for one call. */
export type OpenEgress = {
  /**
   * Performs one fetch.
   *
   * @throws egress_url, egress_undeclared, egress_setting, egress_private, egress_header, egress_body, egress_secret,
   * egress_redirects, egress_concurrency, upstream_rejected, upstream_connect_timeout, upstream_closed,
   * upstream_timeout, upstream_too_large, upstream_garbled, or the RuntimeError of the call's signal
   */
  fetch(request: EgressRequest): Promise<EgressReply>
  /** One for each hop, in order, filled in as it goes on; at most `maxRecords`. */
  records: readonly UpstreamRecord[]
  /** True once anything but GET and HEAD was handed to a connection: the call must not run again. */
  hasWritten(): boolean
}

/** A token that an exchange gave. */
export type Token = {
  value: string
  /** In milliseconds of the process's own clock: finer than those of the wall's. */
  madeMs: number
  /** In milliseconds since the Unix epoch. */
  goodUntilMs: number
}

/**
 * One hop's reply, without secrets: `read` or `discard` ends it and completes its record. The address is
 * the one with placeholders.
 */
export type HopReply = ReplyHead & {
  url: URL
  /** The token of the exchange that was sent along. */
  token: Token | null
}
