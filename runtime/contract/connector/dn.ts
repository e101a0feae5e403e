/**
 * Distinguished names (RFC 4514): parsing, comparing and writing. Every function is linear in its text. A DN
 * is checked in parsed form and written again before it is sent, so that a server reads the DN that was
 * checked. The SDK bundles this file, so it uses nothing of Node.
 */

/** One naming attribute: its type in lower case, and its value. */
type Ava = { type: string; value: string }
/** A DN, most specific part first. A part has several attributes only if they are joined by `+`. */
export type Dn = readonly (readonly Ava[])[]

const TYPE = /^(?:[A-Za-z][A-Za-z0-9-]{0,62}|[0-9]{1,10}(?:\.[0-9]{1,10}){1,20})$/
const HEX = /^[0-9A-Fa-f]{2}$/
/** Characters that a backslash escapes as themselves. */
const ESCAPABLE = ' "#+,;<=>\\'
/** Characters not allowed in a value without a backslash. */
const REFUSED = '"+,;<>'

/** Maximum number of parts of a DN. */
const MAX_PARTS = 64

/**
 * Parses a DN. Returns null for text that is not a DN, such as one with a lone surrogate. The empty text
 * is the root, a DN without parts.
 */
export function parseDn(text: string): Dn | null {
  if (text === '') return []
  if (!text.isWellFormed()) return null
  const dn: Ava[][] = []
  let avas: Ava[] = []
  let at = 0
  for (;;) {
    while (text[at] === ' ') at += 1
    const equals = text.indexOf('=', at)
    // Types are short. The bound keeps a text without `=` from being searched again for each part.
    if (equals === -1 || equals - at > 256) return null
    const type = text.slice(at, equals).trimEnd()
    if (!TYPE.test(type)) return null
    const read = readValue(text, equals + 1)
    if (read === null) return null
    avas.push({ type: type.toLowerCase(), value: read.value })
    const end = text[read.at]
    at = read.at + 1
    if (end === '+') continue
    dn.push(avas)
    avas = []
    if (end === undefined) return dn
    if (dn.length === MAX_PARTS) return null
  }
}

/** Reads a value up to `,`, `+` or the end. `;` as a separator (the older form of RFC 2253) is refused. */
function readValue(text: string, start: number): { value: string; at: number } | null {
  let at = start
  while (text[at] === ' ') at += 1
  // `#hex` is BER, which is not supported.
  if (text[at] === '#') return null
  /** The value in percent-encoding, which can mix bytes given in hex with characters. */
  let encoded = ''
  /** Characters that are not encoded yet. */
  let plain = ''
  /** Number of unescaped spaces at the end. They do not belong to the value. */
  let spaces = 0
  for (; at < text.length && text[at] !== ',' && text[at] !== '+'; at += 1) {
    const character = text.charAt(at)
    if (character !== '\\') {
      if (REFUSED.includes(character) || character === '\u0000') return null
      plain += character
      spaces = character === ' ' ? spaces + 1 : 0
      continue
    }
    spaces = 0
    const pair = text.slice(at + 1, at + 3)
    const next = text[at + 1] ?? ''
    if (HEX.test(pair)) {
      encoded += `${encodeURIComponent(plain)}%${pair}`
      plain = ''
      at += 2
    } else if (next !== '' && ESCAPABLE.includes(next)) {
      plain += next
      at += 1
    } else return null
  }
  const decoded = encoded === '' ? plain : decode(encoded + encodeURIComponent(plain))
  if (decoded === null) return null
  const value = spaces === 0 ? decoded : decoded.slice(0, -spaces)
  return value === '' ? null : { value, at }
}

/** Decodes percent-encoded text; null if its bytes are not UTF-8. */
function decode(encoded: string): string | null {
  if (!encoded.includes('%')) return encoded
  try {
    return decodeURIComponent(encoded)
  } catch {
    // A value that is not UTF-8 cannot be compared.
    return null
  }
}

/** Writes a DN with every special character as `\XX`, so that no reader can take one for a separator. */
export const writeDn = (dn: Dn): string =>
  dn
    .map((avas) => avas.map(({ type, value }) => `${type}=${escapeDnValue(value)}`).join('+'))
    .join(',')

/** Escapes a value for use in a DN. */
export const escapeDnValue = (value: string): string =>
  value
    .replace(/[\u0000-\u001f"#+,;<=>\\\u007f]/g, hexOf)
    .replace(/^ /, '\\20')
    .replace(/ $/, '\\20')

const hexOf = (character: string): string =>
  `\\${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`

/**
 * Reports whether a DN is the base or below it. ASCII letters are compared without case, runs of spaces as
 * one space.
 */
export function isWithin(dn: Dn, base: Dn): boolean {
  if (dn.length < base.length) return false
  const tail = dn.slice(dn.length - base.length)
  return tail.every((avas, index) => keyOf(avas) === keyOf(base[index] ?? []))
}

/** Returns a key that is the same for all spellings of one part. */
const keyOf = (avas: readonly Ava[]): string =>
  avas
    .map(({ type, value }) => JSON.stringify([type, folded(value)]))
    .sort()
    .join('+')

/** Folds only differences that every server ignores: this comparison decides where a connector may write. */
const folded = (value: string): string =>
  value
    .trim()
    .replace(/ +/g, ' ')
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
