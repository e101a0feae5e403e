/**
 * Finds paths that are written in another way than the plain one. A proxy decides by the text of a path what
 * it lets through, and we by what that text comes to: `/%6fperator` and `/x/../operator` must not be `/operator` here.
 */
/** Letters, digits, `-`, `.` and `_`: what the paths of the interface are made of, which never needs an escape. */
const ESCAPED_PLAIN = /%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F)/i

/** What makes a path another one than it looks like; in order, the first that fits is told. */
const FAULTS: readonly (readonly [pattern: RegExp, says: string])[] = [
  [/^[^/]/, 'it does not begin with a slash'],
  [/\/\//, 'it has an empty segment (//)'],
  [/\\|%5C/i, 'it holds a backslash'],
  [/#/, 'it holds a fragment (#)'],
  [/\/\.\.?(?:\/|$)/, 'it has a segment of dots'],
  [ESCAPED_PLAIN, 'it escapes a letter, digit, "-", "." or "_", which need no escape'],
  [/%(?:[01][0-9A-F]|7F)/i, 'it holds a control character'],
]

/**
 * What keeps a request's target from being the plain form of its path, or null. Escapes of what is no part of our own
 * paths stay allowed: identifiers may hold anything.
 *
 * @param target as in the request line: `/path?query`, or an absolute address.
 */
export function pathFault(target: string): string | null {
  const [, path = ''] = /^(?:https?:\/\/[^/?#\\]*)?([^?]*)/.exec(target) ?? []
  // An absolute address may have no path at all; it is `/` then.
  if (path === '' && target !== '') return null
  return FAULTS.find(([pattern]) => pattern.test(path))?.[1] ?? null
}
