/**
 * Texts by people and systems in the form that a mail may contain: one line, truncated, and unable to change
 * the direction of the surrounding text.
 */

/**
 * Control characters, line ends, invisible characters, and characters that change the direction of a line.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu
/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u
/** FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE. */
const [ISOLATE, END] = ['\u2068', '\u2069']

const MAX_NAMED = 120
const MAX_QUOTED = 500

function plain(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim()
  const cut = [...line].length > most ? `${[...line].slice(0, most - 1).join('')}…` : line
  return RIGHT_TO_LEFT.test(cut) ? `${ISOLATE}${cut}${END}` : cut
}

const given = (text: string | null | undefined, most: number): string | null =>
  plain(text ?? '', most) || null

/** Returns a name, or null if there is none. */
export const named = (text: string | null | undefined): string | null => given(text, MAX_NAMED)

/** Returns text that a person wrote, or null if there is none. */
export const quotable = (text: string | null | undefined): string | null => given(text, MAX_QUOTED)
