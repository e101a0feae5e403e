/** Replaces placeholders in one text, or says where one stands that cannot be replaced. */
import type { Marks, Meaning } from '../../contract/connector/placeholder.ts'
import { type Misplaced, misplaced } from './refuse.ts'

/** How a text is written: decides how a value is inserted, and what stands beside it. */
type Syntax = 'plain' | 'percent' | 'json'

/** What fills placeholders of one call, towards one address. */
export type Filling = {
  marks: Marks
  /** The call whose placeholders these are. */
  call: string
  /** The value behind one; throws where it may not go there. */
  resolve(meaning: Meaning, placeholder: string): string | Promise<string>
  /** Told how many characters a text grows by, before it does; throws where it would be too long. */
  grow(characters: number): void
  /** What is inserted for each placeholder, by syntax: asked for and written once for a request. */
  inserts: Map<string, string>
}

const INSERT: Record<Syntax, (value: string) => string> = {
  plain: (value) => value,
  percent: (value) => encodeURIComponent(value.toWellFormed()),
  json: (value) => JSON.stringify(value).slice(1, -1),
}

/** Whether a text holds a placeholder, a piece of one, or one in base64. */
export const holdsMark = (text: string, { scan }: Marks): boolean => text.search(scan) !== -1

/** Whether one shows when percent-encoding is undone: nobody has to encode letters and digits. */
export function hidesMark(text: string, marks: Marks): boolean {
  if (!/%[3-7][0-9a-f]/i.test(text)) return false
  const decoded = text.replace(/%([0-7][0-9a-f])/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return countWhole(decoded, marks) > countWhole(text, marks)
}

/** How many whole placeholders a text holds. */
export const countWhole = (text: string, { scan }: Marks): number =>
  [...text.matchAll(scan)].filter((match) => match[1] !== undefined).length

/**
 * The text with the values of its placeholders, written as its syntax asks for.
 *
 * @param where Names the place in errors.
 * @throws egress_secret for a piece of one, one in base64, one of another call, one that does not stand
 * alone, and what `resolve` throws
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

/** The meaning of a text that is one placeholder of this call and nothing else; null for any other. */
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
 * Whether a letter or digit stands directly before. An upstream that echoes `xSECRET` shows a text in
 * which the secret cannot be told from the rest.
 */
function touchesBefore(text: string, index: number, syntax: Syntax): boolean {
  const before = text.slice(Math.max(0, index - 12), index)
  if (!ALONE.test(before.at(-1) ?? '')) return false
  const escaped = syntax === 'plain' ? null : ESCAPE_BEFORE[syntax].exec(before)
  if (escaped === null) return true
  // A backslash that is itself escaped begins nothing.
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
