/** Helpers for `ctx.ldap`: values of entries and requests, DNs, idempotent writes. */
import { isWithin, parseDn, writeDn } from '../contract/connector/dn.ts'
import type { LdapEntry, LdapValue } from '../contract/connector/ldap-context.ts'
import { ConnectorError } from './connector-error.ts'

/**
 * Returns the values of an attribute, ignoring the case of its name. An empty array if the entry does not
 * have it.
 *
 * @example
 * const emails = valuesOf(entry, 'mail')
 */
export function valuesOf(entry: LdapEntry, attribute: string): string[] {
  const { attributes } = entry
  // Most servers spell names as they were requested.
  const asked = Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined
  if (asked !== undefined) return asked
  const wanted = attribute.toLowerCase()
  for (const name of Object.keys(attributes))
    if (name.length === wanted.length && name.toLowerCase() === wanted)
      return attributes[name] ?? []
  return []
}

/**
 * Returns the first value of an attribute, or undefined.
 *
 * @example
 * const email = firstOf(entry, 'mail')
 */
export const firstOf = (entry: LdapEntry, attribute: string): string | undefined =>
  valuesOf(entry, attribute)[0]

/**
 * Returns those of the named attributes that an entry has, as text. Several values are joined by commas. For
 * custom attributes.
 *
 * @example
 * const custom_attributes = textsOf(entry, ['title', 'employeeNumber'])
 */
export const textsOf = (entry: LdapEntry, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const values = valuesOf(entry, name)
      return values.length === 0 ? [] : [[name, values.join(', ')] as const]
    }),
  )

/**
 * Converts fields of a request to attributes, by a table from our names to the directory's. Values that are
 * not text are omitted. An empty text is omitted when an entry is added, and removes the attribute when it is
 * changed.
 *
 * @example
 * const names = { email: 'mail', given_name: 'givenName' }
 * await ctx.ldap.modify(dn, [{ replace: attributesFrom(request, names, 'change') }])
 */
export function attributesFrom(
  fields: { readonly [field: string]: unknown },
  names: { readonly [field: string]: string },
  way: 'add' | 'change',
): Record<string, LdapValue[]> {
  const attributes: Record<string, LdapValue[]> = {}
  for (const [field, name] of Object.entries(names)) {
    const value = fields[field]
    if (typeof value !== 'string' || (value === '' && way === 'add')) continue
    attributes[name] = value === '' ? [] : [value]
  }
  return attributes
}

/**
 * Returns the DN that an entry has after it is moved below another entry under its current name.
 *
 * @throws ConnectorError `invalid_value` if the text is not a DN
 *
 * @example
 * await ctx.ldap.move(entry.dn, movedDn(entry.dn, 'ou=left,dc=acme'))
 */
export function movedDn(dn: string, place: string): string {
  const [name] = parseDn(dn) ?? []
  if (name === undefined) throw new ConnectorError('invalid_value', `${dn} is no DN`)
  return `${writeDn([name])},${place}`
}

/**
 * Returns the canonical spelling of a DN, for ids and comparisons: in lower case, without spaces between its
 * parts, with runs of spaces collapsed, and with every special character as `\\xx`. Servers spell the same DN
 * differently as the name of an entry and as a member. Rare letters (`İ`, `ẞ`, `Ⅷ`, Georgian) keep their
 * case: OpenLDAP does not find an entry by their lower-case form.
 *
 * @returns null if the text is not a DN
 *
 * @example
 * const id = plainDn(entry.dn)
 */
export function plainDn(text: string): string | null {
  const lower = folded(text)
  if (SIMPLE.test(lower)) return lower
  const dn = parseDn(lower)
  if (dn === null || dn.length === 0) return null
  const plain = dn.map((avas) =>
    avas.map((one) => ({ ...one, value: one.value.replace(/ +/g, ' ') })),
  )
  return folded(writeDn(plain))
}

/**
 * Latin, Greek and Cyrillic capitals whose entries OpenLDAP 2.5, which implements Unicode 3.2, finds by the
 * lower-case letter. Each was tried.
 */
const CAPITALS =
  /[A-Z\u00c0-\u00de\u0100-\u012e\u0132-\u017d\u0386-\u03ab\u0400-\u042f\u1e00-\u1e94\u1ea0-\u1ef8]/g

/** Lower-cases each letter by itself: a final Σ has another lower-case form than elsewhere. */
function folded(text: string): string {
  const lower = text.toLowerCase()
  // Most DNs have no capitals, and most of the others are ASCII.
  if (lower === text || /^[\0-\x7f]*$/.test(text)) return lower
  return text.replace(CAPITALS, (letter) => letter.toLowerCase())
}

/** Matches a DN that has only one spelling, as most do. */
const SIMPLE =
  /^[a-z][a-z0-9-]*=[a-z0-9._@-]+( [a-z0-9._@-]+)*(,[a-z][a-z0-9-]*=[a-z0-9._@-]+( [a-z0-9._@-]+)*)*$/

/** Matches a DN in which more than the case of letters may differ from its canonical spelling. */
const ODD = /["+]|\\(?!0[0-9a-f]|1[0-9a-f]|2[23bc]|3[b-e]|5c|7f)|[,=] | [,=]| {2}|^ | $/

/**
 * Reports whether an entry is below another one. Both must be DNs, in any spelling: case, spaces, escapes and
 * the order of a name of several attributes (`cn=a+ou=b`) do not matter.
 *
 * @example
 * if (!isBelow(dn, 'ou=people,dc=acme')) throw new ConnectorError('not_found', 'There is no such person')
 */
export function isBelow(dn: string, base: string): boolean {
  const above = plainDn(base)
  if (above === null) return false
  // Parsing takes ten times as long, and a listing compares the members of all groups.
  const entry = ODD.test(dn) ? plainDn(dn) : folded(dn)
  if (entry === null || !above.includes('+')) return entry?.endsWith(`,${above}`) ?? false
  const [parts, tail] = [parseDn(entry), parseDn(above)]
  return parts !== null && tail !== null && parts.length > tail.length && isWithin(parts, tail)
}

/**
 * Awaits a write and treats the given results of the directory as success. This makes the write idempotent.
 *
 * @returns true if this write made the change, false if the directory answered with one of `results`
 *
 * @example
 * await unlessAlready(ctx.ldap.modify(group, [{ add: { member: [dn] } }]), 'attributeOrValueExists')
 */
export async function unlessAlready(
  write: Promise<unknown>,
  ...results: string[]
): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    const code = Object(error).app_error_code
    if (typeof code === 'string' && results.includes(code)) return false
    throw error
  }
}
