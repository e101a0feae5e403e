/** Text by others on its way to a terminal. */

/** What moves the cursor, colours, or turns the line: control characters but ends of lines, and changes of direction. */
export const UNSEEN = /[^\P{Cc}\n]|[\u2028-\u202e\u2066-\u2069]/gu

/** A character as `\u001b`. */
export const escaped = (sign: string): string =>
  `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

/** Text in which nothing does anything: what is not seen stands escaped. Ends of lines stay. */
export const visible = (text: string): string => text.replace(UNSEEN, escaped)
