/**
 * A text by others as the database keeps it, at most so many characters (UTF-16 code units) long. Where the
 * cut would halve a pair of them, both go: half of one is refused in JSON. What cannot be kept at all, NUL
 * and halves that came so, becomes U+FFFD.
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

/** Longest id of an account: it stands in indexes (test/database/indexed-texts.test.ts). */
export const MAX_ACCOUNT_ID = 512

/** Whether an id can be kept as it is: a changed one would name something else. */
export const isKeepable = (id: string, most: number): boolean =>
  id !== '' && id.length <= most && !id.includes('\u0000') && id.isWellFormed()
