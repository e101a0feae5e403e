/**
 * Tables: a list of rows as one list for each of their members, `{"account_id":["a","b"],"group":["g",0]}`. Names stand in
 * it once, and a value that is the one of the row before as `SAME`: of a page of associations a quarter is left. The worker
 * writes them (worker/writers.ts) where the host parses the reply itself.
 */
import { RuntimeError } from '../contract/errors/errors.ts'
import { entriesOf } from '../contract/schema/keys.ts'
import { membersOf } from '../contract/schema/record.ts'

/** Stands for the value of the row before; members of tables are never numbers. */
export const SAME = 0

/**
 * The rows of a table. Texts that repeat may have so many characters together, each time counted: the table's own size
 * does not say how large its rows are.
 *
 * @throws RuntimeError reply_too_large; reply_invalid for what is none: only a guest that broke out sends that
 */
export function rowsOf(table: unknown, maxChars: number): Record<string, unknown>[] {
  const columns: { name: string; values: unknown[] }[] = []
  const first: Record<string, unknown> = {}
  for (const [name, values] of entriesOf(membersOf(table))) {
    const count = columns[0]?.values.length
    const isColumn = Array.isArray(values) && values.length === (count ?? values.length)
    if (!isColumn || name === '__proto__') throw noTable('its lists differ in length')
    columns.push({ name, values })
    first[name] = values[0]
  }
  const rows = Array.from({ length: columns[0]?.values.length ?? 0 }, () => ({ ...first }))
  let repeated = 0
  for (const { name, values } of columns) {
    const begun = first[name]
    if (begun === SAME) throw noTable('its first row repeats another')
    let value = begun
    let n = 0
    for (const row of rows) {
      const given = values[n]
      if (given !== SAME) value = given
      else if (typeof value === 'string') repeated += value.length
      else if (typeof value === 'object' && value !== null) throw noTable('it repeats an object')
      if (value !== begun) row[name] = value
      n += 1
    }
    if (repeated > maxChars)
      throw new RuntimeError(
        'reply_too_large',
        `The rows of the reply repeat texts of more than ${maxChars} characters; answer smaller pages`,
      )
  }
  return rows
}

const noTable = (why: string): RuntimeError =>
  new RuntimeError('reply_invalid', `The reply is no table: ${why}`)
