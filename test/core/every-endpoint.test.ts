/** Calls every endpoint as each role that may not write, and with malformed bodies, queries and ids. */
import { sql } from 'drizzle-orm'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Endpoint } from '../../runtime/contract/endpoints/endpoint.ts'
import { OPERATOR_ENDPOINTS } from '../../runtime/contract/endpoints/operator.ts'
import { ENDPOINTS, type EndpointName } from '../../runtime/contract/endpoints/table.ts'
import { ROLES, type RoleName } from '../../runtime/contract/models/roles.ts'
import type { AnySchema } from '../../runtime/contract/schema/shape.ts'
import { schemaEntries } from '../../runtime/contract/schema/shape.ts'
import { chainWaiting } from '../../runtime/core/kernel/audit/unchained-entries.ts'
import {
  accessReviewApps,
  accessReviewItems,
  accessReviews,
} from '../../runtime/database/schema/reviews.ts'
import { delegation, finding, glass, licence, scimToken } from './conformance-samples.ts'
import { app, type CoreHost, domainOf, type Person, person, startCore } from './host.ts'
import { type Company, company } from './requests/company.ts'

let core: CoreHost
let acme: Company
let ada: Person
/** Values by path parameter: existing objects that belong to somebody else. */
let ids: Record<string, string>
let bodies: Partial<Record<EndpointName, object>>

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '1000000' })
  acme = company(core)
  ada = await person(core.db, 'ada@acme.example')
  const app_id = await acme.inStore(await app(core.db, 'Acme'))
  const access_request_id = await acme.asked(ada, { app_id })
  const task_id = (await acme.openTask(access_request_id)).id
  const made = async (path: string, body: object): Promise<string> =>
    (await core.call('POST', path, { body })).body.id
  const permission = { app_id, label: 'Editors' }
  const rule = { app_id, justification: 'all', preapproved_users_by_attribute: [] }
  const policy = {
    ...{ name: 'Everybody', business_justification: 'all' },
    ...{ is_everyone_condition: true, apps: [{ id: app_id }] },
  }
  const offboarding = { user_id: ada.id, scheduled_at: '2999-01-01T00:00:00Z' }
  ids = {
    ...{ app_id, access_request_id, task_id, user_id: ada.id, role_name: 'Auditor' },
    permission_id: await made('/appstore/requestable_permissions', permission),
    pre_approval_rule_id: await made('/appstore/pre_approval_rules', rule),
    access_policy_id: await made('/access_policies', policy),
    user_offboarding_id: await made('/lifecycle-management/user-offboardings', offboarding),
  }
  const domainId = await domainOf(core.db)
  const review = { name: 'Mine', deadline_at: '2999-01-01T00:00:00Z' }
  // Inserted directly, so that no background work changes the review.
  const [reviewed] = await core.db
    .insert(accessReviews)
    .values({ domainId, name: 'Theirs', status: 'IN_PROGRESS', deadlineAt: new Date('2999-01-01') })
    .returning()
  const access_review_id = reviewed?.id ?? ''
  const inReview = { domainId, reviewId: access_review_id, appId: app_id }
  const [reviewApp] = await core.db
    .insert(accessReviewApps)
    .values({ ...inReview, reviewType: 'ENTITLEMENTS', status: 'IN_PROGRESS' })
    .returning()
  const arda_id = reviewApp?.id ?? ''
  const [item] = await core.db
    .insert(accessReviewItems)
    .values({
      ...{
        ...inReview,
        reviewAppId: arda_id,
        accountId: arda_id,
        account: 'u',
        accountType: 'USER',
      },
    })
    .returning()
  const separationRule = {
    name: 'Duties',
    left: { apps: [app_id] },
    right: { permissions: [ids['permission_id']] },
  }
  const theirs = await person(core.db, 'theirs@acme.example')
  Object.assign(ids, {
    ...{
      access_review_id,
      arda_id,
      item_id: item?.id ?? '',
      finding_id: await finding(core.db, domainId),
    },
    separation_rule_id: await made('/separation_of_duties', separationRule),
    delegation_id: await delegation(core.db, domainId),
    licence_id: await licence(core.db, domainId),
    scim_token_id: await scimToken(core.db, domainId),
    break_glass_id: await glass(core.db, domainId),
  })
  const record = {
    ...{ account: { external_id: 'u' }, event: { type: 'LOGIN' } },
    ...{ timestamp: '2026-01-01T00:00:00Z', source_app_id: app_id },
  }
  bodies = {
    create_app: { name: 'Mine', category: 'Other', description: 'mine' },
    update_app: { name: 'Mine' },
    put_app: { name: 'Mine' },
    sync_app: { sync_type: 'full_sync' },
    upload_accounts: { app_id, accounts: [{ unique_identifier: 'u' }] },
    upload_activity_records: { records: [record] },
    add_appstore_app: { app_id },
    update_appstore_app_settings: { custom_request_instructions: 'mine' },
    update_app_settings: { custom_request_instructions: 'mine' },
    create_permission: { ...permission, label: 'Mine' },
    update_permission: { label: 'Mine' },
    update_personal_settings: { mail: 'NONE' },
    create_pre_approval_rule: rule,
    update_pre_approval_rule: { justification: 'mine' },
    perform_task_action: { action_type: 'APPROVE' },
    reassign_task: { user_ids: [ada.id], replace: true },
    comment_on_task: { comment: 'mine' },
    create_access_request: { app_id, target_user_id: ada.id, requester_user_id: ada.id },
    create_access_policy: policy,
    put_access_policy: policy,
    create_user_offboarding: offboarding,
    create_access_review: review,
    add_access_review_apps: { apps: [{ id: app_id }] },
    preview_access_review_scope: { id: app_id },
    update_access_review: { name: 'Another' },
    put_access_review_settings: { reviewers: 'APP_ADMINS' },
    decide_access_review_items: { decision: 'KEEP', item_ids: [item?.id] },
    reassign_access_review_item: { user_ids: [ada.id], reason: 'mine' },
    upload_access_review_evidence: { item_ids: [item?.id], name: 'mine', content: 'bWluZQ==' },
    create_delegation: { delegate_id: ada.id, user_id: theirs.id, until: '2999-01-01' },
    create_scim_token: { name: 'mine' },
    accept_finding: { reason: 'mine', until: '2026-12-31' },
    put_break_glass: { group_ids: [ada.id], max_minutes: 30 },
    take_break_glass: { reason: 'mine' },
    revoke_access: { reason: 'mine' },
    remind_approvers: { comment: 'mine' },
    put_licence_price: { amount: '20', currency: 'USD', period: 'YEAR' },
    create_separation_rule: separationRule,
    put_separation_rule: separationRule,
  }
})
afterAll(() => core.stop())

