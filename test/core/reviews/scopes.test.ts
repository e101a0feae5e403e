/** Every scope filter, on one small app: the lines that it keeps and those that it does not. */
import { asc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  SCOPE_GROUPS,
  type ScopeFilter,
  type ScopeGroup,
} from '../../../runtime/contract/models/review-scope.ts'
import { itemsCondition } from '../../../runtime/core/reviews/items.ts'
import { scopeFault } from '../../../runtime/core/reviews/scope.ts'
import { listScopeOptions } from '../../../runtime/core/reviews/scope-options.ts'
import {
  addsUp,
  countScope,
  takeSnapshot,
  writeTaken,
} from '../../../runtime/core/reviews/snapshot.ts'
import type { Database } from '../../../runtime/database/database.ts'
import { openDatabase } from '../../../runtime/database/open.ts'
import { accessReviewApps, accessReviewItems } from '../../../runtime/database/schema/reviews.ts'
import { openTestDatabase, type TestDatabase } from '../../kit/databases.ts'

let made: TestDatabase
let database: Database

/** Readable ids: `id(7)` ends in 7. */
const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const [APP, OTHER] = [id(1), id(2)]
const [ADA, BEN, TEAM_GROUP, RULE] = [id(11), id(12), id(21), id(31)]
const [ADA_ACCOUNT, BEN_ACCOUNT, BOT_ACCOUNT] = [id(41), id(42), id(43)]

/**
 * Ada of Sales holds Readers (by a request) and Admins (new). Ben, suspended, of the department Support,
 * holds Readers (by a request without an end). A bot without a person holds Admins, which is a licence.
 */
