/**
 * Requestable access: what can be requested, by whom, and who decides. A `document` holds the settings as
 * written, in the wire's form and with ids for references. Absent members have their defaults. Fields that
 * lists filter by are repeated in columns, written together with the document
 * (core/catalogue/store/settings.ts, core/catalogue/store/permissions.ts).
 */
import { sql } from 'drizzle-orm'
import { index, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { DISCOVERABILITIES } from '../../contract/models/app-store.ts'
import type { InlineWebhookType } from '../../contract/models/inline-webhook.ts'
import {
  PERMISSION_TYPES,
  PERMISSION_VISIBILITIES,
} from '../../contract/models/requestable-permission.ts'
import { apps } from './apps.ts'
import { bytes, domainId, id, moment, partOf, timestamps } from './columns.ts'
import { domains } from './people.ts'

/** JSON object with members as on the wire. */
export type StoredDocument = { [member: string]: unknown }

/**
 * Settings of an app, at most one row per app. An app without one has the defaults and is not in the store.
 */
export const appStoreSettings = pgTable(
  'app_store_settings',
  (t) => ({
    appId: partOf('app_id', () => apps.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    inAppStore: t.boolean('in_app_store').notNull().default(false),
    discoverability: t
      .text('discoverability', { enum: DISCOVERABILITIES })
      .notNull()
      .default('FULL'),
    /** Null: all groups. */
    allowedGroupIds: t.uuid('allowed_group_ids').array(),
    document: t.jsonb('document').$type<StoredDocument>().notNull().default({}),
    ...timestamps(),
  }),
  (table) => [
    index('app_store_settings_found')
      .on(table.domainId, table.discoverability, table.appId)
      .where(sql`${table.inAppStore}`),
  ],
)
export type SettingsRow = typeof appStoreSettings.$inferSelect

export const requestablePermissions = pgTable(
  'requestable_permissions',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    /** NATIVE: created here. SYNCED: reported by the app. */
    type: t.text('type', { enum: PERMISSION_TYPES }).notNull().default('NATIVE'),
    label: t.text('label').notNull(),
    visibility: t.text('visibility', { enum: PERMISSION_VISIBILITIES }).notNull().default('HIDDEN'),
    /** False: the groups that the app allows. */
    allowedGroupsOverride: t.boolean('allowed_groups_override').notNull().default(false),
    /** Null: all groups. */
    allowedGroupIds: t.uuid('allowed_group_ids').array(),
    /** For a SYNCED permission: the entitlement in the app. */
    entitlementType: t.text('entitlement_type'),
    entitlementId: t.text('entitlement_id'),
    resourceType: t.text('resource_type'),
    /** Empty for the global resource. */
    resourceId: t.text('resource_id'),
    /** When the entitlement was found missing in the app. It can no longer be requested. */
    goneAt: moment('gone_at'),
    /** For a SYNCED permission: the label set by the last sync. If `label` differs, an admin set it. */
    syncedLabel: t.text('synced_label'),
    /** The permission's `request_config`. */
    document: t.jsonb('document').$type<StoredDocument>().notNull().default({}),
    ...timestamps(),
  }),
  (table) => [
    index('requestable_permissions_order').on(table.appId, table.label, table.id),
    index('requestable_permissions_visible').on(
      table.appId,
      table.visibility,
      table.label,
      table.id,
    ),
    // One permission per entitlement. The index holds a digest, because ids may be of any length.
    uniqueIndex('requestable_permissions_entitlement')
      .on(
        table.appId,
        sql`md5(${table.entitlementType} || chr(1) || ${table.resourceId} || chr(1) || ${table.entitlementId})`,
      )
      .where(sql`${table.entitlementId} is not null`),
    index('requestable_permissions_label').on(table.appId, sql`lower(${table.label})`),
  ],
)
export type PermissionRow = typeof requestablePermissions.$inferSelect

export const preApprovalRules = pgTable(
  'pre_approval_rules',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    document: t.jsonb('document').$type<StoredDocument>().notNull(),
    ...timestamps(),
  }),
  (table) => [index('pre_approval_rules_order').on(table.appId, table.createdAt, table.id)],
)

/** Calls to systems of the operator. */
export const inlineWebhooks = pgTable(
  'inline_webhooks',
  (t) => ({
    id: id(),
    domainId: domainId().references(() => domains.id),
    hookType: t.text('hook_type').$type<InlineWebhookType>().notNull(),
    name: t.text('name').notNull(),
    description: t.text('description'),
    /** Target URL. Null if so far there is only a name. */
    url: t.text('url'),
    /** Names of the headers sent along, in lower case. */
    headerNames: t.text('header_names').array().notNull().default(sql`'{}'`),
    /** Values of its headers and its signing secret (core/webhooks/secrets.ts), sealed. */
    sealed: bytes('sealed'),
    enabled: t.boolean('enabled').notNull().default(true),
    ...timestamps(),
  }),
  (table) => [index('inline_webhooks_order').on(table.domainId, table.name, table.id)],
)
export type WebhookRow = typeof inlineWebhooks.$inferSelect

/** Break-glass permissions. */
export const breakGlass = pgTable(
  'break_glass',
  (t) => ({
    /** Id of the permission. */
    id: partOf('id', () => requestablePermissions.id).primaryKey(),
    domainId: domainId().references(() => domains.id),
    appId: partOf('app_id', () => apps.id),
    groupIds: t.uuid('group_ids').array().notNull(),
    maxMinutes: t.integer('max_minutes').notNull(),
    ...timestamps(),
  }),
  (table) => [
    index('break_glass_order').on(table.domainId, table.createdAt, table.id),
    index('break_glass_app').on(table.appId),
  ],
)
