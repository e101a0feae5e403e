/** Conditions for substring search, with any characters in the text. */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** Returns a LIKE pattern that matches texts that contain `text`. */
export const containing = (text: string): string =>
  `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`

/**
 * Reports whether a trigram index (database/search-indexes.ts) can look a text up: it needs three letters or
 * digits in a row. For less, the index would return every row, one by one; reading the table itself is ten
 * times faster.
 */
const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text)

const looked = (column: PgColumn, text: string): SQL =>
  hasTrigram(text) ? sql`${column}` : sql`(${column} || '')`

/** Returns a case-insensitive condition that a column contains a text. */
export const hasPart = (column: PgColumn, text: string): SQL =>
  sql`${looked(column, text)} ilike ${containing(text)}`

/**
 * Returns a case-insensitive condition that a column equals (`isWhole`) or contains a text, or undefined if
 * no text is given.
 */
export function hasText(column: PgColumn, text: string | null, isWhole: boolean): SQL | undefined {
  if (text === null || text === '') return undefined
  return isWhole ? eq(sql`lower(${column})`, text.toLowerCase()) : hasPart(column, text)
}

/**
 * Returns the condition of `hasPart` for a column without capital letters. The database lowercases the text,
 * by its own rules.
 */
export const hasPartLowered = (column: PgColumn, text: string): SQL =>
  sql`${looked(column, text)} like lower(${containing(text)})`
