/** Test for the existence of a row, for callers that need none of its columns. */
import { and, type SQLWrapper, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '../../database/database.ts'

/** Reports whether any row of a table meets all the conditions. */
export async function hasRow(
  db: Db,
  table: PgTable,
  ...conditions: (SQLWrapper | undefined)[]
): Promise<boolean> {
  const rows = await db
    .select({ there: sql`true` })
    .from(table)
    .where(and(...conditions))
    .limit(1)
  return rows.length > 0
}
