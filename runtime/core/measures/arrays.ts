/** Values of a table of ours as an array of PostgreSQL. */
import { type SQL, sql } from 'drizzle-orm'

export const textArray = (values: readonly string[]): SQL =>
  sql`array[${sql.join(
    values.map((value) => sql`${value}`),
    sql`, `,
  )}]::text[]`
