/**
 * Reads a request of `ctx.ldap`, whose form and filters LDAP_REQUESTS checks, and judges the entries that it
 * touches and refers to.
 */
import { type Dn, parseDn } from '../../contract/connector/dn.ts'
import {
  DN_ATTRIBUTES,
  LDAP_LIMITS,
  LDAP_REQUESTS,
  type LdapRequest,
  operationOf,
  PASSWORD_ATTRIBUTES,
  URL_ATTRIBUTES,
} from '../../contract/connector/ldap.ts'
import type { LdapValue } from '../../contract/connector/ldap-context.ts'
import { RuntimeError } from '../../contract/errors/errors.ts'
import { judgeLdap, type LdapTarget, mayReferTo } from '../rules/ldap-rules.ts'
import { readBody } from '../wire/request-body.ts'

/**
 * Parses the body of a request.
 *
 * @throws context_misused if it is not a request, egress_url outside of ctx.ldap, egress_body if it is too
 * large; the messages contain no values.
 * directory_refused for a lone surrogate, which would be sent as another character: `noSuchObject` if it is
 * in the name of the entry.
 */
export function readLdapRequest(method: string, body: Uint8Array | null): LdapRequest {
  const operation = operationOf(method)
  const request = readBody({ bridge: 'ldap', operation, schemas: LDAP_REQUESTS }, body)
  if (isWhole(request)) return request
  const names = request.operation === 'search' ? [request.base ?? ''] : [request.dn]
  const [wire, appErrorCode] = names.every((name) => name.isWellFormed())
    ? (['invalid_value', 'invalidAttributeSyntax'] as const)
    : (['not_found', 'noSuchObject'] as const)
  const message = 'A text of the request holds half of a character (a lone surrogate)'
  throw new RuntimeError('directory_refused', message, { wire, appErrorCode })
}

/** Reports whether all texts in a value are well-formed. Names of members are ASCII by the schemas. */
const isWhole = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.isWellFormed()
    : Object(value) !== value || Object.values(Object(value)).every(isWhole)

/**
 * Returns the target that allows the whole request: its entry, the entry's new name, and the entries that it
 * refers to.
 *
 * @throws egress_undeclared, egress_url, context_misused
 */
export function judgeLdapRequest(request: LdapRequest, targets: readonly LdapTarget[]): LdapTarget {
  if (request.operation === 'search') {
    const base = request.base ?? null
    return judgeLdap('search', base === null ? null : read(base), targets)
  }
  const target = judgeLdap(request.operation, read(request.dn), targets)
  if (request.operation === 'modifyDN') judgeLdap('modifyDN', read(request.to), [target])
  for (const [name, values] of [...namingOf(request), ...valuesOf(request)])
    judgeValues(name, values, target)
  return target
}

/**
 * @throws egress_undeclared for values that name an entry outside, and for passwords that may not be set;
 * context_misused for one that is no DN; egress_url
 */
function judgeValues(name: string, values: readonly LdapValue[], target: LdapTarget): void {
  const [bare = ''] = name.toLowerCase().split(';')
  // A number, such as 2.5.4.31, is another name of an attribute. The kind of its values would be unknown.
  if (bare.includes('.'))
    throw new RuntimeError('egress_url', 'An attribute is written by its name, not by its number')
  if (PASSWORD_ATTRIBUTES.includes(bare) && !target.operations.includes('password'))
    throw new RuntimeError(
      'egress_undeclared',
      `Values of ${name} are passwords: ${target.field} (${target.baseText}) allows ${target.operations.join(', ')}. Add "password" to its "operations"`,
    )
  if (URL_ATTRIBUTES.includes(bare)) return judgeUrls(name, values, target)
  if (!DN_ATTRIBUTES.includes(bare)) return
  for (const value of values) {
    const dn = typeof value === 'string' ? parseDn(value) : null
    if (dn === null)
      throw new RuntimeError(
        'context_misused',
        `A value of ${name} is no DN: build it with ctx.ldap.dn, or look the entry up first`,
      )
    if (mayReferTo(dn, target)) continue
    throw new RuntimeError(
      'egress_undeclared',
      `A value of ${name} lies outside ${target.baseText}: values of ${name} lie below the "base" of ${target.field}, or below one of its "references"`,
    )
  }
}

