/** Constants in statements and in conditions of indexes. */
import { type SQL, sql } from 'drizzle-orm'

/**
 * Our own constants as a list of literals. Literals instead of parameters: PostgreSQL matches a partial index by the
 * literal text of its condition.
 */
export const literals = (values: readonly string[]): SQL =>
  sql.raw(values.map((value) => `'${value}'`).join(', '))
