/**
 * Number of changes to each table, and its number of rows. Written by triggers (`track_changes` in the
 * migrations), one row for each statement, so that writers never wait for each other.
 * core/kernel/list/versions.ts reads it.
 */
import { index, pgTable } from 'drizzle-orm/pg-core'
import { number } from './columns.ts'

export const tableChanges = pgTable(
  'table_changes',
  (t) => ({
    id: t.bigserial('id', { mode: 'bigint' }).primaryKey(),
    tableName: t.text('table_name').notNull(),
    /** Domain of the changed rows. The null UUID marks a table as tracked. */
    domainId: t.uuid('domain_id').notNull(),
    /** Changing statements: 1, or the number folded into this row. */
    changes: number('changes').notNull(),
    /** Rows added minus rows removed. */
    rows: number('rows').notNull(),
  }),
  (table) => [index('table_changes_table').on(table.tableName, table.domainId)],
)
