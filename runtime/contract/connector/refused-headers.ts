/** Headers that no request of a connector may have. */

/**
 * Request headers that belong to the connection, to the host or to a proxy (RFC 9110 section 7.6.1), and
 * headers that may make a server ignore the method, path or sender that were checked.
 */
export const REFUSED_NAMES: ReadonlySet<string> = new Set([
  'cf-connecting-ip',
  'client-ip',
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'true-client-ip',
  'upgrade',
  'via',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-host',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-host',
  'x-original-uri',
  'x-original-url',
  'x-real-ip',
  'x-rewrite-url',
])
/** Prefixes of further refused headers. */
export const REFUSED_PREFIXES: readonly string[] = ['proxy-', 'x-forwarded']

/**
 * Reports whether a header is refused.
 *
 * @param name Name in lower case
 */
export function isRefusedName(name: string): boolean {
  // CGI and its successors read `x_host` as `x-host`.
  const read = name.replaceAll('_', '-')
  return REFUSED_NAMES.has(read) || REFUSED_PREFIXES.some((prefix) => read.startsWith(prefix))
}
