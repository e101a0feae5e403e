/**
 * A btree refuses an entry of more than 2704 bytes, so a longer text would be an internal error. Every
 * indexed text therefore has a length limit at its input, which is listed here.
 */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../core/host.ts'

/** Maximum size of an entry, in bytes. */
const MAX_ENTRY = 2704

/** Maximum bytes of UTF-8 for a text of so many UTF-16 units. `lower` makes some characters longer. */
const units = (length: number): number => length * 3

/** Column -> maximum bytes, with the source of the limit. */
const BOUNDS: Record<string, number> = {
  // See core/directory/import/row.ts: MAX_EMAIL_LENGTH. People are only created by the import.
  'users.email': units(254),
  // See contract/models/roles.ts: names of roles.
  'user_roles.role': 64,
  // See contract/models/people-file.ts: MAX_NAME_LENGTH.
  'groups.name': units(255),
  // See core/kernel/kept-text.ts: MAX_ACCOUNT_ID, also for groups.
  'groups.integration_specific_id': units(512),
  // See core/kernel/identity/token-hasher.ts: TOKEN_PREFIX and eight characters.
  'api_tokens.prefix': 12,
  'scim_tokens.prefix': 12,
  // See contract/models/scim.ts: SCIM_LENGTHS.
  'scim_users.user_name': units(255),
  'scim_users.external_id': units(255),
  'scim_groups.external_id': units(255),
  // See contract/models/app.ts and contract/connector/manifest.ts: the longer of both names.
  'apps.name': units(255),
  // See core/catalogue/apps/facts.ts: MAX_WORD and a digest; ids of connectors are shorter.
  'apps.app_class_id': 60 * 4 + 9,
  // See core/catalogue/apps/credentials.ts: TENANT_ID, in code points.
  'apps.instance_id': 255 * 4,
  // See core/kernel/kept-text.ts: MAX_ACCOUNT_ID.
  'accounts.unique_identifier': units(512),
  'account_spans.unique_identifier': units(512),
  // Indexes of these use a digest of 32 digits.
  'resources.external_id': 32,
  'entitlements.resource_id': 32,
  'entitlements.external_id': 0,
  'expenses.external_id': 32,
  // See contract/models/sync.ts: RUN_STATES.
  'sync_runs.state': 16,
  // See contract/models/requestable-permission.ts: MAX_LABEL.
  'requestable_permissions.label': units(512),
  'requestable_permissions.visibility': 16,
  'app_store_settings.discoverability': 16,
  // See core/kernel/single-flight.ts: a digest, in base64 or hexadecimal digits.
  'shared_answers.key': 64,
  // Constants, see core/tasks/open-task.ts.
  'tasks.task_type': 64,
  'tasks.status': 16,
  // See contract/models/access-request.ts: REQUEST_STATUSES.
  'access_requests.status': 32,
  // See database/schema/requests.ts: one of three constants.
  'access_requests.todo': 8,
  // See contract/models/user-offboarding.ts: OFFBOARDING_STATUSES.
  'user_offboardings.status': 16,
  // See contract/models/access-review.ts: MAX_REVIEW_NAME, REVIEW_STATUSES, REVIEW_APP_STATUSES; ITEM_STATES.
  'access_reviews.name': units(255),
  'access_reviews.status': 40,
  'access_review_apps.status': 32,
  'access_review_items.state': 32,
  // A digest.
  'access_review_items.external_id': 32,
  // See contract/models/finding.ts: FINDINGS; core/findings/rules.ts: two ids.
  'findings.kind': 40,
  'findings.subject': 80,
  // See core/mail/queue.ts: a constant or an id of the log, an id or the name of a connector, a time.
  'mails.key': 160,
  // A digest.
  'offboarding_steps.account': 32,
  // Indexed as one digest of all three.
  'requestable_permissions.entitlement_type': 32,
  'requestable_permissions.entitlement_id': 0,
  'requestable_permissions.resource_id': 0,
  // See contract/models/inline-webhook.ts: MAX_WEBHOOK_NAME.
  'inline_webhooks.name': units(255),
  // See contract/connector/manifest.ts: ConnectorId; connectors/packages/format.ts: Digests.
  'packages.connector': 63,
  'packages.version': units(200),
  // The same; see contract/capabilities: names of capabilities.
  'call_minutes.connector': 63,
  'call_minutes.capability': 64,
  // Names of Keyway's tables.
  'table_changes.table_name': 63,
  // A hash, in hexadecimal digits.
  'activity_redactions.event_hash': 64,
  // A constant.
  'deployment_secret.name': 8,
}

let core: CoreHost
type Row = { index: string; columns: string[] }
let indexes: Row[]

beforeAll(async () => {
  core = await startCore()
  const client = new Client(await core.login())
  await client.connect()
  const { rows } = await client.query(`
    select i.relname as index, array_agg(distinct t.relname || '.' || a.attname) as columns
    from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
      join pg_am m on m.oid = i.relam join pg_namespace n on n.oid = t.relnamespace
      join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = i.oid and d.refobjid = t.oid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
    where n.nspname = 'public' and m.amname = 'btree'
      and format_type(a.atttypid, a.atttypmod) in ('text', 'character varying')
    group by 1`)
  await client.end()
  // A column of the type "char"[] or name arrives as text; node-postgres reads name[] as one text.
  indexes = rows.map(({ index, columns }) => ({ index, columns: columnsOf(columns) }))
})
afterAll(() => core.stop())

const columnsOf = (found: string[] | string): string[] =>
  Array.isArray(found) ? found : found.replace(/[{}]/g, '').split(',')

test('every text in a btree index has a limit', () => {
  const columns = new Set(indexes.flatMap((one) => one.columns))
  expect(columns.size).toBeGreaterThan(5)
  expect([...columns].filter((name) => !(name in BOUNDS))).toEqual([])
})

test('no index entry can exceed the maximum of a btree', () => {
  for (const { index, columns } of indexes) {
    // 64 bytes for ids and timestamps.
    const bytes = 64 + columns.reduce((sum, name) => sum + (BOUNDS[name] ?? 0), 0)
    expect(bytes, index).toBeLessThan(MAX_ENTRY)
  }
})

/** Text that does not compress, of three bytes a character. */
const noise = (length: number): string =>
  Array.from({ length }, () =>
    String.fromCharCode(0x4e00 + Math.floor(Math.random() * 20_000)),
  ).join('')

test.each([
  ['name', '/apps', (name: string) => ({ name, category: 'Other', description: '' }), 255],
])(
  'the longest %s of %s is accepted and a longer one refused',
  async (field, path, body, longest) => {
    expect((await core.call('POST', path, { body: body(noise(longest)) })).status).toBe(200)
    const refused = await core.call('POST', path, { body: body(noise(longest + 1)) })
    expect(refused.status).toBe(422)
    expect(refused.body.detail).toMatchObject([{ loc: ['body', field], type: 'string_too_long' }])
  },
)

test('the longest label is accepted and a longer one refused', async () => {
  const body = { name: 'Acme', category: 'Other', description: '' }
  const { id: app_id } = (await core.call('POST', '/apps', { body })).body
  const post = (length: number) =>
    core.call('POST', '/appstore/requestable_permissions', {
      body: { app_id, label: noise(length) },
    })
  expect((await post(512)).status).toBe(201)
  expect((await post(513)).status).toBe(422)
})
