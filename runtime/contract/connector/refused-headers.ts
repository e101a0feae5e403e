/** Headers that no request of a connector may carry. */

/**
 * Request headers that belong to the connection, to the host or to a proxy (RFC 9110 section 7.6.1), and
 * those in whose favour a server may drop the method, the path or the sender that were judged.
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
/** Beginnings of further ones. */
export const REFUSED_PREFIXES: readonly string[] = ['proxy-', 'x-forwarded']

/** Whether a header, by its name in lower case, belongs to the connection, the host or a proxy. */
export function isRefusedName(name: string): boolean {
  // CGI and its heirs read `x_host` as `x-host`.
  const read = name.replaceAll('_', '-')
  return REFUSED_NAMES.has(read) || REFUSED_PREFIXES.some((prefix) => read.startsWith(prefix))
}