const rows = Object.entries(ENDPOINTS) as [EndpointName, Endpoint][]

const pathOf = (path: string): string =>
  path.replace(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'none'))

/** Checksums of all tables but those that change by themselves: use of tokens, hosts last seen, counters. */
async function everything(): Promise<string> {
  // Chain the log first, because chaining moves entries between tables.
  await chainWaiting(core.db, await domainOf(core.db))
  const { rows: tables } = await core.db.execute<{ name: string }>(sql`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name not in ('api_tokens', 'nodes', 'table_changes', 'once', 'finding_looks') order by 1`)
  const parts = tables.map(
    ({ name }) =>
      sql`select ${name} as name, md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as is from ${sql.identifier(name)} t`,
  )
  // A union needs an explicit order: PostgreSQL may read its parts in parallel.
  const { rows: checksums } = await core.db.execute(
    sql`${sql.join(parts, sql` union all `)} order by name`,
  )
  return JSON.stringify(checksums)
}

function bodySchemaOf(name: string): AnySchema {
  const schema = rows.find(([one]) => one === name)?.[1].body
  if (!schema) throw new Error(`${name} takes no body`)
  return schema
}

test('every endpoint with a body has a valid sample body', () => {
  const wanted = rows.flatMap(([name, { body, method }]) =>
    body === null || method === 'GET' ? [] : [name],
  )
  expect(Object.keys(bodies).sort()).toEqual(wanted.sort())
  for (const [name, body] of Object.entries(bodies))
    expect(v.is(bodySchemaOf(name), body), name).toBe(true)
})

/** The paths that a role is meant to write. */
const OWN: Partial<Record<string, string>> = { 'Access Review Administrator': '/access_reviews' }

