/** Rows stored by column, as one list per member. Many rows take much less memory and time this way. */
import { entriesOf } from './keys.ts'

/** A member that no row has may lack its list. */
export type TableOf<T extends object> = {
  count: number
  columns: { readonly [K in keyof T]?: readonly T[K][] }
}

/**
 * Returns the column of a member that every row has.
 *
 * @throws TypeError if no row has it. Only a guest that broke out of its sandbox sends such a table, and it
 * must not make a listing empty.
 */
export function columnOf<T extends object, K extends keyof T & string>(
  { count, columns }: TableOf<T>,
  name: K,
): readonly T[K][] {
  const values = columns[name]
  if (values === undefined && count > 0) throw new TypeError(`no row has ${name}`)
  return values ?? []
}

/** Returns the rows of a table. */
export function rowsOfTable<T extends object>({ count, columns }: TableOf<T>): T[] {
  const lists = entriesOf(columns).flatMap(([name, values]) => (values ? [{ name, values }] : []))
  // Most rows share most of their values, and copying objects of one shape is fast.
  const first = Object.fromEntries(lists.map(({ name, values }) => [name, values[0]]))
  const rows = Array.from({ length: count }, () => ({ ...first }))
  for (const { name, values } of lists) {
    const begun = first[name]
    for (const [n, row] of rows.entries()) if (values[n] !== begun) row[name] = values[n]
  }
  // The cast holds: the rows have exactly these members.
  return rows as T[]
}

/** Returns the given members of rows as a table. */
export function tableOfRows<T extends object>(
  rows: readonly T[],
  names: readonly (keyof T & string)[],
): TableOf<T> {
  const columns: { [K in keyof T]?: T[K][] } = {}
  const take = <K extends keyof T>(name: K): void => {
    columns[name] = rows.map((row) => row[name])
  }
  for (const name of names) take(name)
  return { count: rows.length, columns }
}
