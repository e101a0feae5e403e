/** Judges one request by its parsed, normalised URL and method. Pure; no names are looked up here. */
import { RuntimeError } from '../contract/errors.ts'
import { METHODS, type Method } from '../contract/manifest.ts'
import type { Rule } from './resolve-rules.ts'
import { climbs, decodeSegment } from './template-parts.ts'

/** Longest address that is read, in characters. */
const MAX_URL_LENGTH = 65_536

const READ_METHODS: readonly string[] = ['GET', 'HEAD']

/** What one call may reach. */
export type Policy = {
  rules: readonly Rule[]
  level: 'read' | 'write'
  /** The capability's own `reads_with`: more methods for those entries of a read that name none. */
  readsWith: readonly Method[]
  /** Settings that entries need and the call does not have. */
  absent: readonly string[]
}

/**
 * Parses an address into the form in which it is judged and sent: host in lower case without a final
 * dot, `.` and `..` resolved, no fragment.
 *
 * @throws egress_url not an address, not http(s), user info
 */
export function parseUrl(text: string): URL {
  const url = text.length > MAX_URL_LENGTH ? null : URL.parse(text)
  if (url === null)
    throw new RuntimeError('egress_url', 'The address is not an absolute URL that can be read')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new RuntimeError('egress_url', `${url.protocol} cannot be fetched, only https: and http:`)
  if (url.username !== '' || url.password !== '')
    throw new RuntimeError(
      'egress_url',
      `The address of ${url.host} holds user info: send an Authorization header instead`,
    )
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  url.hash = ''
  return url
}

/**
 * The first entry that allows this request.
 *
 * A read capability's entries without `methods` allow GET, HEAD and its `reads_with`; a write
 * capability's allow every method. A capability's own `egress` list replaces the manifest's.
 *
 * @param url From `parseUrl`.
 * @throws egress_undeclared with what to declare; the message holds origin and path, never the query
 */
export function judge(url: URL, method: string, policy: Policy): Rule {
  const covering = policy.rules.filter((rule) => covers(rule, url))
  const allowed = covering.find((rule) => methodsOf(rule, policy).includes(method))
  if (allowed !== undefined) return allowed
  throw new RuntimeError(
    'egress_undeclared',
    `${method.slice(0, 20)} ${describeUrl(url)} is not allowed: ${adviceFor(url, method, covering, policy)}`,
  )
}

/** Origin and path of an address for a message: no query, the path cut at 200 characters. */
export const describeUrl = (url: URL): string => `${url.origin}${url.pathname.slice(0, 200)}`

function methodsOf(rule: Rule, policy: Policy): readonly string[] {
  if (rule.methods !== null) return rule.methods
  return policy.level === 'write' ? METHODS : [...READ_METHODS, ...policy.readsWith]
}

function covers(rule: Rule, url: URL): boolean {
  if (url.protocol !== rule.protocol || url.port !== rule.port) return false
  return coversHost(rule, url.hostname) && coversPath(rule.path, url.pathname)
}

function coversHost({ wildcard, host }: Rule, hostname: string): boolean {
  if (!wildcard) return hostname === host
  const label = hostname.endsWith(`.${host}`) ? hostname.slice(0, -host.length - 1) : ''
  return label !== '' && !label.includes('.')
}

function coversPath(path: readonly (string | null)[], pathname: string): boolean {
  if (path.length === 0) return true
  const segments = pathname.split('/').slice(1).map(decodeSegment)
  // `%2F` stays in its segment here, but not on every server: `/api/..%2Fadmin` must not pass for /api.
  if (segments.some(climbs)) return false
  return path.every((wanted, index) => {
    const segment = segments[index]
    if (wanted === null) return segment !== undefined && segment !== ''
    return segment === wanted
  })
}

function adviceFor(url: URL, method: string, covering: readonly Rule[], policy: Policy): string {
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
