/** Conditions that find a part of a text, whatever signs are in it. */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** A pattern that finds a part of a text. */
export const containing = (text: string): string =>
  `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`

/**
 * What an index of trigrams (database/search-indexes.ts) can look up: three letters or digits in a row.
 * With less it would name every row, one by one: reading the table itself is ten times faster.
 */
const hasTrigram = (text: string): boolean => /[\p{L}\p{N}]{3}/u.test(text)

const looked = (column: PgColumn, text: string): SQL =>
  hasTrigram(text) ? sql`${column}` : sql`(${column} || '')`

/** Finds a part of a text, small or capital letters alike. */
export const hasPart = (column: PgColumn, text: string): SQL =>
  sql`${looked(column, text)} ilike ${containing(text)}`

/** Finds a text, as a whole or a part of it, small or capital letters alike. No condition where none is given. */
export function hasText(column: PgColumn, text: string | null, isWhole: boolean): SQL | undefined {
  if (text === null || text === '') return undefined
  return isWhole ? eq(sql`lower(${column})`, text.toLowerCase()) : hasPart(column, text)
}

/** The same as `hasPart` for a column that holds no capital letters. The database lowers the text, by its own rules. */
export const hasPartLowered = (column: PgColumn, text: string): SQL =>
  sql`${looked(column, text)} like lower(${containing(text)})`
