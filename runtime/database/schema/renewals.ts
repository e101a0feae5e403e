/** When the access tokens of connected apps are to be renewed. */
import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { apps } from './apps.ts'
import { domainId, moment } from './columns.ts'
import { domains } from './people.ts'

/** One row per app whose connection has what a renewal takes. */
export const tokenRenewals = pgTable(
  'token_renewals',
  {
    appId: uuid('app_id')
      .primaryKey()
      .references(() => apps.id, { onDelete: 'cascade' }),
    domainId: domainId().references(() => domains.id),
    /** Null: not any more, until the app is connected again. */
    renewAt: moment('renew_at'),
    /** Failures in a row. */
    attempts: integer('attempts').notNull().default(0),
    /** What failed last, without secrets. */
    problem: text('problem'),
  },
  (table) => [index('token_renewals_due').on(table.renewAt)],
)
