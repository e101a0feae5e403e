/** Whether a row exists, for callers that read nothing of it. */
import { and, type SQLWrapper, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '../../database/database.ts'

/** Whether a row of a table meets all of some conditions. */
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
