/** Builds addresses in which no value can change the structure around it. */
import { ConnectorError } from './connector-error.ts'
import { wholeText } from './whole-text.ts'

/** Query parameters. `undefined` and `null` are omitted; an array repeats its name. */
export type Query = Record<
  string,
  string | number | boolean | null | undefined | readonly (string | number | boolean)[]
>

/** A path below a base address: text that is used as it is, or segments that will be encoded. */
export type Path = string | readonly (string | number)[]

/**
 * Template tag for a path. Every inserted value is encoded as one segment, or as part of one, even if it
 * contains `/`, `?` or `%`.
 *
 * @throws bad_request if a value is empty or contains a lone surrogate, or if a segment becomes `.` or `..`,
 *   which would name another address
 *
 * @example
 * const user = await api.get(path`/users/${request.account_id}`)
 */
export function path(literals: TemplateStringsArray, ...values: (string | number)[]): string {
  const text = literals.reduce(
    (before, literal, i) => `${before}${encodeSegment(values[i - 1] ?? '')}${literal}`,
  )
  return withoutDots(text)
}

/**
 * Returns the address of a path below a base address, with its query. An absolute address of the same origin
 * is used as it is, so that links to the next page can be followed.
 *
 * @throws bad_request if the path contains `.` or `..`; permission_denied for another origin
 */
export function joinUrl(baseUrl: string | URL, target: Path, query: Query = {}): string {
  const base = String(baseUrl).replace(/\/+$/, '')
  const address =
    typeof target === 'string' && ABSOLUTE.test(target)
      ? sameOrigin(base, target)
      : base + withSlash(typeof target === 'string' ? withoutDots(target) : segments(target))
  const search = searchOf(query)
  return search === '' ? address : `${address}${address.includes('?') ? '&' : '?'}${search}`
}

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:/i
const DOTS = /(?:^|[/\\])(?:\.|%2e){1,2}(?=[/\\?#]|$)/i

const withSlash = (text: string): string => (/^[/?]/.test(text) || text === '' ? text : `/${text}`)

const segments = (values: readonly (string | number)[]): string =>
  withoutDots(values.map(encodeSegment).join('/'))

function encodeSegment(value: string | number): string {
  const text = String(value)
  // With an empty id, `/users/` would address the list of all users, also for DELETE.
  if (text === '') throw new ConnectorError('bad_request', 'An id in the address is empty')
  return encodeURIComponent(wholeText(text, 'An id in the address'))
}

/** Rejects segments that a URL parser would resolve: `/users/..` is not below `/users`. */
function withoutDots(text: string): string {
  if (DOTS.test(text.replace(/[?#][\s\S]*$/, '')))
    throw new ConnectorError('bad_request', 'An id in the address is . or ..')
  return text
}

function sameOrigin(base: string, target: string): string {
  const { origin } = new URL(base)
  if (!URL.canParse(target) || new URL(target).origin !== origin) {
    throw new ConnectorError(
      'permission_denied',
      `This client sends to ${origin} only, and was given another origin`,
    )
  }
  return target
}

/**
 * Returns the names and values to send, one pair each.
 *
 * @throws bad_request if a value contains a lone surrogate
 */
export const valuesOf = (query: Query): [name: string, value: string][] =>
  Object.entries(query).flatMap(([name, value]) =>
    [value ?? []]
      .flat()
      .map((one): [string, string] => [name, wholeText(String(one), `The parameter ${name}`)]),
  )

/** Encodes a query. Spaces become `%20`, since some servers read `+` as a plus sign. */
function searchOf(query: Query): string {
  return valuesOf(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
}
