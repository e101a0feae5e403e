/** Order of a list, as requested by `sort`. Pure. */
import { asc, desc, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/**
 * Returns the order by a column, descending if `sort` begins with a minus, and then by the id, so that the
 * order is total.
 *
 * @param columns name in `sort` -> column
 * @param sort such as `name` or `-name`
 */
export function orderOf<N extends string>(
  columns: Readonly<Record<N, PgColumn>>,
  sort: N | `-${N}`,
  id: PgColumn,
): SQL[] {
  const by = sort.startsWith('-') ? desc : asc
  return Object.entries<PgColumn>(columns)
    .filter(([name]) => name === sort || `-${name}` === sort)
    .flatMap(([, column]) => [by(column), by(id)])
}
