/**
 * Returns a foreign text in a form that the database can store, with at most `most` characters (UTF-16 code
 * units). A surrogate pair that the cut would split is dropped whole, because JSON refuses half of one. NUL
 * and lone surrogates, which cannot be stored, become U+FFFD.
 */
export function keptText(text: string, most: number): string {
  // Most texts need no change, and checking is faster than copying.
  if (text.length <= most && text.isWellFormed() && !text.includes('\u0000')) return text
  const whole = text.slice(0, most + 1)
  const halves = whole.length > most && /[\ud800-\udbff]/.test(whole.charAt(most - 1))
  return whole
    .slice(0, halves ? most - 1 : most)
    .toWellFormed()
    .replaceAll('\u0000', '\ufffd')
}

/** Maximum length of an account id, in characters. It is indexed (test/database/indexed-texts.test.ts). */
export const MAX_ACCOUNT_ID = 512

/** Reports whether an id can be stored unchanged. A changed id would identify something else. */
export const isKeepable = (id: string, most: number): boolean =>
  id !== '' && id.length <= most && !id.includes('\u0000') && id.isWellFormed()
