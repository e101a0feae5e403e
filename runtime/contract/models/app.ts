/** Apps and accounts of the core interface: core-interface.md sections 2.1 and 2.2. */
import * as v from 'valibot'
import { keysOf, mapValues } from '../schema/keys.ts'
import {
  allMaybe,
  anyObject,
  described,
  keptNull,
  maybe,
  nullable,
  object,
  strictObject,
  utcMoment,
} from '../schema/schemas.ts'
import type { AccountStatus } from './account.ts'
import { CATEGORIES, categoryOf } from './categories.ts'
import { CustomAttribute } from './person.ts'

export const APP_STATUSES = [
  'DISCOVERED',
  'IN_REVIEW',
  'NEEDS_REVIEW',
  'APPROVED',
  'BLOCKLISTED',
  'DEPRECATED',
] as const

export const DISCOVERY_SOURCES = [
  'GSUITE_QUICK_INBOX',
  'GSUITE_DEEP_INBOX',
  'MICROSOFT_DEEP_INBOX',
  'MICROSOFT_OAUTH',
  'MICROSOFT_GCC',
  'GSUITE_OAUTH',
  'OKTA',
  'MANUAL',
  'ONELOGIN',
  'ATLASSIAN',
  'GOOGLE_CLOUD',
  'LUMOS_INTEGRATION',
  'JUMPCLOUD',
  'CUSTOM',
] as const
export type AppSource = (typeof DISCOVERY_SOURCES)[number]

/** Sort orders for lists of apps. */
export const APP_SORTS = ['name', '-name'] as const

/** Sort orders for lists of accounts, by their id in the app. */
export const ACCOUNT_SORTS = ['account', '-account'] as const
export type AccountSort = (typeof ACCOUNT_SORTS)[number]

export const CONNECTION_SOURCES = ['API', 'UI'] as const
/** Purposes of an account. */
export const ACCOUNT_TYPES = ['USER', 'ROLE', 'SERVICE'] as const
export const SYNC_STATUSES = ['SYNCING', 'SUCCESS', 'FAILED'] as const

const text = (description: string) => described(v.string(), description)

const app = {
  id: v.string(),
  app_class_id: text('The connector; for a custom app, a word derived from its name'),
  instance_id: text('Id of the connected tenant'),
  user_friendly_label: text('Name of the app'),
  status: v.picklist(APP_STATUSES),
  sources: v.array(v.picklist(DISCOVERY_SOURCES)),
  allow_multiple_permission_selection: v.boolean(),
  logo_url: nullable(v.string()),
  website_url: nullable(v.string()),
  request_instructions: nullable(v.string()),
  description: nullable(v.string()),
  category: nullable(v.string()),
  disconnected: v.boolean(),
  links: v.strictObject({ self: v.string(), admin_url: v.string() }),
  sync_status: nullable(v.picklist(SYNC_STATUSES)),
}

export const App = strictObject('App', app)
export type App = v.InferInput<typeof App>

export const AppWithCustomAttributes = strictObject('AppWithCustomAttributes', {
  ...app,
  custom_attributes: nullable(v.record(v.string(), CustomAttribute)),
})

/** Maximum length of an app's editable fields, in characters: a name, a URL, and text of several lines. */
export const MAX_FACT = { name: 255, address: 2048, text: 8192 } as const

/** Returns the schema of the URL of a page or picture that a browser may open; empty for none. */
const webAddress = (what: string) =>
  v.pipe(
    v.string(),
    v.maxLength(MAX_FACT.address),
    v.check(
      (text) => text === '' || (/^https?:\/\//i.test(text) && URL.canParse(text)),
      'must be an address such as https://acme.example/',
    ),
    v.metadata({ description: what }),
  )

/** Fields of an app that people may edit. */
const facts = {
  name: v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(MAX_FACT.name),
    v.metadata({ description: 'Name' }),
  ),
  category: v.pipe(
    v.string(),
    v.check(
      (text) => categoryOf(text) !== null,
      `there is no such category; there are ${CATEGORIES.join(', ')}`,
    ),
    v.metadata({
      description: 'A category of GET /apps/categories, or its code such as HR_AND_LEARNING',
    }),
  ),
  description: described(v.pipe(v.string(), v.maxLength(MAX_FACT.text)), 'Description'),
  logo_url: webAddress('URL of its logo'),
  website_url: webAddress('URL of its website'),
  request_instructions: described(
    v.pipe(v.string(), v.maxLength(MAX_FACT.text)),
    'Instructions for requesters',
  ),
}

