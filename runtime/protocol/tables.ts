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
 * The rows of a table.
 *
 * @throws RuntimeError reply_invalid for what is none: only a guest that broke out sends that
 */
export function rowsOf(table: unknown): Record<string, unknown>[] {
  const columns: { name: string; values: unknown[] }[] = []
  const first: Record<string, unknown> = {}
  for (const [name, values] of entriesOf(membersOf(table))) {
    const count = columns[0]?.values.length
    const isColumn = Array.isArray(values) && values.length === (count ?? values.length)
    if (!isColumn || name === '__proto__')
      throw new RuntimeError('reply_invalid', 'The reply is no table: its lists differ in length')
    columns.push({ name, values })
    first[name] = values[0]
  }
  const rows = Array.from({ length: columns[0]?.values.length ?? 0 }, () => ({ ...first }))
  for (const { name, values } of columns) {
    const begun = first[name]
    let value = begun
    let n = 0
    for (const row of rows) {
      const given = values[n]
      if (given !== SAME) value = given
      if (value !== begun) row[name] = value
      n += 1
    }
  }
  return rows
}
