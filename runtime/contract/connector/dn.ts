/**
 * Distinguished names (RFC 4514): read, compared and written. Every function looks at each character once. What is
 * judged is written again before it is sent, so that a server reads what was judged. The SDK bundles this file, so it
 * knows nothing of Node.
 */

/** One naming attribute: its type in lower case, and its value. */
type Ava = { type: string; value: string }
/** A DN: the most specific part first; a part has several attributes only where they are joined by `+`. */
export type Dn = readonly (readonly Ava[])[]

const TYPE = /^(?:[A-Za-z][A-Za-z0-9-]{0,62}|[0-9]{1,10}(?:\.[0-9]{1,10}){1,20})$/
const HEX = /^[0-9A-Fa-f]{2}$/
/** What stands behind a backslash as itself. */
const ESCAPABLE = ' "#+,;<=>\\'
/** What must not stand in a value without a backslash. */
const REFUSED = '"+,;<>'

/** Most parts of a DN. */
const MAX_PARTS = 64

/** Reads a DN; null for what is none, such as half of a character. The empty text is the root, which is read as no parts. */
export function parseDn(text: string): Dn | null {
  if (text === '') return []
  if (!text.isWellFormed()) return null
  const dn: Ava[][] = []
  let avas: Ava[] = []
  let at = 0
  for (;;) {
    while (text[at] === ' ') at += 1
    const equals = text.indexOf('=', at)
    // Types are short: a text without `=` is not looked through again for each part.
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

/** A value up to `,`, `+` or the end; `;` as a separator (RFC 2253's older form) is refused. */
function readValue(text: string, start: number): { value: string; at: number } | null {
  let at = start
  while (text[at] === ' ') at += 1
  // `#hex`: BER, which nobody here reads.
  if (text[at] === '#') return null
  /** The value as in an address: bytes that are written in hex stand beside characters. */
  let encoded = ''
  /** What was not encoded yet. */
  let plain = ''
  /** Spaces at the end that are not escaped: they do not belong to the value. */
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

/** The text of what is encoded as in an address; null where its bytes are no UTF-8. */
function decode(encoded: string): string | null {
  if (!encoded.includes('%')) return encoded
  try {
    return decodeURIComponent(encoded)
  } catch {
    // What is no UTF-8 is no value that can be compared.
    return null
  }
}

/**
 * Writes a DN with every special character as `\XX`: no reader can take one for a separator.
 */
export const writeDn = (dn: Dn): string =>
  dn
    .map((avas) => avas.map(({ type, value }) => `${type}=${escapeDnValue(value)}`).join('+'))
    .join(',')

/** A value as it stands in a DN. */
export const escapeDnValue = (value: string): string =>
  value
    .replace(/[\u0000-\u001f"#+,;<=>\\\u007f]/g, hexOf)
    .replace(/^ /, '\\20')
    .replace(/ $/, '\\20')

const hexOf = (character: string): string =>
  `\\${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`

/** Whether a DN is the base or below it. Letters are compared without case (ASCII), spaces as one. */
export function isWithin(dn: Dn, base: Dn): boolean {
  if (dn.length < base.length) return false
  const tail = dn.slice(dn.length - base.length)
  return tail.every((avas, index) => keyOf(avas) === keyOf(base[index] ?? []))
}

/** What two spellings of one part have in common. */
const keyOf = (avas: readonly Ava[]): string =>
  avas
    .map(({ type, value }) => JSON.stringify([type, folded(value)]))
    .sort()
    .join('+')

/** Only what all servers take for alike: what is judged here is where a connector may write. */
const folded = (value: string): string =>
  value
    .trim()
    .replace(/ +/g, ' ')
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
