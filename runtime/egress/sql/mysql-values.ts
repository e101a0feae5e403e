/** Conversion of MySQL and MariaDB values between the library and connectors. */
import type { SqlType } from '../../contract/connector/sql.ts'
import type { SqlParameter, SqlRow, SqlValue } from '../../contract/connector/sql-context.ts'
import { mysqlLibrary } from './mysql-library.ts'

/** Column types of the protocol (mysql2: `Types`). */
const FLOAT = 4
const TIMESTAMP = 7
const DATETIME = 12

/** Properties of a column that decide how its values are read. */
export type MysqlColumn = { name: string; columnType?: number }

/** Returns a function that converts the values of a row to a connector's row. */
export function toRow(columns: readonly MysqlColumn[]): (values: readonly unknown[]) => SqlRow {
  // `fromEntries` defines own properties, even for a column called `__proto__`.
  return (values) =>
    Object.fromEntries(
      columns.map(({ name, columnType }, index) => [name, toValue(values[index], columnType)]),
    )
}

function toValue(value: unknown, type: number | undefined): SqlValue {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return timeOf(value, type)
  if (typeof value === 'number')
    return Number.isFinite(value) ? (type === FLOAT ? shortest(value) : value) : String(value)
  if (Buffer.isBuffer(value)) return value.toString('base64')
  // Geometry and vectors.
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Returns the number with the fewest digits that has the same 32-bit value: 0.1, not 0.10000000149011612. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return Number(value.toPrecision(9))
}

/** Dates with a zero day or month, which ISO 8601 does not have. */
const NO_DAY = /^\d{4}-(00|\d\d-00)/

/** Returns a time in ISO 8601. The session is in UTC; a column without a time zone stays without one. */
const timeOf = (text: string, type: number | undefined): string =>
  (type !== DATETIME && type !== TIMESTAMP) || NO_DAY.test(text)
    ? text
    : `${text.replace(' ', 'T')}${type === TIMESTAMP ? 'Z' : ''}`

/** Returns a parameter as the library sends it. A list is sent as JSON, because there are no arrays. */
export function toSent(value: SqlParameter, type: SqlType | undefined): unknown {
  if (typeof value === 'number' && type === 'integer')
    return mysqlLibrary().TypedParameter.LONGLONG(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
