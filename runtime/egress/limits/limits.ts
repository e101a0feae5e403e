/** Limits of egress per request, call and connector. Sizes in bytes, times in milliseconds. */
import { INPUTS } from '../../contract/limits/inputs.ts'
import { REQUEST_LIMITS } from '../../contract/limits/requests.ts'
import { mapValues } from '../../contract/schema/keys.ts'

/** A limit: its figure, the bounded quantity, and the scope that it applies to. */
type Bound = { figure: number; what: string; of: string }

const of =
  (one: string) =>
  (what: string, figure: number): Bound => ({ figure, what, of: one })
const [request, call, connector] = [of('request'), of('call'), of('connector')]

/**
 * Limits of every host, in the order in which `npm run docs` writes them into
 * runtime/docs/reference/limits.md.
 */
export const EGRESS_LIMITS = {
  maxRequestBytes: request('body of a request', REQUEST_LIMITS.bodyBytes),
  // A reply of a database or directory meets two limits: as received, `maxReplyBytes` of SQL_LIMITS or
  // LDAP_LIMITS, and this one when secrets are replaced in it.
  maxReplyBytes: request('reply, as received and decoded', 16 * 1024 * 1024),
  maxHeaderBytes: request('all headers of a request, and of a reply', 64 * 1024),
  maxRatio: request('decoded bytes for each byte received', 100),
  ratioFreeBytes: request('decoded bytes below which that does not count', 1024 * 1024),
  maxRedirects: request('redirects that are followed', 5),
  connectTimeoutMs: request('lookup, connection and TLS handshake together', 10_000),
  keepAliveMs: of('connection')('how long an idle connection is kept', 10_000),
  maxOpenFetches: call('requests that are open at once', REQUEST_LIMITS.open),
  maxConnectorOpenFetches: connector('the same', 256),
  // An upstream that never reads holds them.
  maxOpenRequestBytes: call('bodies of requests that are open at once', 32 * 1024 * 1024),
  // Keeps 64 large replies out of memory.
  maxOpenReplyBytes: call('replies that are received at once', 64 * 1024 * 1024),
  maxConnectorOpenBytes: connector('requests and replies that are open at once', 128 * 1024 * 1024),
  maxProcessOpenBytes: of('all connectors')('the same', 512 * 1024 * 1024),
  readBytesPerSecond: of('tenant')('replies that are read in a second', 16 * 1024 * 1024),
  connectorReadBytesPerSecond: connector('the same', 32 * 1024 * 1024),
  // Shorter replies never wait.
  readBurstBytes: of('tenant, connector')('bytes that may be ahead of that', 4 * 1024 * 1024),
  // Later requests are only counted as reads or writes.
  maxRecords: call('requests that the log shows', 1000),
}

/** Sizes in bytes, times in milliseconds. */
export type EgressLimits = Record<keyof typeof EGRESS_LIMITS, number>

export const DEFAULT_LIMITS: Readonly<EgressLimits> = Object.freeze(
  mapValues(EGRESS_LIMITS, ({ figure }) => figure),
)

/**
 * Limits of a URL as it is sent (all ASCII). Judging costs time for each segment, and runs in the host:
 * 12,000 segments against 3,000 entries blocked it for seconds.
 */
export const ADDRESS_LIMITS = Object.freeze({
  maxUrlBytes: 16 * 1024,
  maxPathBytes: 8 * 1024,
  maxPathSegments: 200,
})

/**
 * Maximum size of a body that the host parses itself, in bytes: 16 MiB of JSON delayed all calls by more than
 * a second, and took 800 MB.
 */
export const MAX_PARSED_BYTES: number = INPUTS.upstream_json.maxBytes
