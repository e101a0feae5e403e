/** Helpers for `ctx.sql`: values of rows as what they should be. */
import type { SqlRow } from '../contract/connector/sql-context.ts'
import type { Json } from '../contract/schema/json.ts'
import { ConnectorError } from './connector-error.ts'
import { type Paged, paged } from './paging.ts'

/**
 * The text of a column, or null. Numbers are written out, so that an id is always a text.
 *
 * @throws invalid_response for a column that the row does not have
 *
 * @example
 * const name = textOf(row, 'rolname')
 */
export function textOf(row: SqlRow, column: string): string | null {
  const value = columnOf(row, column)
  return value === null ? null : String(value)
}

/**
 * The text of a column that is never null.
 *
 * @throws invalid_response for a null, and for a column that the row does not have
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
 * A page of a statement that pages by a key: a full one goes on behind its last row.
 *
 * @param size How many rows were asked for.
 * @param keyOf The cursor behind a row.
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
 * The number of a column, or null. Whole numbers beyond 32 bits and decimals come as texts: this reads them where
 * nothing is lost.
 *
 * @throws invalid_response for what is no number, or one that JavaScript cannot hold
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
 * Whether a column is true; null is false.
 *
 * @throws invalid_response for what is neither true nor false
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
