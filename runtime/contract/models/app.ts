/** Apps and accounts of the core interface: core-interface.md sections 2.1 and 2.2. */
import * as v from 'valibot'
import { nullable } from '../optional.ts'
import { CustomAttribute } from './person.ts'

export const APP_STATUSES = [
  'DISCOVERED',
  'IN_REVIEW',
  'NEEDS_REVIEW',
  'APPROVED',
  'BLOCKLISTED',
  'DEPRECATED',
] as const
export type AppStatus = (typeof APP_STATUSES)[number]

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
export type DiscoverySource = (typeof DISCOVERY_SOURCES)[number]

export const CONNECTION_SOURCES = ['API', 'UI'] as const
export const SYNC_STATUSES = ['SYNCING', 'SUCCESS', 'FAILED'] as const

const text = (description: string) => v.pipe(v.string(), v.metadata({ description }))

const app = {
  id: v.string(),
  app_class_id: text('The connector; of a custom app a word made of its name'),
  instance_id: text('The tenant that it is connected to'),
  user_friendly_label: text('Its name'),
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

export const App = v.pipe(v.strictObject(app), v.metadata({ title: 'App' }))
export type App = v.InferInput<typeof App>

export const AppWithCustomAttributes = v.pipe(
  v.strictObject({ ...app, custom_attributes: nullable(v.record(v.string(), CustomAttribute)) }),
  v.metadata({ title: 'AppWithCustomAttributes' }),
)

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

const moment = v.pipe(v.string(), v.metadata({ description: 'ISO 8601, UTC' }))

export const Account = v.pipe(
  v.strictObject({
    id: v.string(),
    app_id: v.string(),
    account_type: v.picklist(['USER', 'ROLE', 'SERVICE']),
    status: nullable(v.picklist(ACCOUNT_STATUSES)),
    app: nullable(App),
    unique_identifier: text('Its id in the app'),
    email: nullable(v.string()),
    user_id: nullable(v.string()),
    discovered_at: nullable(moment),
    last_login: nullable(moment),
    last_activity: nullable(moment),
    sources: v.array(v.picklist(DISCOVERY_SOURCES)),
  }),
  v.metadata({ title: 'Account' }),
)
