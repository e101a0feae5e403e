/**
 * How often each table was changed, and how many rows it has: written by triggers (`track_changes` in
 * the migrations), one row for each statement, so that writers never wait for each other. See
 * core/kernel/list/versions.ts for what can be read from it.
 */
import { bigserial, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { number } from './columns.ts'

export const tableChanges = pgTable(
  'table_changes',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    tableName: text('table_name').notNull(),
    /** Whose rows were changed; the null UUID for the row that says that the table is tracked. */
    domainId: uuid('domain_id').notNull(),
    /** Changing statements: 1, or how many were folded into this row. */
    changes: number('changes').notNull(),
    /** Rows added less rows removed. */
    rows: number('rows').notNull(),
  },
  (table) => [index('table_changes_table').on(table.tableName, table.domainId)],
)
