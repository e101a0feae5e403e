/** Judges one request by its parsed, normalised URL and method. Pure; looks no names up. */

import { METHODS, type Method } from '../../contract/connector/manifest.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { ADDRESS_LIMITS } from '../limits/limits.ts'
import { readSegments } from './path-segments.ts'
import { redactPath } from './records.ts'
import type { ResolvedRule } from './resolve-rules.ts'

const READ_METHODS: readonly string[] = ['GET', 'HEAD']

/** Rules of one call. */
export type Policy = {
  rules: readonly ResolvedRule[]
  level: 'read' | 'write'
  /** The capability's own `reads_with`: additional methods for a read's entries without `methods`. */
  readsWith: readonly Method[]
  /** Settings that entries need and the call does not have. */
  absent: readonly string[]
  /** Removes the call's secrets from URLs in messages. */
  redact?: (text: string) => string
}

/**
 * Parses a URL into the form in which it is judged and sent: host in lower case without a final dot, `.` and
 * `..` resolved, no fragment.
 *
 * @throws context_misused if it is not a URL; egress_url if it is not http(s), has user info, or is too long
 */
export function parseUrl(text: string): URL {
  if (text.length > ADDRESS_LIMITS.maxUrlBytes) throw tooLong()
  const url = URL.parse(text)
  if (url === null)
    throw new RuntimeError('context_misused', 'The address is not an absolute URL that can be read')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new RuntimeError('egress_url', `${url.protocol} cannot be fetched, only https: and http:`)
  if (url.username !== '' || url.password !== '')
    throw new RuntimeError(
      'egress_url',
      `The address of ${url.host} holds user info: send an Authorization header instead`,
    )
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  url.hash = ''
  refuseLong(url)
  return url
}

/**
 * Returns the first entry that allows this request.
 *
 * A read capability's entries without `methods` allow GET, HEAD and its `reads_with`; those of a write
 * capability allow every method. A capability's own `egress` list replaces the manifest's.
 *
 * @param url From `parseUrl`.
 * @throws egress_undeclared with the declaration to add; the message contains origin and path, never the
 * query
 */
export function judgeUrl(url: URL, method: string, policy: Policy): ResolvedRule {
  // Once, not for each entry: segments and entries may be many.
  const segments = readSegments(url.pathname)
  const covering = policy.rules.filter((rule) => covers(rule, url, segments))
  const allowed = covering.find((rule) => methodsOf(rule, policy).includes(method))
  if (allowed !== undefined) return allowed
  const advice =
    segments === null && covering.length === 0 && policy.rules.some((rule) => coversBase(rule, url))
      ? UNREADABLE_PATH
      : adviceFor(url, method, covering, policy)
  throw new RuntimeError(
    'egress_undeclared',
    `${method.slice(0, 20)} ${describeUrl(url, policy.redact)} is not allowed: ${advice}`,
  )
}

const UNREADABLE_PATH =
  'no egress entry with a path covers a path that holds a hidden . or .. segment, or a % that is no percent-encoding of UTF-8'

/** Returns origin and path of a URL for a message: no query, no secret, the path cut at 200 characters. */
const describeUrl = (url: URL, redact: Policy['redact']): string =>
  `${url.origin}${redactPath(url.pathname, redact).slice(0, 200)}`

function refuseLong({ href, host, pathname }: URL): void {
  const { maxUrlBytes, maxPathBytes, maxPathSegments } = ADDRESS_LIMITS
  const of = `The path of the address at ${host.slice(0, 80)}`
  if (pathname.length > maxPathBytes)
    throw new RuntimeError('egress_url', `${of} is over ${maxPathBytes} bytes`)
  if (pathname.split('/').length - 1 > maxPathSegments)
    throw new RuntimeError('egress_url', `${of} has more than ${maxPathSegments} segments`)
  if (href.length > maxUrlBytes) throw tooLong()
}

const tooLong = (): RuntimeError =>
  new RuntimeError('egress_url', `The address is over ${ADDRESS_LIMITS.maxUrlBytes} bytes`)

function methodsOf(rule: ResolvedRule, policy: Policy): readonly string[] {
  if (rule.methods !== null) return rule.methods
  return policy.level === 'write' ? METHODS : [...READ_METHODS, ...policy.readsWith]
}

function covers(rule: ResolvedRule, url: URL, segments: readonly string[] | null): boolean {
  return coversBase(rule, url) && coversPath(rule.path, segments)
}

function coversBase({ protocol, port, wildcard, host }: ResolvedRule, url: URL): boolean {
  if (url.protocol !== protocol || url.port !== port) return false
  const { hostname } = url
  if (!wildcard) return hostname === host
  const label = hostname.endsWith(`.${host}`) ? hostname.slice(0, -host.length - 1) : ''
  return label !== '' && !label.includes('.')
}

function coversPath(path: ResolvedRule['path'], segments: readonly string[] | null): boolean {
  if (path.length === 0) return true
  if (segments === null) return false
  return path.every((wanted, index) => {
    const segment = segments[index]
    if (wanted === null) return segment !== undefined && segment !== ''
    return segment === wanted
  })
}

function adviceFor(
  url: URL,
  method: string,
  covering: readonly ResolvedRule[],
  policy: Policy,
): string {
  const [rule] = covering
  if (rule !== undefined) {
    const allowed = methodsOf(rule, policy).join(', ')
    const more =
      rule.methods === null && policy.level === 'read'
        ? ', or to the "reads_with" of the capability'
        : ''
    return `${rule.field} (${rule.template}) allows ${allowed}. Add "${method}" to its "methods"${more}`
  }
  const needs = policy.absent.map((name) => `settings.${name}`).join(', ')
  const unset = needs === '' ? '' : ` (entries that need ${needs} were left out: not set)`
  return `no egress entry covers it${unset}. Declare { "url": "${url.origin}", "methods": ["${method}"] } in connector.json`
}
