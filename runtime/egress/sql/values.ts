/** Conversion of PostgreSQL values between its texts and connectors. */
import type { SqlParameter, SqlRow, SqlValue } from '../../contract/connector/sql-context.ts'

/** Readers by type id (pg_type.dat). Values of other types stay the text that the server writes. */
const READERS: Readonly<Record<number, (text: string) => SqlValue>> = {
  // bool
  16: (text) => text === 't',
  // bytea, as hex after \x
  17: (text) => Buffer.from(text.slice(2), 'hex').toString('base64'),
  // int2, int4, oid
  21: Number,
  23: Number,
  26: Number,
  // float4, float8
  700: finite,
  701: finite,
  // timestamp, timestamptz
  1114: isoTime,
  1184: isoTime,
}

/** Times in years that ISO 8601 has. The time zone is that of the session. */
const ISO_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?(\+00)?$/

/**
 * Returns a time in ISO 8601. Years before Christ and from 10000, and `infinity`, stay as the server writes
 * them.
 */
function isoTime(text: string): string {
  return ISO_TIME.test(text) ? text.replace(' ', 'T').replace('+00', 'Z') : text
}

/** Returns a number, or its text: JSON has neither NaN nor infinity. */
function finite(text: string): SqlValue {
  const value = Number(text)
  return Number.isFinite(value) ? value : text
}

/** Returns a function that converts the values of a row to a connector's row. */
export function toRow(
  columns: readonly { name: string; dataTypeID: number }[],
): (values: readonly (string | null)[]) => SqlRow {
  const readers = columns.map(({ dataTypeID }) => READERS[dataTypeID])
  // `fromEntries` defines own properties, even for a column called `__proto__`.
  return (values) =>
    Object.fromEntries(
      columns.map(({ name }, index) => {
        const value = values[index] ?? null
        const read = readers[index]
        return [name, value === null || read === undefined ? value : read(value)]
      }),
    )
}

/** Returns a parameter as it is sent. PostgreSQL reads every type from text. */
export const toText = (value: SqlParameter): string | null =>
  value === null ? null : typeof value === 'object' ? listOf(value) : String(value)

/** Returns an array of texts in PostgreSQL's notation. */
const listOf = (values: readonly string[]): string =>
  `{${values.map((one) => `"${one.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
