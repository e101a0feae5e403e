/** Users who leave: when, how far it is, and each of their accounts that has to go. */
import { sql } from 'drizzle-orm'
import { index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { Reading } from '../../contract/models/reading.ts'
import { OFFBOARDING_STATUSES } from '../../contract/models/user-offboarding.ts'
import { apps } from './apps.ts'
import { domainId, id, moment, partOf, refersTo, timestamps } from './columns.ts'
import { domains, users } from './people.ts'

export const userOffboardings = pgTable(
  'user_offboardings',
  {
    id: id(),
    domainId: domainId().references(() => domains.id),
    userId: refersTo('user_id', () => users.id),
    status: text('status', { enum: OFFBOARDING_STATUSES }).notNull(),
    /** Null: at once. */
    scheduledAt: moment('scheduled_at'),
    cancelledAt: moment('cancelled_at'),
    completedAt: moment('completed_at'),
    /** When to look at it again; null: nothing is left to do. */
    wakeAt: moment('wake_at'),
    /** Why it failed, as text. */
    problem: text('problem'),
    ...timestamps(),
  },
  (table) => [
    // Of one person one at a time.
    uniqueIndex('user_offboardings_open')
      .on(table.userId)
      .where(sql`status in ('SCHEDULED', 'IN_PROGRESS')`),
    index('user_offboardings_wake').on(table.wakeAt).where(sql`${table.wakeAt} is not null`),
    index('user_offboardings_done').on(table.updatedAt, table.id).where(sql`wake_at is null`),
  ],
)
export type OffboardingRow = typeof userOffboardings.$inferSelect

/** One account of a user who leaves. */
export const offboardingSteps = pgTable(
  'offboarding_steps',
  {
    id: id(),
    domainId: domainId().references(() => domains.id),
    offboardingId: partOf('offboarding_id', () => userOffboardings.id),
    appId: partOf('app_id', () => apps.id),
    /** Its id in the app. */
    account: text('account').notNull(),
    /**
     * `manual`: a person has a task to do it; `told`: a person has one, and it is still tried; `left`: a person decided to
     * leave it.
     */
    state: text('state', { enum: ['todo', 'told', 'manual', 'done', 'left'] })
      .notNull()
      .default('todo'),
    taskId: uuid('task_id'),
    attempts: integer('attempts').notNull().default(0),
    wakeAt: moment('wake_at').notNull().defaultNow(),
    problem: text('problem'),
    /** What the system was read to show before it was made unusable, and after. */
    readings: jsonb('readings').$type<Reading[]>().notNull().default([]),
    ...timestamps(),
  },
  (table) => [
    // A digest: ids of accounts are texts of any length.
    uniqueIndex('offboarding_steps_account').on(
      table.offboardingId,
      table.appId,
      sql`md5(${table.account})`,
    ),
    index('offboarding_steps_task').on(table.taskId).where(sql`${table.taskId} is not null`),
  ],
)
export type StepRow = typeof offboardingSteps.$inferSelect