beforeAll(async () => {
  made = await openTestDatabase()
  database = await openDatabase({ connectionString: made.url }, () => {})
  const { db, domainId: domain } = database
  const ref = JSON.stringify({
    ...{ entitlementType: 'GROUP', entitlementId: 'readers', resourceType: '', resourceId: '' },
  })
  const plan = '{"manager":false,"stages":[],"message":null,"validationWebhook":null}'
  const statements = [
    sql`insert into apps (id, domain_id, app_class_id, instance_id, name) values
      (${APP}, ${domain}, 'one', 'x', 'One'), (${OTHER}, ${domain}, 'two', 'x', 'Two')`,
    sql`insert into users (id, domain_id, email, status, custom_attributes) values
      (${ADA}, ${domain}, 'ada@acme.example', 'ACTIVE', '{"team":{"type":"string","value":"Sales"},"department":{"type":"string","value":"Support"}}'),
      (${BEN}, ${domain}, 'ben@acme.example', 'SUSPENDED', '{"Department":{"type":"string","value":"Support"}}')`,
    sql`insert into groups (id, domain_id, name) values (${TEAM_GROUP}, ${domain}, 'Everyone new')`,
    sql`insert into group_members (domain_id, group_id, user_id) values (${domain}, ${TEAM_GROUP}, ${BEN})`,
    sql`insert into accounts (id, domain_id, app_id, unique_identifier, account_type, sources, last_login, last_activity, created_at) values
      (${ADA_ACCOUNT}, ${domain}, ${APP}, 'ada', 'USER', '{OKTA}', '2026-05-01', '2026-05-02', '2026-01-01'),
      (${BEN_ACCOUNT}, ${domain}, ${APP}, 'ben', 'USER', '{MANUAL}', '2026-02-01', '2026-02-02', '2026-01-01'),
      (${BOT_ACCOUNT}, ${domain}, ${APP}, 'bot', 'SERVICE', '{MANUAL}', null, null, '2026-01-01')`,
    sql`insert into account_spans (domain_id, app_id, account_id, unique_identifier, account_type, status, email, user_id, since) values
      (${domain}, ${APP}, ${ADA_ACCOUNT}, 'ada', 'USER', 'ACTIVE', 'ada@acme.example', ${ADA}, '2026-01-01'),
      (${domain}, ${APP}, ${BEN_ACCOUNT}, 'ben', 'USER', 'SUSPENDED', 'ben@Other.example', ${BEN}, '2026-03-15'),
      (${domain}, ${APP}, ${BOT_ACCOUNT}, 'bot', 'SERVICE', 'ACTIVE', null, null, '2026-01-01'),
      (${domain}, ${OTHER}, ${id(44)}, 'ada', 'USER', 'ACTIVE', null, ${ADA}, '2026-01-01'),
      (${domain}, ${OTHER}, ${id(45)}, 'ben', 'USER', 'SUSPENDED', null, ${BEN}, '2026-01-01')`,
    sql`insert into entitlements (id, domain_id, app_id, entitlement_type, external_id, resource_id, label, is_assignable, seen_run) values
      (901, ${domain}, ${APP}, 'GROUP', 'readers', '', 'Readers', true, 0),
      (902, ${domain}, ${APP}, 'LICENSE', 'admins', '', 'Site Admins', true, 0)`,
    sql`insert into association_spans (domain_id, app_id, account_id, entitlement_id, since) values
      (${domain}, ${APP}, ${ADA_ACCOUNT}, 901, '2026-01-13'), (${domain}, ${APP}, ${ADA_ACCOUNT}, 902, '2026-04-01'),
      (${domain}, ${APP}, ${BEN_ACCOUNT}, 901, '2026-02-11'), (${domain}, ${APP}, ${BOT_ACCOUNT}, 902, '2026-01-01')`,
    sql`insert into app_store_settings (app_id, domain_id, in_app_store) values (${APP}, ${domain}, true)`,
    sql`insert into requestable_permissions (id, domain_id, app_id, label, visibility, entitlement_type, entitlement_id, resource_type, resource_id)
      values (${id(51)}, ${domain}, ${APP}, 'Readers', 'VISIBLE', 'GROUP', 'readers', '', '')`,
    sql`insert into separation_rules (id, domain_id, name, left_side, right_side) values (${RULE}, ${domain}, 'Not both',
      ${JSON.stringify({ apps: [], permissions: [id(51)] })}::jsonb, ${JSON.stringify({ apps: [OTHER], permissions: [] })}::jsonb)`,
    sql`insert into access_requests (id, domain_id, app_id, carried_app_id, target_user_id, status, plan, label, entitlement, expiration_in_seconds, created_at) values
      (${id(61)}, ${domain}, ${APP}, ${APP}, ${ADA}, 'COMPLETED', ${plan}, 'Readers', ${ref}::jsonb, 2592000, '2026-01-10'),
      (${id(62)}, ${domain}, ${APP}, ${APP}, ${BEN}, 'COMPLETED', ${plan}, 'Readers', ${ref}::jsonb, null, '2026-02-10')`,
    sql`insert into tasks (domain_id, task_type, task_category, status, access_request_id, updated_at) values
      (${domain}, 'ACCESS', 'APPROVAL', 'COMPLETED', ${id(61)}, '2026-01-12'),
      (${domain}, 'ACCESS', 'APPROVAL', 'DISMISSED', ${id(62)}, '2026-06-01')`,
    sql`insert into reason_spans (domain_id, since, user_id, request_id, app_id, carried_app_id, label, entitlement) values
      (${domain}, '2026-01-13', ${ADA}, ${id(61)}, ${APP}, ${APP}, 'Readers', ${ref}::jsonb),
      (${domain}, '2026-02-11', ${BEN}, ${id(62)}, ${APP}, ${APP}, 'Readers', ${ref}::jsonb)`,
    sql`insert into access_reviews (id, domain_id, name, status, deadline_at) values (${id(71)}, ${domain}, 'The last one', 'COMPLETED', '2026-03-31')`,
    sql`insert into access_review_apps (domain_id, review_id, app_id, review_type, status, launched_at)
      values (${domain}, ${id(71)}, ${APP}, 'ENTITLEMENTS', 'COMPLETED', '2026-03-01')`,
  ]
  for (const statement of statements) await db.execute(statement)
})
afterAll(async () => {
  await database.close()
  await made.drop()
})

