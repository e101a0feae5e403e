/** Helpers for `ctx.sql`: typed values of rows. */
import type { SqlRow } from '../contract/connector/sql-context.ts'
import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { type Paged, paged } from './paging.ts'

/**
 * Returns a column as text, or null. Numbers are converted, so that an id is always text.
 *
 * @throws invalid_response if the row does not have the column
 *
 * @example
 * const name = textOf(row, 'rolname')
 */
export function textOf(row: SqlRow, column: string): string | null {
  const value = columnOf(row, column)
  return value === null ? null : String(value)
}

/**
 * Returns a column that is never null as text.
 *
 * @throws invalid_response if the column is null or the row does not have it
 *
 * @example
 * const name = nameOf(row, 'rolname')
 */
export function nameOf(row: SqlRow, column: string): string {
  const text = textOf(row, column)
  if (text !== null) return text
  throw new ConnectorError('invalid_response', `The column ${column} is null`)
}

/**
 * Returns a page of a statement that pages by a key. After a full page, the next one starts after its last
 * row.
 *
 * @param size Requested number of rows.
 * @param keyOf Returns the cursor of the rows after a row.
 *
 * @example
 * const { rows } = await ctx.sql.query('people', [textCursor(ctx) ?? '', 500])
 * const toPerson = (row: SqlRow) => ({ integration_specific_id: nameOf(row, 'id') })
 * return rowsPage(rows, 500, toPerson, (last) => nameOf(last, 'id'))
 */
export function rowsPage<T>(
  rows: readonly SqlRow[],
  size: number,
  toItem: (row: SqlRow) => T,
  keyOf: (last: SqlRow) => Json,
): Paged<T[]> {
  const last = rows.at(-1)
  return paged(rows.map(toItem), last !== undefined && rows.length === size ? keyOf(last) : null)
}

/**
 * Returns a column as a number, or null. Integers beyond 32 bits and decimals arrive as text. They are
 * converted if no precision is lost.
 *
 * @throws invalid_response if the value is not a number, or is one that JavaScript cannot represent
 *
 * @example
 * const members = numberOf(row, 'members')
 */
export function numberOf(row: SqlRow, column: string): number | null {
  const value = columnOf(row, column)
  if (value === null || typeof value === 'number') return value
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
  if (Number.isFinite(read) && Math.abs(read) <= Number.MAX_SAFE_INTEGER) return read
  throw new ConnectorError(
    'invalid_response',
    `The column ${column} holds no number that can be read`,
  )
}

/**
 * Returns a column as a boolean. Null is false.
 *
 * @throws invalid_response if the value is neither true nor false
 *
 * @example
 * const mayLogIn = flagOf(row, 'rolcanlogin')
 */
export function flagOf(row: SqlRow, column: string): boolean {
  const value = columnOf(row, column)
  if (value === null || value === 0 || value === false) return false
  if (value === 1 || value === true) return true
  throw new ConnectorError('invalid_response', `The column ${column} is neither true nor false`)
}

function columnOf(row: SqlRow, column: string) {
  const value = Object.hasOwn(row, column) ? row[column] : undefined
  if (value !== undefined) return value
  throw new ConnectorError('invalid_response', `The row has no column ${column}`)
}
