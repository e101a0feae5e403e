/** Constants in statements and in conditions of indexes. */
import { type SQL, sql } from 'drizzle-orm'

/**
 * Returns our own constants as a list of literals. They are not parameters, because PostgreSQL matches a
 * partial index by the literal text of its condition.
 */
export const literals = (values: readonly string[]): SQL =>
  sql.raw(values.map((value) => `'${value}'`).join(', '))
