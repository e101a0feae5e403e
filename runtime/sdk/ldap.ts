/** Helpers for `ctx.ldap`: values of entries and of requests, DNs, writes that are done already. */
import { parseDn, writeDn } from '../contract/connector/dn.ts'
import type { LdapEntry, LdapValue } from '../contract/connector/ldap-context.ts'
import { ConnectorError } from './connector-error.ts'

/**
 * The values of an attribute, whose name is compared without case; none where it is not there.
 *
 * @example
 * const emails = valuesOf(entry, 'mail')
 */
export function valuesOf(entry: LdapEntry, attribute: string): string[] {
  const { attributes } = entry
  // Servers mostly write names as they were asked for.
  const asked = Object.hasOwn(attributes, attribute) ? attributes[attribute] : undefined
  if (asked !== undefined) return asked
  const wanted = attribute.toLowerCase()
  for (const name of Object.keys(attributes))
    if (name.length === wanted.length && name.toLowerCase() === wanted)
      return attributes[name] ?? []
  return []
}

/**
 * The first value of an attribute, or undefined.
 *
 * @example
 * const email = firstOf(entry, 'mail')
 */
export const firstOf = (entry: LdapEntry, attribute: string): string | undefined =>
  valuesOf(entry, attribute)[0]

/**
 * The named attributes that an entry has, as text; several values joined by commas. For custom attributes.
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
 * Attributes of the fields of a request, by a table of our names and the directory's. What is no text is left out. An
 * empty text is left out of an entry that is added, and takes the value of one that is changed.
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
 * The DN of an entry in another place, under the name that it has.
 *
 * @throws ConnectorError for what is no DN
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
 * The one spelling of a DN, for ids and comparisons: in lower case, without spaces between its parts, with one space for
 * several, and with every special character as `\\xx`. Servers write one DN in several ways, as the name of an entry and
 * as a member. Rare letters (`İ`, `ẞ`, `Ⅷ`, Georgian) stay as they are: OpenLDAP does not find an entry by their small ones.
 *
 * @returns null for what is no DN
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
 * Latin, Greek and Cyrillic capitals whose entries OpenLDAP 2.5 finds by the small letter, tried one by one: it knows
 * Unicode 3.2.
 */
const CAPITALS =
  /[A-Z\u00c0-\u00de\u0100-\u012e\u0132-\u017d\u0386-\u03ab\u0400-\u042f\u1e00-\u1e94\u1ea0-\u1ef8]/g

/** In lower case, each letter by itself: a Σ at the end of a word has another small letter than elsewhere. */
function folded(text: string): string {
  const lower = text.toLowerCase()
  // Most have no capitals, and most of the others nothing but ASCII.
  if (lower === text || /^[\0-\x7f]*$/.test(text)) return lower
  return text.replace(CAPITALS, (letter) => letter.toLowerCase())
}

/** A DN without anything that has two spellings: most are. */
const SIMPLE =
  /^[a-z][a-z0-9-]*=[a-z0-9._@-]+( [a-z0-9._@-]+)*(,[a-z][a-z0-9-]*=[a-z0-9._@-]+( [a-z0-9._@-]+)*)*$/

/**
 * Whether an entry lies below another one. Both are DNs as `plainDn` gives them.
 *
 * @example
 * if (!isBelow(dn, 'ou=people,dc=acme')) throw new ConnectorError('not_found', 'There is no such person')
 */
export const isBelow = (dn: string, base: string): boolean =>
  base !== '' && dn.endsWith(base) && dn[dn.length - base.length - 1] === ','

/**
 * Waits for a write, and takes these results of the directory for success: what makes a write safe to send twice.
 *
 * @returns whether it was the write that changed something
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
