/**
 * Maps an upstream's HTTP status to a wire code, and its response to a message. The SDK bundles this file
 * into every connector, so it imports no library.
 *
 * Source: design table "which code, when"; connector-interface.md section 4.1; service.md section 7.1.
 */

/** Statuses with a specific code. Every other failure is `api_error`. */
export const UPSTREAM_STATUS = {
  400: 'bad_request',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  405: 'unsupported_operation',
  406: 'unsupported_operation',
  408: 'request_timeout',
  410: 'not_found',
  413: 'bad_request',
  415: 'bad_request',
  422: 'bad_request',
  429: 'rate_limit',
  501: 'unsupported_operation',
  502: 'bad_gateway',
  503: 'service_error',
  504: 'bad_gateway',
} as const

const OF_STATUS: Readonly<Record<number, UpstreamCode>> = UPSTREAM_STATUS

/** Maximum length of upstream text that a message repeats, in characters. */
export const MAX_UPSTREAM_TEXT = 800

/**
 * Returns the wire code of an upstream's failing status. A challenge may reveal why credentials do not work
 * (RFC 6750 section 3.1, `error_description`).
 */
export function upstreamCode(status: number, challenge: string | null = null): UpstreamCode {
  if (status === 401 && challenge !== null) {
    if (/revoked/i.test(challenge)) return 'creds_revoked'
    if (/expired/i.test(challenge)) return 'authentication_expired'
  }
  return OF_STATUS[status] ?? 'api_error'
}

type UpstreamCode =
  | (typeof UPSTREAM_STATUS)[keyof typeof UPSTREAM_STATUS]
  | 'api_error'
  | 'authentication_expired'
  | 'creds_revoked'

/**
 * Returns the message of a failing response: `[status][url without query] text`. The query is left out
 * because it may hold secrets. Markup is removed, whitespace collapsed, the text cut.
 */
export function upstreamMessage(status: number, url: string, body: string): string {
  const text = withoutScripts(body.slice(0, 20_000))
    .replace(/<\/?[a-z!][^<>]*>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_UPSTREAM_TEXT)
  return `[${status}][${url.replace(/[?#][\s\S]*$/, '')}]${text === '' ? '' : ` ${text}`}`
}

/**
 * Removes elements whose text is not meant for readers. If the end tag of one is missing, it is missing for
 * all later ones of that name, too.
 */
function withoutScripts(html: string): string {
  const missing = new Set<string>()
  const begin = /<(script|style|head)\b/gi
  let kept = ''
  let from = 0
  for (let found = begin.exec(html); found !== null; found = begin.exec(html)) {
    const name = (found[1] ?? '').toLowerCase()
    if (missing.has(name)) continue
    const end = new RegExp(`</${name}>`, 'gi')
    end.lastIndex = begin.lastIndex
    if (end.exec(html) === null) missing.add(name)
    else {
      kept += `${html.slice(from, found.index)} `
      from = end.lastIndex
      begin.lastIndex = from
    }
  }
  return kept + html.slice(from)
}
