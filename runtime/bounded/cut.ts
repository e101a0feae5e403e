/**
 * The first so many characters of a text, as a text of its own: a slice would keep the whole text in memory
 * for as long as the slice is kept.
 */
export const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength
    ? text
    : Buffer.from(text.slice(0, maxLength), 'utf16le').toString('utf16le')
