/** Helpers for `ctx.sql`: values of rows as what they should be. */
import type { SqlRow } from '../contract/connector/sql-context.ts'
import { ConnectorError } from './connector-error.ts'

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
