/** Makes text from others safe for a terminal. */

/**
 * Characters that move the cursor, set colours or change the direction of a line: control characters except
 * line ends, and direction marks.
 */
export const UNSEEN = /[^\P{Cc}\n]|[\u2028-\u202e\u2066-\u2069]/gu

/** Returns a character in the form `\u001b`. */
export const escaped = (sign: string): string =>
  `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

/** Escapes characters that have an effect on a terminal. Line ends remain. */
export const visible = (text: string): string => text.replace(UNSEEN, escaped)
