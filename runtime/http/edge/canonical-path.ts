/**
 * Finds paths that are not written in their plain form. A proxy filters by the text of a path, but Keyway
 * routes by what the text decodes to: `/%6fperator` and `/x/../operator` must not reach `/operator` here.
 */
/**
 * Escapes of letters, digits, `-`, `.` and `_`. The interface's paths consist of these, and they never need
 * an escape.
 */
const ESCAPED_PLAIN = /%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F)/i

/** Faults of a path, in order. The first match is reported. */
const FAULTS: readonly (readonly [pattern: RegExp, says: string])[] = [
  [/^[^/]/, 'it does not begin with a slash'],
  [/\/\//, 'it has an empty segment (//)'],
  [/\\|%5C/i, 'it contains a backslash'],
  [/#/, 'it contains a fragment (#)'],
  [/\/\.\.?(?:\/|$)/, 'it has a segment of dots'],
  [ESCAPED_PLAIN, 'it escapes a letter, digit, "-", "." or "_", which must not be escaped'],
  [/%(?:[01][0-9A-F]|7F)/i, 'it contains a control character'],
]

/**
 * Returns why a request's target is not the plain form of its path, or null. Escapes that are no part of
 * Keyway's own paths stay allowed, because identifiers may contain any character.
 *
 * @param target As in the request line: `/path?query`, or an absolute address.
 */
export function pathFault(target: string): string | null {
  const [, path = ''] = /^(?:https?:\/\/[^/?#\\]*)?([^?]*)/.exec(target) ?? []
  // An absolute address may omit its path, which is `/` then.
  if (path === '' && target !== '') return null
  return FAULTS.find(([pattern]) => pattern.test(path))?.[1] ?? null
}
