/**
 * A btree refuses an entry of more than 2704 bytes: a longer text would be an error of ours. So every text
 * in one has a bound where it is taken in, and is listed here with it.
 */
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../core/host.ts'

/** Bytes of an entry that a page takes. */
const MAX_ENTRY = 2704

/** Bytes of UTF-8 that a UTF-16 unit of a bounded text takes at most; `lower` adds as much again to some. */
const units = (length: number): number => length * 3

/** Column -> most bytes, and who sees to it. */
const BOUNDS: Record<string, number> = {
  // core/directory/import/row.ts: MAX_EMAIL_LENGTH, for which people come in by the import alone.
  'users.email': units(254),
  // contract/models/roles.ts: names of the table.
  'user_roles.role': 64,
  // contract/models/people-file.ts: MAX_NAME_LENGTH.
  'groups.name': units(255),
  // core/kernel/kept-text.ts: MAX_ACCOUNT_ID, of groups too.
  'groups.integration_specific_id': units(512),
  // core/kernel/identity/token-hasher.ts: TOKEN_PREFIX and eight characters.
  'api_tokens.prefix': 12,
  'scim_tokens.prefix': 12,
  // contract/models/scim.ts: SCIM_LENGTHS.
  'scim_users.user_name': units(255),
  'scim_users.external_id': units(255),
  'scim_groups.external_id': units(255),
  // contract/models/app.ts, contract/connector/manifest.ts: the longer of both names.
  'apps.name': units(255),
  // core/catalogue/apps/facts.ts: MAX_WORD and a digest; ids of connectors are shorter.
  'apps.app_class_id': 60 * 4 + 9,
  // core/catalogue/apps/credentials.ts: TENANT_ID, in code points.
  'apps.instance_id': 255 * 4,
  // core/kernel/kept-text.ts: MAX_ACCOUNT_ID.
  'accounts.unique_identifier': units(512),
  'account_spans.unique_identifier': units(512),
  // Digests of them, of 32 digits for each index.
  'resources.external_id': 32,
  'entitlements.resource_id': 32,
  'entitlements.external_id': 0,
  'expenses.external_id': 32,
  // contract/models/sync.ts: a word of RUN_STATES.
  'sync_runs.state': 16,
  // contract/models/requestable-permission.ts: MAX_LABEL.
  'requestable_permissions.label': units(512),
  'requestable_permissions.visibility': 16,
  'app_store_settings.discoverability': 16,
  // core/kernel/single-flight.ts: a digest, in base64 or hexadecimal digits.
  'shared_answers.key': 64,
  // Ours: core/tasks/open-task.ts.
  'tasks.task_type': 64,
  'tasks.status': 16,
  // contract/models/access-request.ts: REQUEST_STATUSES.
  'access_requests.status': 32,
  // database/schema/requests.ts: one of three words.
  'access_requests.todo': 8,
  // contract/models/user-offboarding.ts: OFFBOARDING_STATUSES.
  'user_offboardings.status': 16,
  // contract/models/access-review.ts: MAX_REVIEW_NAME, REVIEW_STATUSES, REVIEW_APP_STATUSES; ITEM_STATES.
  'access_reviews.name': units(255),
  'access_reviews.status': 40,
  'access_review_apps.status': 32,
  'access_review_items.state': 32,
  // A digest.
  'access_review_items.external_id': 32,
  // contract/models/finding.ts: FINDINGS; core/findings/rules.ts: two ids.
  'findings.kind': 40,
  'findings.subject': 80,
  // core/mail/queue.ts: a word or an id of the log, an id or the name of a connector, a time.
  'mails.key': 160,
  // A digest.
  'offboarding_steps.account': 32,
  // A digest of the three.
  'requestable_permissions.entitlement_type': 32,
  'requestable_permissions.entitlement_id': 0,
  'requestable_permissions.resource_id': 0,
  // contract/models/inline-webhook.ts: MAX_WEBHOOK_NAME.
  'inline_webhooks.name': units(255),
  // contract/connector/manifest.ts: ConnectorId; connectors/packages/format.ts: Digests.
  'packages.connector': 63,
  'packages.version': units(200),
  // The same; contract/capabilities: names of the table.
  'call_minutes.connector': 63,
  'call_minutes.capability': 64,
  // Names of our tables.
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

test('every text in a btree has a bound', () => {
  const columns = new Set(indexes.flatMap((one) => one.columns))
  expect(columns.size).toBeGreaterThan(5)
  expect([...columns].filter((name) => !(name in BOUNDS))).toEqual([])
})

test('no entry is longer than a btree takes', () => {
  for (const { index, columns } of indexes) {
    // Also: ids and moments.
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
])('the longest %s of %s is kept, a longer one refused', async (field, path, body, longest) => {
  expect((await core.call('POST', path, { body: body(noise(longest)) })).status).toBe(200)
  const refused = await core.call('POST', path, { body: body(noise(longest + 1)) })
  expect(refused.status).toBe(422)
  expect(refused.body.detail).toMatchObject([{ loc: ['body', field], type: 'string_too_long' }])
})

test('the longest label is kept, a longer one refused', async () => {
  const body = { name: 'Acme', category: 'Other', description: '' }
  const { id: app_id } = (await core.call('POST', '/apps', { body })).body
  const post = (length: number) =>
    core.call('POST', '/appstore/requestable_permissions', {
      body: { app_id, label: noise(length) },
    })
  expect((await post(512)).status).toBe(201)
  expect((await post(513)).status).toBe(422)
})