/** `ldap:///ou=people,dc=acme??sub?(uid=*)`: the server, and the percent-encoded DN (RFC 4516). */
const LDAP_URL = /^\s*ldap[a-z]*:(?:\/\/([^/?]*))?\/?([^?]*)/i

/** @throws egress_undeclared for a URL of another server, or of an entry outside */
function judgeUrls(name: string, values: readonly LdapValue[], target: LdapTarget): void {
  for (const value of values) {
    const [found, server = '', encoded = ''] = LDAP_URL.exec(textOf(value)) ?? []
    // A URL of a web page refers to no entry.
    if (found === undefined) continue
    const dn = server === '' ? decoded(encoded) : null
    if (dn !== null && dn.length > 0 && mayReferTo(dn, target)) continue
    throw new RuntimeError(
      'egress_undeclared',
      `A value of ${name} ${server === '' ? `lies outside ${target.baseText}` : 'names a server'}: write ldap:///DN, with a DN below the "base" of ${target.field}, or below one of its "references"`,
    )
  }
}

/** Returns a value as a server reads it: bytes are text to it as well. */
const textOf = (value: LdapValue): string =>
  typeof value === 'string' ? value : Buffer.from(value.base64, 'base64').toString('utf8')

function decoded(encoded: string): Dn | null {
  try {
    return parseDn(decodeURIComponent(encoded))
  } catch {
    // The percent-encoding is invalid.
    return null
  }
}

/**
 * Returns the attributes that an entry gets with its new name: a server adds those that the name consists of.
 */
function namingOf(request: LdapRequest): [string, LdapValue[]][] {
  const { operation } = request
  if (operation !== 'add' && operation !== 'modifyDN') return []
  const [first = []] = read(operation === 'add' ? request.dn : request.to)
  return first.map(({ type, value }) => [type, [value]])
}

function read(text: string): Dn {
  const dn = parseDn(text)
  if (dn?.length === 0)
    throw new RuntimeError('egress_undeclared', 'The root of a directory is not below any "base"')
  if (dn !== null) return dn
  throw new RuntimeError(
    'context_misused',
    'A DN of the request cannot be read: build it with ctx.ldap.dn',
  )
}

/** Returns all attributes that a request sends. @throws egress_body for too many values */
function valuesOf(request: LdapRequest): [string, LdapValue[]][] {
  const all: [string, LdapValue[]][] =
    request.operation === 'add'
      ? Object.entries(request.attributes)
      : request.operation === 'modify'
        ? request.changes.flatMap((change) =>
            Object.values<Record<string, LdapValue[]>>(change).flatMap((one) =>
              Object.entries(one),
            ),
          )
        : []
  const count = all.reduce((sum, [, values]) => sum + values.length, 0)
  if (count > LDAP_LIMITS.maxValues)
    throw new RuntimeError(
      'egress_body',
      `A request of ctx.ldap may have ${LDAP_LIMITS.maxValues} values`,
    )
  return all
}

/** Returns the names and sizes of a request, without values, for its record. */
export function describeRequest(request: LdapRequest): string {
  const parameters: Record<string, string> = {}
  if (request.operation === 'search') {
    parameters['scope'] = request.scope
    if (request.attributes) parameters['attributes'] = request.attributes.join(',')
    if (request.page.cursor) parameters['page'] = 'next'
  } else {
    const all = valuesOf(request)
    if (all.length > 0)
      parameters['attributes'] = [
        ...new Set(all.map(([name, { length }]) => `${name}:${length}`)),
      ].join(',')
  }
  const text = Object.entries(parameters)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  return text === '' ? '' : `?${text.slice(0, 200)}`
}