type Reviewed = 'ENTITLEMENTS' | 'ACCOUNTS'

async function kept(scope: ScopeFilter[], reviewType: Reviewed = 'ENTITLEMENTS') {
  const { db, domainId } = database
  const counted = await countScope(db, { domainId, appId: APP, reviewType, scope }, 100)
  expect(addsUp(counted)).toBe(true)
  return counted.examples.map((one) => `${one.unique_identifier} ${one.label ?? ''}`.trim())
}

const ALL = ['ada Readers', 'ada Site Admins', 'ben Readers', 'bot Site Admins']
const ADAS = ['ada Readers', 'ada Site Admins']

/** Value -> the lines that it keeps. */
const CASES: Record<
  Exclude<ScopeGroup, 'LAST_LOGIN' | 'LAST_ACTIVITY' | 'CUSTOM_ATTRIBUTE'>,
  Record<string, string[]>
> = {
  ACCOUNT_ENTITLEMENT: {
    readers: ['ada Readers', 'ben Readers'],
    902: ['ada Site Admins', 'bot Site Admins'],
  },
  ENTITLEMENT_TAG: {
    GROUP: ['ada Readers', 'ben Readers'],
    PRIVILEGED: ['ada Site Admins', 'bot Site Admins'],
    LICENCE: ['ada Site Admins', 'bot Site Admins'],
    REQUESTABLE: ['ada Readers', 'ben Readers'],
    group: [],
  },
  TEAM: { Sales: ADAS, Support: ['ben Readers'], sales: [] },
  EMPLOYMENT_STATUS: { SUSPENDED: ['ben Readers'], STAGED: [] },
  EMAIL_DOMAIN: { 'other.example': ['ben Readers'], 'Acme.example': ADAS },
  CATEGORIES: { SERVICE: ['bot Site Admins'], USER: [...ADAS, 'ben Readers'], ROLE: [] },
  ACCOUNT_DELTA: {
    NEW: ['ada Site Admins'],
    CHANGED: ['ben Readers'],
    UNCHANGED: ['ada Readers', 'bot Site Admins'],
  },
  ACCOUNT_STATUS: { SUSPENDED: ['ben Readers'], ARCHIVED: [] },
  ACCOUNT_SOURCE: { OKTA: ADAS, MANUAL: ['ben Readers', 'bot Site Admins'] },
  // A suspended account, such as Ben's, breaks no rule.
  SOD_POLICY: { [RULE]: ADAS, [id(99)]: [] },
  ACCESS_GRANTED_AT: {
    '2026-01-13/2026-02-11': ['ada Readers', 'ben Readers'],
    '../2026-01-01': ['bot Site Admins'],
    '2026-02-12/..': ['ada Site Admins'],
    P1D: [],
    P99999D: ALL,
  },
  ACCESS_REQUESTED_AT: {
    '2026-01-10/2026-01-10': ['ada Readers'],
    '2026-01-10T00:00:01Z/..': ['ben Readers'],
    P99999D: ['ada Readers', 'ben Readers'],
  },
  ACCESS_APPROVED_AT: {
    '2026-01-11/2026-01-12': ['ada Readers'],
    // Without an approval the time of the request counts.
    '2026-02-10/2026-02-10': ['ben Readers'],
    '2026-05-01/..': [],
  },
  ACCESS_PROVISIONED_AT: {
    '2026-01-13/2026-01-31': ['ada Readers'],
    '2026-02-11/..': ['ben Readers'],
  },
  ACCESS_LENGTH: { '30 days': ['ada Readers'], Unlimited: ['ben Readers'], '90 days': [] },
  USER_OR_GROUP: { [ADA]: ADAS, [TEAM_GROUP]: ['ben Readers'] },
  UNMATCHED_ACCOUNTS: { UNMATCHED: ['bot Site Admins'] },
}

