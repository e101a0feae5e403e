/**
 * Returns the first characters of a text as an independent string. A slice would keep the whole text in
 * memory.
 */
export const cut = (text: string, maxLength: number): string =>
  text.length <= maxLength
    ? text
    : Buffer.from(text.slice(0, maxLength), 'utf16le').toString('utf16le')
