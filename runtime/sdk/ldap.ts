/** Helpers for `ctx.ldap`: values of entries, Active Directory's ids as text, writes that are done already. */
import { parseDn, writeDn } from '../contract/connector/dn.ts'
import type { LdapEntry } from '../contract/connector/ldap-context.ts'

/**
 * The values of an attribute, whose name is compared without case; none where it is not there.
 *
 * @example
 * const emails = valuesOf(entry, 'mail')
 */
export function valuesOf(entry: LdapEntry, attribute: string): string[] {
  const wanted = attribute.toLowerCase()
  for (const [name, values] of Object.entries(entry.attributes))
    if (name.toLowerCase() === wanted) return values
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
 * The one spelling of a DN, for ids and comparisons: in lower case, without spaces between its parts, and with every
 * special character as `\\xx`. Servers write one DN in several ways, as the name of an entry and as a member.
 *
 * @returns null for what is no DN
 *
 * @example
 * const id = plainDn(entry.dn)
 */
export function plainDn(text: string): string | null {
  const lower = text.toLowerCase()
  if (SIMPLE.test(lower)) return lower
  const dn = parseDn(lower)
  return dn === null || dn.length === 0 ? null : writeDn(dn).toLowerCase()
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
export const isBelow = (dn: string, base: string): boolean => base !== '' && dn.endsWith(`,${base}`)

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

/**
 * A GUID in its usual form of an `objectGUID` in base64; the first three groups are stored backwards.
 *
 * @example
 * const id = guidText(firstOf(entry, 'objectGUID') ?? '')
 */
export function guidText(base64: string): string {
  const hex = [...bytesOf(base64)].map((byte) => byte.toString(16).padStart(2, '0'))
  const order = [3, 2, 1, 0, -1, 5, 4, -1, 7, 6, -1, 8, 9, -1, 10, 11, 12, 13, 14, 15]
  return order.map((at) => (at === -1 ? '-' : (hex[at] ?? '00'))).join('')
}

/**
 * A SID in its usual form (`S-1-5-21-...`) of an `objectSid` in base64.
 *
 * @example
 * const sid = sidText(firstOf(entry, 'objectSid') ?? '')
 */
export function sidText(base64: string): string {
  const bytes = bytesOf(base64)
  const at = (index: number): number => bytes[index] ?? 0
  let authority = 0
  for (let index = 2; index < 8; index += 1) authority = authority * 256 + at(index)
  const parts = ['S', at(0), authority]
  for (let index = 0; index < at(1); index += 1) {
    const start = 8 + 4 * index
    parts.push(
      at(start) + at(start + 1) * 2 ** 8 + at(start + 2) * 2 ** 16 + at(start + 3) * 2 ** 24,
    )
  }
  return parts.join('-')
}

const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
