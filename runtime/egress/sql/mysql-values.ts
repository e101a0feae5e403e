/** Values of MySQL and MariaDB, between those of the library and those of connectors. */
import type { SqlType } from '../../contract/connector/sql.ts'
import type { SqlParameter, SqlRow, SqlValue } from '../../contract/connector/sql-context.ts'
import { mysqlLibrary } from './mysql-library.ts'

/** Column types of the protocol (mysql2: `Types`). */
const FLOAT = 4
const TIMESTAMP = 7
const DATETIME = 12

/** What of a column its values are read by. */
export type MysqlColumn = { name: string; columnType?: number }

/** Makes what turns the values of a row into one of connectors. */
export function toRow(columns: readonly MysqlColumn[]): (values: readonly unknown[]) => SqlRow {
  // Own members, also where a column is called `__proto__`.
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
  // Places and vectors.
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The number with the fewest digits that is the same one in 32 bits: 0.1, and not 0.10000000149011612. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return Number(value.toPrecision(9))
}

/** A day or a month that is zero is none of ISO 8601. */
const NO_DAY = /^\d{4}-(00|\d\d-00)/

/** ISO 8601; the session is in UTC, and a column without a zone stays without one. */
const timeOf = (text: string, type: number | undefined): string =>
  (type !== DATETIME && type !== TIMESTAMP) || NO_DAY.test(text)
    ? text
    : `${text.replace(' ', 'T')}${type === TIMESTAMP ? 'Z' : ''}`

/** A parameter as the library sends it; a list is a text in JSON, since there are no arrays. */
export function toSent(value: SqlParameter, type: SqlType | undefined): unknown {
  if (typeof value === 'number' && type === 'integer')
    return mysqlLibrary().TypedParameter.LONGLONG(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
