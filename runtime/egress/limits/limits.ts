/** What one request, one call and one connector may use of the door. Sizes in bytes, times in milliseconds. */
import { INPUTS } from '../../contract/limits/inputs.ts'
import { REQUEST_LIMITS } from '../../contract/limits/requests.ts'

export type EgressLimits = {
  /** Of one reply, decoded and as received. */
  maxReplyBytes: number
  /** Of a request's body. */
  maxRequestBytes: number
  /** Of all headers of a request, and of all headers of a reply. */
  maxHeaderBytes: number
  /** Decoded bytes for each byte received; not counted below `ratioFreeBytes`. */
  maxRatio: number
  ratioFreeBytes: number
  /** Requests that one call may have open at once. */
  maxOpenFetches: number
  /** The same for all calls of one connector. */
  maxConnectorOpenFetches: number
  /** Bytes of request bodies that one call may have open at once: an upstream that never reads holds them. */
  maxOpenRequestBytes: number
  /**
   * Bytes of replies that one call may be receiving at once, as received and decoded; keeps 64 large
   * replies out of memory.
   */
  maxOpenReplyBytes: number
  /** Bytes of requests and replies, together, that all calls of one connector may have open at once. */
  maxConnectorOpenBytes: number
  /** The same for all connectors of the process. */
  maxProcessOpenBytes: number
  /** Bytes of replies that are read in a second for all calls of one tenant, and of one connector. */
  readBytesPerSecond: number
  connectorReadBytesPerSecond: number
  /** Bytes that either may be ahead of that: what is shorter never waits. */
  readBurstBytes: number
  maxRedirects: number
  /** Lookup, connection and TLS handshake together. */
  connectTimeoutMs: number
  /** How long an idle connection is kept. */
  keepAliveMs: number
  /** Hops of one call that are recorded; later ones are only counted as reads or writes. */
  maxRecords: number
}

/** The figures of every host; `npm run docs` writes them into runtime/docs/reference/limits.md. */
export const DEFAULT_LIMITS: Readonly<EgressLimits> = Object.freeze({
  maxReplyBytes: 16 * 1024 * 1024,
  maxRequestBytes: REQUEST_LIMITS.bodyBytes,
  maxHeaderBytes: 64 * 1024,
  maxRatio: 100,
  ratioFreeBytes: 1024 * 1024,
  maxOpenFetches: REQUEST_LIMITS.open,
  maxConnectorOpenFetches: 256,
  maxOpenRequestBytes: 32 * 1024 * 1024,
  maxOpenReplyBytes: 64 * 1024 * 1024,
  maxConnectorOpenBytes: 128 * 1024 * 1024,
  maxProcessOpenBytes: 512 * 1024 * 1024,
  readBytesPerSecond: 16 * 1024 * 1024,
  connectorReadBytesPerSecond: 32 * 1024 * 1024,
  readBurstBytes: 4 * 1024 * 1024,
  maxRedirects: 5,
  connectTimeoutMs: 10_000,
  keepAliveMs: 10_000,
  maxRecords: 1000,
})

/**
 * How long an address may be, as it is sent (all ASCII). Judging costs time for each segment, and the
 * judge runs in the host: 12,000 segments against 3,000 entries held it for seconds.
 */
export const ADDRESS_LIMITS = Object.freeze({
  maxUrlBytes: 16 * 1024,
  maxPathBytes: 8 * 1024,
  maxPathSegments: 200,
})

/**
 * Largest body that the host parses itself, in bytes: 16 MiB of JSON held everybody's calls up for more than a
 * second, and took 800 MB.
 */
export const MAX_PARSED_BYTES: number = INPUTS.upstream_json.maxBytes