const scalar = (group: keyof typeof CASES, value: string): ScopeFilter => ({
  ...{ group, value, name: value, label: value },
  type: undefined,
})

describe('a filter keeps the lines that match', () => {
  for (const [group, values] of Object.entries(CASES) as [keyof typeof CASES, object][])
    for (const [value, lines] of Object.entries(values))
      test(`${group} ${value}`, async () => {
        expect(scopeFault([scalar(group, value)])).toBeNull()
        expect(await kept([scalar(group, value)])).toEqual(lines)
      })

  test('the time of last use, by its two bounds', async () => {
    const ends = { after: '2026-04-30', before: '2026-05-01' }
    expect(await kept([{ group: 'LAST_LOGIN', ...ends }])).toEqual(ADAS)
    expect(await kept([{ group: 'LAST_ACTIVITY', ...ends }])).toEqual([])
    const none = { after: undefined, before: undefined }
    expect(await kept([{ group: 'LAST_ACTIVITY', ...none }])).toEqual([...ADAS, 'ben Readers'])
  })

  test('an attribute of the person', async () => {
    const filter = {
      group: 'CUSTOM_ATTRIBUTE',
      name: 'department',
      label: '',
      type: undefined,
    } as const
    expect(await kept([{ ...filter, value: 'Support' }])).toEqual(ADAS)
    expect(await kept([{ ...filter, value: 'Sales' }])).toEqual([])
  })
})

test('filters of one group are alternatives, and every group must match', async () => {
  const scope = [
    scalar('TEAM', 'Sales'),
    scalar('TEAM', 'Support'),
    scalar('ENTITLEMENT_TAG', 'GROUP'),
  ]
  expect(await kept(scope)).toEqual(['ada Readers', 'ben Readers'])
})

test('accounts can be filtered by what they hold and by how long they are known', async () => {
  expect(await kept([scalar('ENTITLEMENT_TAG', 'PRIVILEGED')], 'ACCOUNTS')).toEqual(['ada', 'bot'])
  expect(await kept([scalar('ACCESS_GRANTED_AT', '../2026-01-01')], 'ACCOUNTS')).toHaveLength(3)
  expect(await kept([scalar('ACCOUNT_DELTA', 'CHANGED')], 'ACCOUNTS')).toEqual(['ben'])
})

test.each([
  ['EMPLOYMENT_STATUS', 'GONE', /EMPLOYMENT_STATUS must be one of STAGED, ACTIVE/],
  ['CATEGORIES', 'BOT', /must be one of USER/],
  ['ACCOUNT_DELTA', 'OLD', /must be one of NEW/],
  ['SOD_POLICY', 'Not both', /must be the id of a rule/],
  ['ACCESS_LENGTH', '5 years', /must be one of 2 hours/],
  ['ACCESS_GRANTED_AT', 'yesterday', /must be a time such as/],
  ['ACCESS_REQUESTED_AT', '../..', /must be a time such as/],
  ['ACCESS_APPROVED_AT', '2026-02-30/..', /must be a time such as/],
  ['ACCESS_PROVISIONED_AT', '2026-01-01/2026-01-02/2026-01-03', /must be a time such as/],
] as const)('an invalid value of %s is refused: %s', (group, value, words) => {
  expect(scopeFault([scalar(group, value)])).toMatch(words)
})

test('every group is offered, and every offered value is valid', async () => {
  const { db, domainId } = database
  const of = { domain_app_id: APP, arda_id: null }
  // Cast: only the domain of the caller is read.
  const { scope_options } = await listScopeOptions(db, { domainId } as never, of)
  expect(scope_options.map(({ group }) => group)).toEqual(Object.keys(SCOPE_GROUPS))
  const offered = Object.fromEntries(
    scope_options.map(({ group, items }) => [group, items.map(({ value }) => value).sort()]),
  )
  expect(offered).toMatchObject({
    TEAM: ['Sales', 'Support'],
    SOD_POLICY: [RULE],
    ENTITLEMENT_TAG: ['GROUP', 'LICENCE', 'LICENSE', 'PRIVILEGED', 'REQUESTABLE'],
    LAST_LOGIN: [],
  })
  // Cast: the keys of the table are groups.
  for (const { group, items } of scope_options)
    for (const { value } of items)
      expect(scopeFault([scalar(group as never, value ?? '')]), `${group} ${value}`).toBeNull()
})

