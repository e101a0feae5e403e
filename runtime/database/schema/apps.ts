/** Apps that people have accounts in: connected ones, and those that are only kept as records. */
import { sql } from 'drizzle-orm'
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
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

/** What people read about an app. Absent members are unknown. */
export type AppFacts = Partial<Record<(typeof FACT_NAMES)[number], string>>

export const apps = pgTable(
  'apps',
  {
    id: id(),
    domainId: domainId().references(() => domains.id),
    /** Id of the connector; of a custom app a word made of its name. */
    appClassId: text('app_class_id').notNull(),
    /** The tenant, as validate_credentials tells it; `custom_app_import` for a custom app. */
    instanceId: text('instance_id').notNull(),
    /** Null for a custom app. */
    connectorId: text('connector_id'),
    /** What is shown: the override's name, or the default's. By it apps are found and ordered. */
    name: text('name').notNull(),
    defaults: jsonb('defaults').$type<AppFacts>().notNull().default({}),
    overrides: jsonb('overrides').$type<AppFacts>().notNull().default({}),
    status: text('status', { enum: APP_STATUSES }).notNull().default('APPROVED'),
    sources: text('sources', { enum: DISCOVERY_SOURCES }).array().notNull().default(sql`'{}'`),
    connectionSource: text('connection_source', { enum: CONNECTION_SOURCES })
      .notNull()
      .default('API'),
    customAttributes: jsonb('custom_attributes')
      .$type<Record<string, unknown>>()
      .notNull()
      .default({}),
    /** Settings and credentials as one sealed text: settings may hold secrets too. Null: none. */
    sealedConnection: bytes('sealed_connection'),
    disconnectedAt: moment('disconnected_at'),
    /** Who administers it: an App Admin reaches the apps that list them. */
    adminUserIds: uuid('admin_user_ids').array().notNull().default(sql`'{}'`),
    adminGroupIds: uuid('admin_group_ids').array().notNull().default(sql`'{}'`),
    allowMultiplePermissionSelection: boolean('allow_multiple_permission_selection')
      .notNull()
      .default(false),
    syncStatus: text('sync_status', { enum: SYNC_STATUSES }),
    ...timestamps(),
  },
  (table) => [
    uniqueIndex('apps_instance').on(table.domainId, table.appClassId, table.instanceId),
    index('apps_order').on(table.domainId, table.name, table.id),
    index('apps_admins').using('gin', table.adminUserIds),
    index('apps_admin_groups').using('gin', table.adminGroupIds),
  ],
)
export type AppRow = typeof apps.$inferSelect

/** What an upload says about an account in addition to its identity, in the wire's form. */
type UploadedFacts = {
  first_name: string | null
  last_name: string | null
  permissions: { unique_identifier?: string; type?: string; name?: string }[]
  attributes: { unique_identifier?: string | null; type?: string; name?: string }[]
}

/**
 * An account in an app, as the last sync or upload reported it. A trigger checks each statement's apps and their domains
 * (migrations/0047_accounts_by_set.sql): foreign keys are checked row by row, which was 40 % of what a synced account cost.
 */
export const accounts = pgTable(
  'accounts',
  {
    id: id(),
    domainId: domainId(),
    /** Its accounts go with an app. */
    appId: uuid('app_id').notNull(),
    accountType: text('account_type', { enum: ACCOUNT_TYPES }).notNull().default('USER'),
    status: text('status', { enum: ACCOUNT_STATUSES }),
    /** Its id in the app. */
    uniqueIdentifier: text('unique_identifier').notNull(),
    email: text('email'),
    /** The person that it belongs to, where that is known. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'set null' }),
    /** How a sync found the person; null if a person or an upload set it, which syncs keep. */
    matchedBy: text('matched_by', { enum: ['EMAIL', 'RULE', 'SOURCE'] }),
    givenName: text('given_name'),
    familyName: text('family_name'),
    /** What else the app says about it, by name. */
    attributes: jsonb('attributes').$type<Record<string, string>>().notNull().default({}),
    /** The last sync run that saw it; null for one that none ever saw. */
    seenRun: number('seen_run'),
    /** When a sync found it to be gone. */
    goneAt: moment('gone_at'),
    discoveredAt: moment('discovered_at'),
    lastLogin: moment('last_login'),
    lastActivity: moment('last_activity'),
    sources: text('sources', { enum: DISCOVERY_SOURCES }).array().notNull().default(sql`'{}'`),
    /** What an upload also said; null for one that no upload named. */
    uploaded: jsonb('uploaded').$type<UploadedFacts>(),
    ...timestamps(),
  },
  (table) => [
    // It includes `id` and `domain_id` (migration 0057): lists find their ids, in this order, without looking at rows.
    uniqueIndex('accounts_listed').on(table.appId, table.uniqueIdentifier),
    index('accounts_user').on(table.userId).where(sql`${table.userId} is not null`),
  ],
)

/** Apps whose system does not answer: everything that waits for it waits for one moment. */
export const appOutages = pgTable('app_outages', {
  appId: partOf('app_id', () => apps.id).primaryKey(),
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

/** When the access tokens of connected apps are to be renewed: one row per app whose connection has what that takes. */
export const tokenRenewals = pgTable(
  'token_renewals',
  {
    appId: partOf('app_id', () => apps.id).primaryKey(),
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
