/**
 * Judges the bytes of a server's message before the library reads them. Lengths that do not add up make it
 * read forever. Each byte of a header is read once; values are skipped.
 *
 * Source: RFC 4511 section 4.1 and appendix B.
 */

export const SEQUENCE = 0x30
export const SET = 0x31
export const INTEGER = 0x02
export const OCTETS = 0x04
const ENUMERATED = 0x0a
const CONTROLS = 0xa0
export const ENTRY = 0x64
const REFERENCE = 0x73
/** Messages that end an operation: bind, search done, modify, add, delete, modify DN, extended. */
const RESULTS: readonly number[] = [0x61, 0x65, 0x67, 0x69, 0x6b, 0x6d, 0x78]

/** Well-formed message. `elements` is its number of values, names and lists. */
type Shape = { kind: 'entry' | 'reference' | 'result'; elements: number }

/** Returns the shape of a message, or null if it is malformed, or of a kind that no client receives. */
export function shapeOf(bytes: Buffer): Shape | null {
  let elements = 0

  /** Returns the elements between two offsets, or null if they do not fill the space exactly. */
  function children(start: number, stop: number): Element[] | null {
    const all: Element[] = []
    for (let at = start; at < stop; ) {
      const one = readElement(bytes, at, stop)
      if (one === null) return null
      elements += 1
      all.push(one)
      at = one.stop
    }
    return all
  }

  /** Reports whether an element is a list with this tag whose parts are all valid. */
  const isList = (
    { tag, start, stop }: Element,
    wanted: number,
    isPart: (one: Element) => boolean,
  ): boolean => tag === wanted && (children(start, stop)?.every(isPart) ?? false)

  const isOctets = ({ tag }: Element) => tag === OCTETS
  const isAttribute = ({ tag, start, stop }: Element): boolean => {
    if (tag !== SEQUENCE) return false
    const parts = children(start, stop)
    const [name, values] = parts ?? []
    return (
      parts?.length === 2 &&
      name?.tag === OCTETS &&
      values !== undefined &&
      isList(values, SET, isOctets)
    )
  }
  const isControl = (one: Element): boolean =>
    isList(one, SEQUENCE, ({ tag }) => tag === OCTETS || tag === 0x01)
  const isNumber = (one: Element | undefined, tag: number): boolean =>
    one?.tag === tag && one.stop - one.start >= 1 && one.stop - one.start <= 4

  function kindOf({ tag, start, stop }: Element): Shape['kind'] | null {
    const parts = children(start, stop)
    if (parts === null) return null
    const [first, second, third] = parts
    if (tag === REFERENCE) return parts.length > 0 && parts.every(isOctets) ? 'reference' : null
    if (tag === ENTRY) {
      const isEntry = parts.length === 2 && first?.tag === OCTETS && second !== undefined
      return isEntry && isList(second, SEQUENCE, isAttribute) ? 'entry' : null
    }
    const isResult =
      RESULTS.includes(tag) &&
      isNumber(first, ENUMERATED) &&
      second?.tag === OCTETS &&
      third?.tag === OCTETS
    return isResult ? 'result' : null
  }

  const whole = readElement(bytes, 0, bytes.length)
  if (whole === null || whole.tag !== SEQUENCE || whole.stop !== bytes.length) return null
  const parts = children(whole.start, whole.stop)
  const [id, operation, controls] = parts ?? []
  if (parts === null || parts.length > 3 || !isNumber(id, INTEGER) || operation === undefined)
    return null
  if (controls !== undefined && !isList(controls, CONTROLS, isControl)) return null
  const kind = kindOf(operation)
  return kind === null ? null : { kind, elements }
}

/** One element: its tag, and the offsets of its contents. */
type Element = { tag: number; start: number; stop: number }

function readElement(bytes: Buffer, at: number, stop: number): Element | null {
  const header = readHeader(bytes.subarray(at, stop))
  if (header === null || header === 'short') return null
  const start = at + header.headerBytes
  return start + header.contentBytes > stop
    ? null
    : { tag: bytes[at] ?? 0, start, stop: start + header.contentBytes }
}

/**
 * Returns the sizes that the first bytes of an element announce; `short` if the header is incomplete, null if
 * the length is malformed.
 */
export function readHeader(
  bytes: Buffer,
): { headerBytes: number; contentBytes: number } | 'short' | null {
  const first = bytes[1]
  if (first === undefined) return 'short'
  if (first < 0x80) return { headerBytes: 2, contentBytes: first }
  const more = first & 0x7f
  if (more === 0 || more > 4) return null
  if (bytes.length < 2 + more) return 'short'
  return { headerBytes: 2 + more, contentBytes: bytes.readUIntBE(2, more) }
}

/**
 * Returns the size of the element at an offset, in bytes; `short` if its header is incomplete, null if the
 * length is malformed.
 */
export function sizeAt(bytes: Buffer, at: number): number | 'short' | null {
  const first = bytes[at + 1]
  if (first !== undefined && first < 0x80) return 2 + first
  const sizes = readHeader(bytes.subarray(at))
  return typeof sizes === 'object' && sizes !== null
    ? sizes.headerBytes + sizes.contentBytes
    : sizes
}

/** Control of paged results (RFC 2696). */
export const PAGES_OID = '1.2.840.113556.1.4.319'
const PAGES = Buffer.from(PAGES_OID)

/** Returns the cookie of a search's next page from a well-formed result, or null if there is none. */
export function pageCookie(bytes: Buffer): Buffer | null {
  const found = bytes.lastIndexOf(PAGES)
  if (found === -1) return null
  let at = found + PAGES.length
  // Criticality may precede the value.
  if (bytes[at] === 0x01) at = readElement(bytes, at, bytes.length)?.stop ?? bytes.length
  const value = readElement(bytes, at, bytes.length)
  const list = value === null ? null : readElement(bytes, value.start, value.stop)
  const size = list === null ? null : readElement(bytes, list.start, list.stop)
  const cookie = list && size ? readElement(bytes, size.stop, list.stop) : null
  if (cookie === null || cookie.tag !== OCTETS || cookie.stop === cookie.start) return null
  return Buffer.from(bytes.subarray(cookie.start, cookie.stop))
}

/** Unsolicited notice of a server: result code and text. */
export type Notice = { code: number; serverText: string }

/** Tag of an extended response. */
const EXTENDED = 0x78

/**
 * Returns the notice that a server sends before it disconnects, from a well-formed message; null for the
 * answer to a request. Its message id is 0, which no request has (RFC 4511 section 4.4).
 */
export function noticeOf(bytes: Buffer): Notice | null {
  const whole = readElement(bytes, 0, bytes.length)
  const id = whole && readElement(bytes, whole.start, whole.stop)
  if (whole === null || id === null || bytes.subarray(id.start, id.stop).some((byte) => byte !== 0))
    return null
  const operation = readElement(bytes, id.stop, whole.stop)
  if (operation?.tag !== EXTENDED) return null
  const result = readElement(bytes, operation.start, operation.stop)
  const name = result && readElement(bytes, result.stop, operation.stop)
  const message = name && readElement(bytes, name.stop, operation.stop)
  if (result === null || message === null) return null
  return {
    code: bytes.readUIntBE(result.start, result.stop - result.start),
    serverText: bytes.toString('utf8', message.start, message.stop),
  }
}
