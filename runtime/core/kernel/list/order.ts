/** The order that a list is asked for in by `sort`. Pure. */
import { asc, desc, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/**
 * By a column, or by it turned round where `sort` begins with a minus; then by the id, so that the order is whole.
 *
 * @param columns what `sort` may name -> the column
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
