/** Ids of Active Directory: binary in the directory and in filters, text for people. */

/**
 * Returns the usual text form of an `objectGUID` given in base64. Its first three groups are stored
 * little-endian.
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
 * Returns the usual text form (`S-1-5-21-...`) of an `objectSid` given in base64.
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

/**
 * Returns the bytes of a GUID as a filter value, or null if the text is not a GUID.
 *
 * @example
 * const value = guidValue(request.account_id)
 * const filter: LdapFilter | null = value && { eq: ['objectGUID', value] }
 */
export function guidValue(text: string): { base64: string } | null {
  if (!GUID.test(text)) return null
  const hex = text.replaceAll('-', '')
  const byte = (at: number): number => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16)
  const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15]
  return { base64: base64Of(order.map(byte)) }
}

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * Returns the bytes of a SID as a filter value, or null if the text is not a SID.
 *
 * @example
 * const group = sidValue(`S-1-5-21-1-2-3-${firstOf(entry, 'primaryGroupID')}`)
 */
export function sidValue(text: string): { base64: string } | null {
  const [revision, authority, ...parts] = SID.test(text) ? text.split('-').slice(1).map(Number) : []
  if (revision === undefined || authority === undefined) return null
  const bytes = [revision, parts.length]
  for (let power = 5; power >= 0; power -= 1) bytes.push(Math.floor(authority / 256 ** power) % 256)
  for (const part of parts)
    for (let power = 0; power < 4; power += 1) bytes.push(Math.floor(part / 256 ** power) % 256)
  return { base64: base64Of(bytes) }
}

const SID = /^S-\d{1,3}-\d{1,15}(-\d{1,10}){1,15}$/

const bytesOf = (base64: string): Uint8Array =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

const base64Of = (bytes: readonly number[]): string => btoa(String.fromCharCode(...bytes))
