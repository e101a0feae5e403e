/** Hints for the planner of PostgreSQL, as SQL. */
import { type SQL, sql } from 'drizzle-orm'

/**
 * Append to a lateral lookup by a unique key, to keep the planner from scanning. While a table grows fast, its
 * statistics are outdated: the planner would expect only a few rows and compare all of them with each row.
 */
export const KEEP_INDEX_LOOKUP: SQL = sql`limit 1`
