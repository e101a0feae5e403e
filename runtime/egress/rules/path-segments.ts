/**
 * Reads the segments of a path as the most lenient server would: a path that climbs on any server climbs
 * here.
 */

/** Maximum number of decoded layers of percent-encoding. More are not data but an attack on decoders. */
const MAX_DECODINGS = 8

/** One byte, as `%2e` or, as some servers accept, `%u002e`. */
const ENCODED_BYTE = /%(?:u00)?([0-9a-f]{2})/gi

/** ASCII characters in overlong UTF-8 forms (`%c0%af` for `/`), by the bit above their last byte. */
const OVERLONG: readonly (readonly [RegExp, highBit: number])[] = [
  [/(?:\xc0|\xe0\x80|\xf0\x80\x80|\xf8\x80\x80\x80|\xfc\x80{4})([\x80-\xbf])/g, 0],
  [/(?:\xc1|\xe0\x81|\xf0\x80\x81|\xf8\x80\x80\x81|\xfc\x80{3}\x81)([\x80-\xbf])/g, 0x40],
]

/**
 * Returns the percent-decoded segments of a request's path, or `null` for a path that no entry with a path
 * may cover: one that climbs, or one with a `%` that is not percent-encoded UTF-8. `%2F` stays inside its
 * segment here, but not on every server: `/api/..%2Fadmin` must not match /api.
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

/** Percent-decodes a segment once. Returns `null` if a `%` in it is not percent-encoded UTF-8. */
export function decodeSegment(segment: string): string | null {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    // Not an error: the caller decides about a segment such as `%zz` or `%ff`.
    return null
  }
}

/**
 * Reports whether a decoded segment climbs, or a lenient server could take it for one that does: `..`,
 * `..;x`, `../x` (sent as `..%2Fx`), one that contains NUL or white space, overlong or full-width characters,
 * and all of these encoded any number of times.
 */
export function climbs(segment: string): boolean {
  // Fast path for most segments. A dot in another form is encoded or outside ASCII.
  if (!/[.%\u0080-\uffff]/.test(segment)) return false
  const bytes = decodeBytes(Buffer.from(segment, 'utf8').toString('latin1'))
  if (bytes === null || hasDotSegment(bytes)) return true
  if (!/[\x80-\xff]/.test(bytes)) return false
  const unfolded = Buffer.from(bytes, 'latin1').toString('utf8').normalize('NFKC')
  return hasDotSegment(unfolded) || hasDotSegment(foldOverlong(bytes))
}

/** Removes all layers of percent-encoding from a text of bytes. Returns `null` if there are too many. */
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

/** Ignores the part after `?` or `#`, control characters and white space in each piece. */
const hasDotSegment = (text: string): boolean =>
  text
    .split(/[/\\;\0]/)
    .map((piece) => piece.replace(/[?#].*/s, '').replace(/[\s\x00-\x20\x7f]/g, ''))
    .some((piece) => piece === '.' || piece === '..')

const byte = (code: number): string => String.fromCharCode(code)
