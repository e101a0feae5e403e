/** Reads the segments of a path as the most lenient server would: what climbs anywhere, climbs here. */

/** Layers of percent-encoding that are undone; more of them are no data but an attack on decoders. */
const MAX_DECODINGS = 8

/** One byte, as `%2e` or, as some servers read it, `%u002e`. */
const ENCODED_BYTE = /%(?:u00)?([0-9a-f]{2})/gi

/** An ASCII character in an overlong UTF-8 form (`%c0%af` for `/`), by the bit above its last byte. */
const OVERLONG: readonly (readonly [RegExp, highBit: number])[] = [
  [/(?:\xc0|\xe0\x80|\xf0\x80\x80|\xf8\x80\x80\x80|\xfc\x80{4})([\x80-\xbf])/g, 0],
  [/(?:\xc1|\xe0\x81|\xf0\x80\x81|\xf8\x80\x80\x81|\xfc\x80{3}\x81)([\x80-\xbf])/g, 0x40],
]

/**
 * The percent-decoded segments of a request's path, or `null` for a path that no entry with a path may
 * cover: one that climbs, and one with a `%` that is no percent-encoded UTF-8. `%2F` stays inside its
 * segment here, but not on every server: `/api/..%2Fadmin` must not pass for /api.
 */
export function readSegments(pathname: string): readonly string[] | null {
  const segments: string[] = []
  for (const written of pathname.split('/').slice(1)) {
    const segment = decodeSegment(written)
    if (segment === null || climbs(segment)) return null
    segments.push(segment)
  }
  return segments
}

/** Percent-decodes a segment once; `null` where a `%` in it is no percent-encoded UTF-8. */
export function decodeSegment(segment: string): string | null {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not an error: the caller says what a segment such as `%zz` or `%ff` is worth.
    return null
  }
}

/**
 * True for a decoded segment that climbs, or that a lenient server takes for one that does: `..`,
 * `..;x`, `../x` (sent as `..%2Fx`), one with NUL or white space in it, in overlong or full-width
 * characters, and all of these encoded any number of times.
 */
export function climbs(segment: string): boolean {
  // Most segments; a dot that is not written as one is encoded or outside ASCII.
  if (!/[.%\u0080-\uffff]/.test(segment)) return false
  const bytes = decodeBytes(Buffer.from(segment, 'utf8').toString('latin1'))
  if (bytes === null || hasDotSegment(bytes)) return true
  if (!/[\x80-\xff]/.test(bytes)) return false
  const unfolded = Buffer.from(bytes, 'latin1').toString('utf8').normalize('NFKC')
  return hasDotSegment(unfolded) || hasDotSegment(foldOverlong(bytes))
}

/** Text of bytes without any layer of percent-encoding; `null` if there are too many. */
function decodeBytes(encoded: string): string | null {
  let bytes = encoded
  for (let round = 0; round <= MAX_DECODINGS; round += 1) {
    const decoded = bytes.replace(ENCODED_BYTE, (_, hex) => byte(Number.parseInt(hex, 16)))
    if (decoded === bytes) return bytes
    bytes = decoded
  }
  return null
}

const foldOverlong = (bytes: string): string =>
  OVERLONG.reduce(
    (rest, [form, highBit]) =>
      rest.replace(form, (_, last: string) => byte(highBit | (last.charCodeAt(0) & 0x3f))),
    bytes,
  )

/** A piece counts without what follows `?` or `#`, and without control characters and white space. */
const hasDotSegment = (text: string): boolean =>
  text
    .split(/[/\\;\0]/)
    .map((piece) => piece.replace(/[?#].*/s, '').replace(/[\s\x00-\x20\x7f]/g, ''))
    .some((piece) => piece === '.' || piece === '..')

const byte = (code: number): string => String.fromCharCode(code)