describe('the lines of a launched app', () => {
  const [REVIEW, ACCOUNTS] = [id(72), id(73)]
  beforeAll(async () => {
    const { db, domainId: domain } = database
    for (const [review, type] of [
      [REVIEW, 'ENTITLEMENTS'],
      [ACCOUNTS, 'ACCOUNTS'],
    ] as const) {
      await db.execute(sql`insert into access_reviews (id, domain_id, name, status, deadline_at)
        values (${review}, ${domain}, ${review}, 'IN_PROGRESS', '2999-01-01')`)
      await db.execute(sql`insert into access_review_apps (domain_id, review_id, app_id, review_type, status)
        values (${domain}, ${review}, ${APP}, ${type}, 'IN_PROGRESS')`)
      await db.transaction(async (tx) => {
        const [reviewApp] = await tx
          .select()
          .from(accessReviewApps)
          .where(eq(accessReviewApps.reviewId, review))
        if (!reviewApp) throw new Error('the app of the review is missing')
        await takeSnapshot(tx, reviewApp)
        await writeTaken(tx, reviewApp)
      })
    }
    await db.execute(
      sql`update access_review_apps set launched_at = now() where launched_at is null`,
    )
  })

  async function found(scope_filters: ScopeFilter[], review = REVIEW): Promise<string[]> {
    const { db, domainId } = database
    const rows = await db
      .select()
      .from(accessReviewItems)
      .where(itemsCondition({ id: review, domainId }, { scope_filters }))
      .orderBy(asc(accessReviewItems.place))
    return rows.map((one) => `${one.account} ${one.label ?? ''}`.trim())
  }

  test('match every filter in the same way as the scope of an app', async () => {
    for (const [group, values] of Object.entries(CASES) as [keyof typeof CASES, object][])
      for (const [value, lines] of Object.entries(values))
        expect(await found([scalar(group, value)]), `${group} ${value}`).toEqual(lines)
    const ends = { after: '2026-04-30', before: '2026-05-01' }
    expect(await found([{ group: 'LAST_LOGIN', ...ends }])).toEqual(ADAS)
    const both = [scalar('TEAM', 'Sales'), scalar('ENTITLEMENT_TAG', 'GROUP')]
    expect(await found(both)).toEqual(['ada Readers'])
    expect(await found([scalar('ENTITLEMENT_TAG', 'PRIVILEGED')], ACCOUNTS)).toEqual(['ada', 'bot'])
    expect(await found([], ACCOUNTS)).toEqual(['ada', 'ben', 'bot'])
    expect(() =>
      itemsCondition(
        { id: REVIEW, domainId: database.domainId },
        {
          scope_filters: [scalar('CATEGORIES', 'BOT')],
        },
      ),
    ).toThrow(/must be one of USER/)
  })

  test('stay the same when accounts and entitlements change', async () => {
    const { db } = database
    await db.execute(
      sql`update account_spans set status = 'ARCHIVED', email = null where app_id = ${APP}`,
    )
    await db.execute(sql`update entitlements set label = 'Writers' where app_id = ${APP}`)
    expect(await found([scalar('ACCOUNT_STATUS', 'SUSPENDED')])).toEqual(['ben Readers'])
    expect(await found([scalar('EMAIL_DOMAIN', 'other.example')])).toEqual(['ben Readers'])
    expect(await found([scalar('ENTITLEMENT_TAG', 'PRIVILEGED')])).toEqual([
      ...['ada Site Admins', 'bot Site Admins'],
    ])
  })
})
