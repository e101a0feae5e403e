/** Delegates: who decides for another person, and for how long. */
import { sql } from 'drizzle-orm'
import { index, pgTable } from 'drizzle-orm/pg-core'
import { createdAt, domainId, id, moment, refersTo } from './columns.ts'
import { domains, users } from './people.ts'

export const delegations = pgTable(
  'delegations',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    /** Absent person. */
    userId: refersTo('user_id', () => users.id),
    delegateId: refersTo('delegate_id', () => users.id),
    since: moment('since').notNull(),
    until: moment('until').notNull(),
    reason: t.text('reason').notNull().default(''),
    createdById: t.uuid('created_by_id').references(() => users.id),
    /** When it was revoked. */
    endedAt: moment('ended_at'),
    createdAt: createdAt(),
  }),
  (table) => [
    index('delegations_order').on(table.domainId, table.createdAt, table.id),
    index('delegations_user').on(table.userId),
    index('delegations_delegate').on(table.delegateId).where(sql`${table.endedAt} is null`),
    index('delegations_done').on(table.until, table.id),
  ],
)
