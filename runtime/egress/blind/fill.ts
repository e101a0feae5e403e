/** Replaces placeholders in one text, or reports the position of one that cannot be replaced. */
import type { Marks, Meaning } from '../../contract/connector/placeholder.ts'
import { type Misplaced, misplaced } from './refuse.ts'

/** Syntax of a text. It decides how a value is inserted, and which characters may be adjacent. */
type Syntax = 'plain' | 'percent' | 'json'

/** What filling in the placeholders of one call needs, in a request to one origin. */
export type Filling = {
  marks: Marks
  /** Id of the call that the placeholders must belong to. */
  call: string
  /** Returns the value of a placeholder. Throws if it may not be sent there. */
  resolve(meaning: Meaning, placeholder: string): string | Promise<string>
  /**
   * Called with the number of characters by which a text is about to grow. Throws if it would be too long.
   */
  grow(characters: number): void
  /** Inserted text by syntax and placeholder, so that each is resolved and encoded once per request. */
  inserts: Map<string, string>
}

const INSERT: Record<Syntax, (value: string) => string> = {
  plain: (value) => value,
  percent: (value) => encodeURIComponent(value.toWellFormed()),
  json: (value) => JSON.stringify(value).slice(1, -1),
}

/** Reports whether a text contains a placeholder, a piece of one, or one in base64. */
export const holdsMark = (text: string, { scan }: Marks): boolean => text.search(scan) !== -1

/** Reports whether percent-decoding reveals a placeholder. Letters and digits need no encoding. */
export function hidesMark(text: string, marks: Marks): boolean {
  if (!/%[3-7][0-9a-f]/i.test(text)) return false
  const decoded = text.replace(/%([0-7][0-9a-f])/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return countWhole(decoded, marks) > countWhole(text, marks)
}

/** Returns the number of complete placeholders in a text. */
export const countWhole = (text: string, { scan }: Marks): number =>
  [...text.matchAll(scan)].filter((match) => match[1] !== undefined).length

/**
 * Returns the text with the values of its placeholders, encoded for its syntax.
 *
 * @param where Names the place in errors.
 * @throws egress_secret for a piece of a placeholder, one in base64, one of another call, one that does not
 * stand alone, and the errors of `resolve`
 */
export async function fill(
  text: string,
  syntax: Syntax,
  filling: Filling,
  where: string,
): Promise<string> {
  const { marks, call, grow } = filling
  let filled = ''
  let end = 0
  for (const match of text.matchAll(marks.scan)) {
    const [whole, owner] = match
    const meaning = meaningOf(match)
    if (meaning === null) throw misplaced(oddity(whole, marks), where)
    if (owner !== call) throw misplaced('foreign', where)
    const next = match.index + whole.length
    if (touchesBefore(text, match.index, syntax) || touchesAfter(text, next, syntax))
      throw misplaced('beside', where)
    const insert = await insertFor(meaning, whole, syntax, filling)
    grow(insert.length - whole.length)
    filled += text.slice(end, match.index) + insert
    end = next
  }
  return end === 0 ? text : filled + text.slice(end)
}

async function insertFor(
  meaning: Meaning,
  placeholder: string,
  syntax: Syntax,
  { resolve, inserts }: Filling,
): Promise<string> {
  const key = `${syntax} ${placeholder}`
  const insert = inserts.get(key) ?? INSERT[syntax](await resolve(meaning, placeholder))
  inserts.set(key, insert)
  return insert
}

/** Returns the meaning of a text that is exactly one placeholder of this call, else null. */
export function meaningOfWhole(
  text: string,
  { marks, call }: Pick<Filling, 'marks' | 'call'>,
): Meaning | null {
  const [match, more] = [...text.matchAll(marks.scan)]
  if (match === undefined || more !== undefined || match[0] !== text) return null
  return match[1] === call ? meaningOf(match) : null
}

function meaningOf([, call, secret, exchange, sign]: RegExpMatchArray): Meaning | null {
  if (call === undefined) return null
  if (secret !== undefined) return { secret: Number.parseInt(secret, 36) }
  return exchange === undefined ? { sign: sign ?? '' } : { exchange: true }
}

const oddity = (text: string, { head, tail }: Marks): Misplaced =>
  text === head || text === tail ? 'piece' : 'base64'

const ALONE = /[A-Za-z0-9]/

/**
 * Reports whether a letter or digit directly precedes. In a reply that echoes `xSECRET`, the secret could not
 * be told from the rest.
 */
function touchesBefore(text: string, index: number, syntax: Syntax): boolean {
  const before = text.slice(Math.max(0, index - 12), index)
  if (!ALONE.test(before.at(-1) ?? '')) return false
  const escaped = syntax === 'plain' ? null : ESCAPE_BEFORE[syntax].exec(before)
  if (escaped === null) return true
  // An escaped backslash begins no escape.
  if (syntax === 'json' && (/\\*$/.exec(before.slice(0, escaped.index))?.[0].length ?? 0) % 2 === 1)
    return true
  return meansLetter(escaped[0])
}

const touchesAfter = (text: string, index: number, syntax: Syntax): boolean => {
  const after = text.slice(index, index + 6)
  if (ALONE.test(after[0] ?? '')) return true
  const escaped = syntax === 'plain' ? null : ESCAPE_AFTER[syntax].exec(after)
  return escaped !== null && meansLetter(escaped[0])
}

const ESCAPE_BEFORE = {
  percent: /%[0-9a-f]{2}$/i,
  json: /\\(?:[nrtbf]|u[0-9a-f]{4})$/i,
} as const
const ESCAPE_AFTER = { percent: /^%[0-9a-f]{2}/i, json: /^\\u[0-9a-f]{4}/i } as const

function meansLetter(escaped: string): boolean {
  const hex = /[0-9a-f]{2,4}$/i.exec(escaped)?.[0]
  return hex !== undefined && ALONE.test(String.fromCharCode(Number.parseInt(hex, 16)))
}
