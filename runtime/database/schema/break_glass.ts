/** Which permissions are break-glass. */
import { index, integer, pgTable, uuid } from 'drizzle-orm/pg-core'
import { requestablePermissions } from './app_store.ts'
import { apps } from './apps.ts'
import { domainId, partOf, timestamps } from './columns.ts'
import { domains } from './people.ts'

export const breakGlass = pgTable(
  'break_glass',
  {
    /** Of the permission. */
    id: uuid('id')
      .primaryKey()
      .references(() => requestablePermissions.id, { onDelete: 'cascade' }),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    groupIds: uuid('group_ids').array().notNull(),
    maxMinutes: integer('max_minutes').notNull(),
    ...timestamps(),
  },
  (table) => [
    index('break_glass_order').on(table.domainId, table.createdAt, table.id),
    index('break_glass_app').on(table.appId),
  ],
)
