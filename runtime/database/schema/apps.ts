/** Apps with accounts of people: connected ones, and those that are only kept as records. */
import { sql } from 'drizzle-orm'
import { index, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import type { ErrorCode } from '../../contract/errors/error-codes.ts'
import {
  ACCOUNT_STATUSES,
  ACCOUNT_TYPES,
  APP_STATUSES,
  CONNECTION_SOURCES,
  DISCOVERY_SOURCES,
  type FACT_NAMES,
  SYNC_STATUSES,
} from '../../contract/models/app.ts'
import { bytes, domainId, id, moment, number, partOf, timestamps } from './columns.ts'
import { domains, users } from './people.ts'

/** Facts about an app for readers. Absent members are unknown. */
export type AppFacts = Partial<Record<(typeof FACT_NAMES)[number], string>>

export const apps = pgTable(
  'apps',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    /** Id of the connector. For a custom app, a word made of its name. */
    appClassId: t.text('app_class_id').notNull(),
    /** Tenant as reported by validate_credentials. `custom_app_import` for a custom app. */
    instanceId: t.text('instance_id').notNull(),
    /** Null for a custom app. */
    connectorId: t.text('connector_id'),
    /** Displayed name: the override's, or the default's. Apps are searched and ordered by it. */
    name: t.text('name').notNull(),
    defaults: t.jsonb('defaults').$type<AppFacts>().notNull().default({}),
    overrides: t.jsonb('overrides').$type<AppFacts>().notNull().default({}),
    status: t.text('status', { enum: APP_STATUSES }).notNull().default('APPROVED'),
    sources: t.text('sources', { enum: DISCOVERY_SOURCES }).array().notNull().default(sql`'{}'`),
    connectionSource: t
      .text('connection_source', { enum: CONNECTION_SOURCES })
      .notNull()
      .default('API'),
    customAttributes: t
      .jsonb('custom_attributes')
      .$type<Record<string, unknown>>()
      .notNull()
      .default({}),
    /** Settings and credentials, sealed together, because settings may hold secrets too. Null: none. */
    sealedConnection: bytes('sealed_connection'),
    disconnectedAt: moment('disconnected_at'),
    /** Administrators of the app. An App Admin reaches the apps that list them. */
    adminUserIds: t.uuid('admin_user_ids').array().notNull().default(sql`'{}'`),
    adminGroupIds: t.uuid('admin_group_ids').array().notNull().default(sql`'{}'`),
    allowMultiplePermissionSelection: t
      .boolean('allow_multiple_permission_selection')
      .notNull()
      .default(false),
    syncStatus: t.text('sync_status', { enum: SYNC_STATUSES }),
    ...timestamps(),
  }),
  (table) => [
    uniqueIndex('apps_instance').on(table.domainId, table.appClassId, table.instanceId),
    index('apps_order').on(table.domainId, table.name, table.id),
    index('apps_admins').using('gin', table.adminUserIds),
    index('apps_admin_groups').using('gin', table.adminGroupIds),
  ],
)
export type AppRow = typeof apps.$inferSelect

/** Facts of an upload about an account in addition to its identity, in the wire's form. */
type UploadedFacts = {
  first_name: string | null
  last_name: string | null
  permissions: { unique_identifier?: string; type?: string; name?: string }[]
  attributes: { unique_identifier?: string | null; type?: string; name?: string }[]
}

/**
 * An account in an app, as the last sync or upload reported it. A trigger checks each statement's apps and
 * their domains (migrations/0047_accounts_by_set.sql). Foreign keys are checked row by row, which was 40 % of
 * the cost of a synced account.
 */
export const accounts = pgTable(
  'accounts',
  (t) => ({
    id: id(),
    domainId: domainId(),
    /** The app. Deleting it deletes its accounts. */
    appId: t.uuid('app_id').notNull(),
    accountType: t.text('account_type', { enum: ACCOUNT_TYPES }).notNull().default('USER'),
    status: t.text('status', { enum: ACCOUNT_STATUSES }),
    /** Id of the account in the app. */
    uniqueIdentifier: t.text('unique_identifier').notNull(),
    email: t.text('email'),
    /** The account's person, if known. */
    userId: t.uuid('user_id').references(() => users.id, { onDelete: 'set null' }),
    /** How a sync found the person. Null if a person or an upload set it; syncs then keep it. */
    matchedBy: t.text('matched_by', { enum: ['EMAIL', 'RULE', 'SOURCE'] }),
    givenName: t.text('given_name'),
    familyName: t.text('family_name'),
    /** Further attributes reported by the app, by name. */
    attributes: t.jsonb('attributes').$type<Record<string, string>>().notNull().default({}),
    /** Last sync run that saw the account. Null if none ever did. */
    seenRun: number('seen_run'),
    /** When a sync found that the account was missing. */
    goneAt: moment('gone_at'),
    discoveredAt: moment('discovered_at'),
    lastLogin: moment('last_login'),
    lastActivity: moment('last_activity'),
    sources: t.text('sources', { enum: DISCOVERY_SOURCES }).array().notNull().default(sql`'{}'`),
    /** Further facts of an upload. Null if no upload named the account. */
    uploaded: t.jsonb('uploaded').$type<UploadedFacts>(),
    ...timestamps(),
  }),
  (table) => [
    // Includes `id` and `domain_id` (migration 0057): lists find their ids, in this order, without reading
    // rows.
    uniqueIndex('accounts_listed').on(table.appId, table.uniqueIdentifier),
    index('accounts_user').on(table.userId).where(sql`${table.userId} is not null`),
  ],
)

/** Apps whose system does not respond. All work for such an app waits until the same moment. */
export const appOutages = pgTable('app_outages', (t) => ({
  appId: partOf('app_id', () => apps.id).primaryKey(),
  domainId: domainId().references(() => domains.id),
  /** When the first call failed. */
  since: moment('since').notNull(),
  /** When the next call is made. No calls before. */
  until: moment('until').notNull(),
  /** Consecutive failed calls, each after a pause. */
  attempts: t.integer('attempts').notNull().default(1),
  /** Wire code of the last failure. */
  code: t.text('code').$type<ErrorCode>().notNull(),
  /** Description of the last failure, without secrets. */
  problem: t.text('problem').notNull(),
  /** Task that notifies the app's admins. Null until they are notified. */
  taskId: t.uuid('task_id'),
}))

/** Times to renew the access tokens of connected apps: one row per app whose connection supports renewal. */
export const tokenRenewals = pgTable(
  'token_renewals',
  (t) => ({
    appId: partOf('app_id', () => apps.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    /** Null: not until the app is connected again. */
    renewAt: moment('renew_at'),
    /** Consecutive failures. */
    attempts: t.integer('attempts').notNull().default(0),
    /** Description of the last failure, without secrets. */
    problem: t.text('problem'),
  }),
  (table) => [index('token_renewals_due').on(table.renewAt)],
)