/** Roles that must not write other people's data, except for the paths in OWN. */
const POWERLESS = (Object.keys(ROLES) as RoleName[]).filter((name) => name !== 'Admin')

test.each([...POWERLESS, 'a read-only token of an admin', 'a caller without a token'])(
  'no endpoint writes other people’s data: %s',
  async (who) => {
    const roles =
      who === 'a read-only token of an admin'
        ? ['Admin']
        : who === 'a caller without a token'
          ? []
          : [who]
    const somebody = await person(core.db, `${who.replace(/\W/g, '-')}@acme.example`, roles)
    const token =
      who === 'a caller without a token'
        ? null
        : roles[0] === 'Admin'
          ? somebody.readOnlyToken
          : somebody.token
    const before = await everything()
    for (const [name, { method, path, who: whoMay }] of rows) {
      if (method === 'GET' || whoMay === 'anybody' || path.startsWith(OWN[who] ?? '//')) continue
      // These paths write the caller's own data.
      if (path.startsWith('/users/current/')) continue
      const body = bodies[name]
      const reply = await core.call(method, pathOf(path), { token, ...(body ? { body } : {}) })
      expect([401, 403, 404], `${name}: ${reply.status} ${JSON.stringify(reply.body)}`).toContain(
        reply.status,
      )
      expect(reply.body).toEqual({ detail: expect.any(String) })
    }
    expect(await everything()).toBe(before)
  },
)

/** Values of unexpected types. */
const ODD = [[], {}, null, 0, '0', true, -1, 1e300, [null], [[]], [{}], { a: [] }, '\u0000', ['x']]

/** The names of a schema's members. */
const membersOf = (schema: AnySchema | null): string[] =>
  schema === null ? [] : Object.keys(schemaEntries(schema))

async function expectRefusal(method: string, path: string, raw: string | undefined) {
  const reply = await core.call(method, path, raw === undefined ? {} : { raw })
  const shown = `${method} ${path} ${raw}: ${reply.status} ${JSON.stringify(reply.body)}`
  expect(reply.status, shown).toBeLessThan(500)
  if (reply.status < 400) return
  const { detail, error } = reply.body
  const message = detail ?? error?.message
  expect(typeof message === 'string' || Array.isArray(message), shown).toBe(true)
}

test.each(rows.filter(([, { body }]) => body !== null).map(([name, row]) => [name, row] as const))(
  '%s returns no 5xx and a well-formed error for any body',
  async (name, { method, path, body }) => {
    const where = pathOf(path)
    for (const odd of ODD) await expectRefusal(method, where, JSON.stringify(odd))
    for (const raw of ['', '{', '[1', '"', '\ufeff{}', '{"a":1e999}', '{"__proto__":[]}'])
      await expectRefusal(method, where, raw)
    for (const member of membersOf(body))
      for (const odd of ODD)
        await expectRefusal(
          method,
          where,
          JSON.stringify({ ...bodies[name], [member]: odd }).replace('1e+300', '1e999'),
        )
  },
)

test.each(Object.entries(OPERATOR_ENDPOINTS).filter(([, { body }]) => body !== null))(
  'the operator’s %s returns no 5xx and a well-formed error for any body',
  async (_name, { method, path, body }) => {
    const where = `/operator${pathOf(path)}`
    for (const odd of ODD) await expectRefusal(method, where, JSON.stringify(odd))
    for (const member of membersOf(body))
      for (const odd of ODD) await expectRefusal(method, where, JSON.stringify({ [member]: odd }))
  },
)

const QUERIES = ['', '[]', '-1', '1e400', '%00', '%ff', '99999999999999999999', 'true', '{}', '%27']

test('every endpoint returns no 5xx and a well-formed error for any query and id', async () => {
  for (const [, { method, path, query, body }] of rows) {
    const values = ['none', '%00', "' or 1=1 --", 'x'.repeat(3000), '\ud83d\ude00', '0']
    for (const value of path.includes(':') ? values : [])
      await expectRefusal(
        method,
        path.replace(/:([a-z_]+)/g, () => encodeURIComponent(value)),
        body === null ? undefined : '{}',
      )
    if (method !== 'GET') continue
    for (const name of Object.keys(query))
      for (const value of QUERIES)
        await expectRefusal('GET', `${pathOf(path)}?${name}=${value}&${name}=${value}`, undefined)
  }
})
