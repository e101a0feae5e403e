/**
 * Tables: a list of rows as one list per member, `{"account_id":["a","b"],"group":["g",0]}`. Each name is
 * written once, and `SAME` replaces a value that equals the one in the row before. A page of associations
 * shrinks to a quarter. The worker writes tables (worker/writers.ts) if the host itself parses the reply.
 */
import { RuntimeError } from '../contract/errors/errors.ts'
import { entriesOf } from '../contract/schema/keys.ts'
import { isObject } from '../contract/schema/record.ts'
import type { TableOf } from '../contract/schema/table.ts'

/** Stands for the value of the row before. Members of tables are never numbers. */
export const SAME = 0

/**
 * Reads a table, and fills in its lists in place. Repeated texts may have `maxChars` characters in total,
 * counted at each repetition, because the size of a table does not bound the size of its rows.
 *
 * @throws RuntimeError `reply_too_large`; `reply_invalid` if it is not a table, which only a guest that broke
 * out sends
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

/**
 * Replaces each `SAME` by the value it stands for.
 *
 * @returns the number of characters of the repeated texts
 */
function fillIn(values: unknown[]): number {
  // Most lists of ids, names and addresses repeat nothing. A search finds that out much faster than the loop.
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
