/** Values of PostgreSQL, between its texts and those of connectors. */
import type { SqlParameter, SqlRow, SqlValue } from '../../contract/connector/sql-context.ts'

/** Types by their ids (pg_type.dat). What is not here stays the text that the server writes. */
const READERS: Readonly<Record<number, (text: string) => SqlValue>> = {
  // bool
  16: (text) => text === 't',
  // bytea, as hex behind \x
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

/** A time in a year that ISO 8601 has; the zone is that of the session. */
const ISO_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?(\+00)?$/

/** ISO 8601; before Christ, from the year 10000 on, and `infinity` stay as the server writes them. */
function isoTime(text: string): string {
  return ISO_TIME.test(text) ? text.replace(' ', 'T').replace('+00', 'Z') : text
}

/** JSON has no NaN and no infinity. */
function finite(text: string): SqlValue {
  const value = Number(text)
  return Number.isFinite(value) ? value : text
}

/** Makes what turns the values of a row into one of connectors. */
export function toRow(
  columns: readonly { name: string; dataTypeID: number }[],
): (values: readonly (string | null)[]) => SqlRow {
  const readers = columns.map(({ dataTypeID }) => READERS[dataTypeID])
  // Own members, also where a column is called `__proto__`.
  return (values) =>
    Object.fromEntries(
      columns.map(({ name }, index) => {
        const value = values[index] ?? null
        const read = readers[index]
        return [name, value === null || read === undefined ? value : read(value)]
      }),
    )
}

/** A parameter as it is sent: PostgreSQL reads every type from text. */
export const toText = (value: SqlParameter): string | null =>
  value === null ? null : typeof value === 'object' ? listOf(value) : String(value)

/** An array of texts, in PostgreSQL's own notation. */
const listOf = (values: readonly string[]): string =>
  `{${values.map((one) => `"${one.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`
