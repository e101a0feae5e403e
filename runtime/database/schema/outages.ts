/** Apps whose system does not answer: everything that waits for it waits for one moment. */
import { integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import type { ErrorCode } from '../../contract/errors/error-codes.ts'
import { apps } from './apps.ts'
import { domainId, moment } from './columns.ts'
import { domains } from './people.ts'

export const appOutages = pgTable('app_outages', {
  appId: uuid('app_id')
    .primaryKey()
    .references(() => apps.id, { onDelete: 'cascade' }),
  domainId: domainId().references(() => domains.id),
  /** When the first call failed. */
  since: moment('since').notNull(),
  /** When the next call is made; none before. */
  until: moment('until').notNull(),
  /** Calls that failed in a row, each after a pause. */
  attempts: integer('attempts').notNull().default(1),
  /** The wire code of the last failure. */
  code: text('code').$type<ErrorCode>().notNull(),
  /** The last failure, without secrets. */
  problem: text('problem').notNull(),
  /** The task that tells the app's admins; null until they are told. */
  taskId: uuid('task_id'),
})
