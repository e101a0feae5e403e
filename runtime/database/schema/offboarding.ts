/** Leaving users: when they leave, the progress, and each account to remove. */
import { sql } from 'drizzle-orm'
import { index, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import type { Reading } from '../../contract/models/reading.ts'
import { OFFBOARDING_STATUSES } from '../../contract/models/user-offboarding.ts'
import { apps } from './apps.ts'
import { domainId, id, moment, partOf, refersTo, timestamps } from './columns.ts'
import { domains, users } from './people.ts'

export const userOffboardings = pgTable(
  'user_offboardings',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    userId: refersTo('user_id', () => users.id),
    status: t.text('status', { enum: OFFBOARDING_STATUSES }).notNull(),
    /** Null: at once. */
    scheduledAt: moment('scheduled_at'),
    cancelledAt: moment('cancelled_at'),
    completedAt: moment('completed_at'),
    /** When to check it again. Null: nothing is left to do. */
    wakeAt: moment('wake_at'),
    /** Reason of the failure. */
    problem: t.text('problem'),
    ...timestamps(),
  }),
  (table) => [
    // At most one open offboarding per person.
    uniqueIndex('user_offboardings_open')
      .on(table.userId)
      .where(sql`status in ('SCHEDULED', 'IN_PROGRESS')`),
    index('user_offboardings_wake').on(table.wakeAt).where(sql`${table.wakeAt} is not null`),
    index('user_offboardings_done').on(table.updatedAt, table.id).where(sql`wake_at is null`),
  ],
)
export type OffboardingRow = typeof userOffboardings.$inferSelect

/** Account of a leaving user. */
export const offboardingSteps = pgTable(
  'offboarding_steps',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    offboardingId: partOf('offboarding_id', () => userOffboardings.id),
    appId: partOf('app_id', () => apps.id),
    /** Id of the account in the app. */
    account: t.text('account').notNull(),
    /**
     * `manual`: a person has a task for it. `told`: a person has a task, and automatic attempts continue.
     * `left`: a person decided to leave the account.
     */
    state: t
      .text('state', { enum: ['todo', 'told', 'manual', 'done', 'left'] })
      .notNull()
      .default('todo'),
    taskId: t.uuid('task_id'),
    attempts: t.integer('attempts').notNull().default(0),
    wakeAt: moment('wake_at').notNull().defaultNow(),
    problem: t.text('problem'),
    /** State read from the system before the account was disabled, and after. */
    readings: t.jsonb('readings').$type<Reading[]>().notNull().default([]),
    ...timestamps(),
  }),
  (table) => [
    // A digest, because ids of accounts are texts of any length.
    uniqueIndex('offboarding_steps_account').on(
      table.offboardingId,
      table.appId,
      sql`md5(${table.account})`,
    ),
    index('offboarding_steps_task').on(table.taskId).where(sql`${table.taskId} is not null`),
  ],
)
export type StepRow = typeof offboardingSteps.$inferSelect
