/** Costs of apps: expenses reported by syncs, and licence prices set by admins. */
import { sql } from 'drizzle-orm'
import { index, numeric, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { EXPENSE_TYPES, PERIODS } from '../../contract/models/cost.ts'
import { apps } from './apps.ts'
import { domainId, moment, number, partOf, updatedAt } from './columns.ts'
import { domains, users } from './people.ts'
import { entitlements } from './sync.ts'

/** Makes a column of decimal numbers, represented as texts and never as floats. */
const amount = () => numeric('amount', { precision: 20, scale: 6 })

/** An expense as the last sync reported it. */
export const expenses = pgTable(
  'expenses',
  (t) => ({
    id: t.bigserial('id', { mode: 'number' }).primaryKey(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    /** Id of the expense in the app. */
    externalId: t.text('external_id').notNull(),
    transactionDate: moment('transaction_date').notNull(),
    /** Null if the reported amount cannot be read as money. */
    amount: amount(),
    /** ISO 4217. */
    currency: t.text('currency'),
    seller: t.text('seller'),
    description: t.text('description').notNull().default(''),
    submitter: t.text('submitter'),
    userId: t.uuid('user_id').references(() => users.id, { onDelete: 'set null' }),
    type: t.text('type', { enum: EXPENSE_TYPES }).notNull(),
    /** Last sync that reported it. */
    seenRun: number('seen_run').notNull(),
    updatedAt: updatedAt(),
  }),
  (table) => [
    uniqueIndex('expenses_external').on(table.appId, sql`md5(${table.externalId})`),
    index('expenses_order').on(table.domainId, table.transactionDate, table.id),
    index('expenses_app').on(table.appId, table.transactionDate),
    index('expenses_user').on(table.userId),
    index('expenses_done').on(table.transactionDate, table.id),
  ],
)

/** Price of a seat of an entitlement, as set by an admin. */
export const licencePrices = pgTable('licence_prices', (t) => ({
  entitlementId: number('entitlement_id')
    .primaryKey()
    .references(() => entitlements.id, { onDelete: 'cascade' }),
  domainId: domainId().references(() => domains.id),
  appId: partOf('app_id', () => apps.id),
  amount: amount().notNull(),
  currency: t.text('currency').notNull(),
  period: t.text('period', { enum: PERIODS }).notNull(),
  updatedAt: updatedAt(),
}))
