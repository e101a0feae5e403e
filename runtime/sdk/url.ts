/** Addresses put together so that no value can change the structure around it. */
import { ConnectorError } from './connector-error.ts'
import { wholeText } from './whole-text.ts'

/** Query parameters: `undefined` and `null` are left out, an array repeats its name. */
export type Query = Record<
  string,
  string | number | boolean | null | undefined | readonly (string | number | boolean)[]
>

/** A path below a base address: text as written, or segments that are still to be encoded. */
export type Path = string | readonly (string | number)[]

/**
 * A path in which every inserted value is encoded as (a part of) one segment: an id that holds `/`,
 * `?` or `%` stays one.
 *
 * @throws bad_request for a value that is empty, or makes a segment `.` or `..`: it would name
 * another address. Also for half of a character (a lone surrogate).
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
 * The address of a path below a base address, with its query. An absolute address is taken as it is
 * when it has the base's origin, so that links to the next page can be followed.
 *
 * @throws bad_request for `.` and `..` in the path; permission_denied for another origin.
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
  // `/users/` with an empty id would be the list of all users, and a DELETE of who knows what.
  if (text === '') throw new ConnectorError('bad_request', 'An id in the address is empty')
  return encodeURIComponent(wholeText(text, 'An id in the address'))
}

/** Refuses what an address parser would resolve: `/users/..` is not below `/users`. */
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
 * Names and values, one pair for each that is sent.
 *
 * @throws bad_request for half of a character.
 */
export const valuesOf = (query: Query): [name: string, value: string][] =>
  Object.entries(query).flatMap(([name, value]) =>
    [value ?? []]
      .flat()
      .map((one): [string, string] => [name, wholeText(String(one), `The parameter ${name}`)]),
  )

/** Spaces become `%20`, which every server understands; `+` is a plus sign to some. */
function searchOf(query: Query): string {
  return valuesOf(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')
}
