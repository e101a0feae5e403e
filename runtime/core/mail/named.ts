/** Texts of people and systems as a mail may hold them: one line, cut, and unable to turn what stands around them. */

/** Controls, line ends, what is not seen, and what changes the direction of a line. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu
/** Letters that are written from right to left. */
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u
/** First strong isolate, and its end. */
const [ISOLATE, END] = ['\u2068', '\u2069']

const MOST_NAMED = 120
const MOST_QUOTED = 500

function plain(text: string, most: number): string {
  const line = text.toWellFormed().replace(UNSEEN, ' ').replace(/\s+/g, ' ').trim()
  const cut = [...line].length > most ? `${[...line].slice(0, most - 1).join('')}…` : line
  return RIGHT_TO_LEFT.test(cut) ? `${ISOLATE}${cut}${END}` : cut
}

const given = (text: string | null | undefined, most: number): string | null =>
  plain(text ?? '', most) || null

/** A name; null for none. */
export const named = (text: string | null | undefined): string | null => given(text, MOST_NAMED)

/** What a person wrote; null for nothing. */
export const quotable = (text: string | null | undefined): string | null => given(text, MOST_QUOTED)