/** Names of the editable fields. */
export const FACT_NAMES = keysOf(facts)

const connection = {
  app_class_id: maybe(described(v.string(), 'Id of the integration; absent for a custom app')),
  auth: maybe(described(anyObject(), 'Credentials, as described by the connection schema')),
  settings: maybe(described(anyObject(), 'Settings, as described by the connection schema')),
  version: maybe(described(v.string(), 'Expected version of the integration')),
}

const overrides = mapValues(facts, keptNull)

/** Without a prototype, so that `constructor` is an unknown member like any other. */
const exactly = <const E extends v.ObjectEntries>(entries: E): E =>
  Object.assign(Object.create(null), entries)

export const AppInputCreate = object('AppInputCreate', {
  ...allMaybe(facts),
  ...connection,
})
export type AppInputCreate = v.InferOutput<typeof AppInputCreate>

export const AppInputUpdate = strictObject(
  'AppInputUpdate',
  'null resets a member to its default',
  exactly(overrides),
)
export type AppInputUpdate = v.InferOutput<typeof AppInputUpdate>

export const AppInputPut = strictObject(
  'AppInputPut',
  'null resets a member to its default',
  exactly({ ...overrides, ...connection }),
)
export type AppInputPut = v.InferOutput<typeof AppInputPut>

export const DisconnectIntegrationOutput = strictObject('DisconnectIntegrationOutput', {
  id: v.string(),
  app_class_id: v.string(),
  disconnected: v.boolean(),
})

export const IntegrationCatalogOutput = strictObject(
  'IntegrationCatalogOutput',
  'A system that can be connected',
  {
    app_class_id: text('Id of the connector'),
    name: v.string(),
    description: nullable(v.string()),
    category: nullable(v.string()),
    logo_url: nullable(v.string()),
  },
)

const jsonSchema = (description: string) =>
  described(v.record(v.string(), v.unknown()), description)

export const IntegrationConnectionSchemaOutput = strictObject('IntegrationConnectionSchemaOutput', {
  app_class_id: v.string(),
  auth_schema: jsonSchema('JSON Schema of `auth`; secrets are writeOnly'),
  settings_schema: jsonSchema('JSON Schema of `settings`'),
})

export const ACCOUNT_STATUSES = [
  'DISCOVERED',
  'STAGED',
  'ACCESS_CREATED',
  'ACTIVE',
  'ARCHIVED',
  'SUSPENDED',
  'DEPROVISIONED',
  'MANUALLY_REMOVED',
  'ACCESS_REMOVED',
  'NON_CORPORATE_ACCOUNT',
  'WAITING_MANUAL_REMOVAL',
] as const
export type AccountStanding = (typeof ACCOUNT_STATUSES)[number]

/**
 * Status of an account in the core, by the status that its connector reports. An account without a status is
 * in use.
 */
export const STANDINGS: Readonly<Record<AccountStatus, AccountStanding>> = {
  ACTIVE: 'ACTIVE',
  SUSPENDED: 'SUSPENDED',
  PENDING: 'STAGED',
  INACTIVE: 'ARCHIVED',
  DEPROVISIONED: 'DEPROVISIONED',
  DELETED: 'DEPROVISIONED',
}

export const Account = strictObject('Account', {
  id: v.string(),
  app_id: v.string(),
  account_type: v.picklist(ACCOUNT_TYPES),
  status: nullable(v.picklist(ACCOUNT_STATUSES)),
  app: nullable(App),
  unique_identifier: text('Id of the account in the app'),
  email: nullable(v.string()),
  user_id: nullable(v.string()),
  discovered_at: nullable(utcMoment),
  last_login: nullable(utcMoment),
  last_activity: nullable(utcMoment),
  sources: v.array(v.picklist(DISCOVERY_SOURCES)),
})
export type Account = v.InferInput<typeof Account>
