/**
 * Tables: a list of rows as one list for each of their members, `{"account_id":["a","b"],"group":["g",0]}`. Names stand in
 * it once, and a value that is the one of the row before as `SAME`: of a page of associations a quarter is left. The worker
 * writes them (worker/writers.ts) where the host parses the reply itself.
 */
import { RuntimeError } from '../contract/errors/errors.ts'
import { entriesOf } from '../contract/schema/keys.ts'
import { isObject } from '../contract/schema/record.ts'
import type { TableOf } from '../contract/schema/table.ts'

/** Stands for the value of the row before; members of tables are never numbers. */
export const SAME = 0

/**
 * Reads a table, whose own lists are filled in. Texts that repeat may have so many characters together, each time counted:
 * the table's own size does not say how large its rows are.
 *
 * @throws RuntimeError reply_too_large; reply_invalid for what is none: only a guest that broke out sends that
 */
export function readTable(table: unknown, maxChars: number): TableOf<Record<string, unknown>> {
  if (!isObject(table)) throw noTable('it is no object')
  const columns: Record<string, unknown[]> = {}
  let count: number | null = null
  let repeated = 0
  for (const [name, values] of entriesOf(table)) {
    if (
      !Array.isArray(values) ||
      values.length !== (count ?? values.length) ||
      name === '__proto__'
    )
      throw noTable('its lists differ in length')
    count = values.length
    columns[name] = values
    repeated += fillIn(values)
    if (repeated > maxChars)
      throw new RuntimeError(
        'reply_too_large',
        `The rows of the reply repeat texts of more than ${maxChars} characters; answer smaller pages`,
      )
  }
  return { count: count ?? 0, columns }
}

/** Puts values where others stand for them; answers how many characters those texts have. */
function fillIn(values: unknown[]): number {
  // Most lists of ids, names and addresses repeat nothing, and a search shows that much faster than the loop.
  const first = values.indexOf(SAME)
  if (first === -1) return 0
  if (first === 0) throw noTable('its first row repeats another')
  let value = values[first - 1]
  let repeated = 0
  for (let n = first; n < values.length; n += 1) {
    if (values[n] !== SAME) value = values[n]
    else {
      if (typeof value === 'string') repeated += value.length
      else if (typeof value === 'object' && value !== null) throw noTable('it repeats an object')
      values[n] = value
    }
  }
  return repeated
}

const noTable = (why: string): RuntimeError =>
  new RuntimeError('reply_invalid', `The reply is no table: ${why}`)
