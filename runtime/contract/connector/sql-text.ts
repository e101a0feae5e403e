/**
 * Checks texts of statements and finds their named places. A place may stand only where a word of the
 * statement could, because its value is quoted as a whole.
 */
import { SQL_PLACE, type SqlPlace, type SqlStatement } from './sql.ts'

/** A piece of a text: literal text, or a place. */
type SqlPiece = string | { place: SqlPlace; name: string }

/** Quoted text of the three kinds. A quote inside is doubled. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/g

/** Statements that always write. The server refuses other writes. */
const WRITING = /^\s*(insert|update|delete|merge|truncate|create|alter|drop|grant|revoke)\b/i

/** Constructs not allowed in a text with places: they could turn unquoted text into quoted text. */
const TREACHEROUS: readonly [RegExp, string][] = [
  [/--|\/\*|#/, 'a comment'],
  [/\$\$|\$[a-z_]/i, 'a text in dollars'],
  [/\\/, 'a backslash'],
]

/** Splits a text into its pieces. */
export function piecesOf(text: string): SqlPiece[] {
  const pieces: SqlPiece[] = []
  let at = 0
  for (const match of text.matchAll(SQL_PLACE)) {
    if (match.index > at) pieces.push(text.slice(at, match.index))
    // The cast holds: the expression has these two groups, and the first is one of the places.
    pieces.push({ place: match[1] as SqlPlace, name: match[2] ?? '' })
    at = match.index + match[0].length
  }
  if (at < text.length) pieces.push(text.slice(at))
  return pieces
}

/**
 * Returns what is wrong with a statement. The text continues `statements.list_roles.text: `. Null if nothing
 * is wrong.
 */
export function textFault({ text, parameters, reads }: SqlStatement): string | null {
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text)) return 'holds a control character'
  const bare = text.replace(QUOTED, "''")
  const places = [...text.matchAll(SQL_PLACE)]
  if (/['"`]/.test(bare.replaceAll("''", ''))) return 'has a quote that is not closed'
  if (bare.includes(';')) return 'holds a semicolon: a statement is one, without an end'
  if (places.length !== [...bare.matchAll(SQL_PLACE)].length)
    return 'has a place such as {identifier:name} inside quotes: it is quoted by itself'
  if (/[{}]/.test(bare.replace(SQL_PLACE, '')))
    return 'has braces that are no place: write {identifier:name}, {literal:name}, {integer:name} or {password:name}'
  if (/[\w&$]\{|\}[\w{'"`$]/.test(bare))
    return 'has a place that is part of a word: put a space before it and behind it'
  for (const [pattern, what] of places.length > 0 ? TREACHEROUS : [])
    if (pattern.test(text))
      return `has ${what} beside a place such as {identifier:name}: leave it out`
  const [, writing] = WRITING.exec(text) ?? []
  if (reads && writing !== undefined)
    return `begins with ${writing.toUpperCase()}, and "reads" says that it only reads: leave "reads" out`
  if (reads && places.some(([, place]) => place === 'password'))
    return 'reads, and sets a password: leave "reads" out'
  return parameterFault(bare, parameters.length)
}

function parameterFault(bare: string, declared: number): string | null {
  const used = new Set([...bare.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
  for (const number of used)
    if (number < 1 || number > declared)
      return `uses $${number}, and "parameters" declares ${declared}`
  for (let number = 1; number <= declared; number += 1)
    if (!used.has(number))
      return `does not use $${number}, and "parameters" declares ${declared}: a value stands in the text as $1, $2, in their order`
  return null
}
