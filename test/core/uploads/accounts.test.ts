/** Uploads of the accounts of custom apps. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { userRoles, users } from '../../../runtime/database/schema/people.ts'
import { uploads } from '../../../runtime/database/schema/uploads.ts'
import { until } from '../../e2e/until.ts'
import {
  app,
  type CoreHost,
  domainOf,
  logged,
  otherDomain,
  type Person,
  person,
  startCore,
} from '../host.ts'
import { lookAtStatements } from '../statements.ts'
import { lastEvents, NOBODY_ID } from '../store.ts'

let core: CoreHost
let ada: Person
let count = 0

beforeAll(async () => {
  core = await startCore()
  ada = await person(core.db, 'Ada@example.com')
})
afterAll(() => core.stop())

const newApp = (more: object = {}) => {
  count += 1
  return app(core.db, `App ${count}`, more)
}

const post = (app_id: string, accounts: object[], token?: string) =>
  core.call('POST', '/accounts/upload', {
    body: { app_id, accounts },
    ...(token === undefined ? {} : { token }),
  })

/** Uploads accounts, waits for the end, and returns the final state. */
async function upload(app_id: string, accounts: object[]): Promise<string> {
  const taken = await post(app_id, accounts)
  expect([taken.status, taken.body]).toEqual([
    200,
    { job_id: expect.any(String), state: 'NOT_STARTED' },
  ])
  const state = async () =>
    (await core.call('GET', `/accounts/upload/${taken.body.job_id}`)).body.state
  await until('the upload has ended', async () => ['SUCCESS', 'FAILURE'].includes(await state()))
  return state()
}

const accountsOf = async (app_id: string) =>
  (await core.call('GET', `/accounts?app_id=${app_id}`)).body.items

test('accounts are added, and matched to users by e-mail', async () => {
  const appId = await newApp()
  const state = await upload(appId, [
    {
      unique_identifier: 'u1',
      email: 'ada@EXAMPLE.com',
      status: 'SUSPENDED',
      last_login: '2026-01-02',
    },
    { unique_identifier: null, email: 'nobody@example.com' },
  ])
  expect(state).toBe('SUCCESS')
  expect(await accountsOf(appId)).toMatchObject([
    {
      unique_identifier: 'nobody@example.com',
      user_id: null,
      status: 'ACTIVE',
      last_login: null,
      sources: ['MANUAL'],
      discovered_at: expect.any(String),
    },
    {
      unique_identifier: 'u1',
      email: 'ada@EXAMPLE.com',
      user_id: ada.id,
      status: 'SUSPENDED',
      last_login: '2026-01-02T00:00:00.000Z',
    },
  ])
})

test('repeating an upload changes nothing; another one changes what it names, and removes nothing', async () => {
  const appId = await newApp()
  const rows = [
    { unique_identifier: 'u1', email: 'ada@example.com', permissions: [{ name: 'Editor' }] },
    { unique_identifier: 'u2', last_login: '2026-02-01T00:00:00Z' },
  ]
  await upload(appId, rows)
  expect(await lastEvents(core, 1)).toEqual([
    ['ACCOUNTS_UPLOADED', { added: 2, changed: 0, unchanged: 0, app_id: appId }],
  ])
  const before = await accountsOf(appId)
  await upload(appId, rows)
  expect(await lastEvents(core, 1)).toEqual([
    ['ACCOUNTS_UPLOADED', { added: 0, changed: 0, unchanged: 2, app_id: appId }],
  ])
  expect(await accountsOf(appId)).toEqual(before)
  await upload(appId, [
    { unique_identifier: null, email: 'ADA@example.com', status: 'ARCHIVED' },
    { unique_identifier: 'u3' },
  ])
  expect(await accountsOf(appId)).toMatchObject([
    { unique_identifier: 'u1', status: 'ARCHIVED', user_id: ada.id },
    { unique_identifier: 'u2', status: 'ACTIVE' },
    { unique_identifier: 'u3' },
  ])
})

test('the last use of an account moves neither back nor into the future', async () => {
  const appId = await newApp()
  await upload(appId, [{ unique_identifier: 'u', last_login: '2026-03-03T00:00:00Z' }])
  await upload(appId, [
    { unique_identifier: 'u', last_login: '2026-01-01T00:00:00Z', last_activity: '9000-01-01' },
  ])
  const [one] = await accountsOf(appId)
  expect(one.last_login).toBe('2026-03-03T00:00:00.000Z')
  expect(Date.parse(one.last_activity)).toBeLessThanOrEqual(Date.now() + 60_000)
})

test('an upload in which two rows name one account fails and changes nothing', async () => {
  const appId = await newApp()
  await upload(appId, [{ unique_identifier: 'u', email: 'ada@example.com' }])
  const state = await upload(appId, [
    { unique_identifier: 'new' },
    { unique_identifier: 'u' },
    { unique_identifier: null, email: 'ada@example.com' },
  ])
  expect(state).toBe('FAILURE')
  expect(logged(core, 'app_id', appId)).toEqual([
    'warn: an upload failed, and nothing of it was kept; the activity log says why',
  ])
  expect(await accountsOf(appId)).toHaveLength(1)
  expect(await lastEvents(core, 1)).toEqual([
    ['ACCOUNTS_UPLOADED', { problem: expect.stringContaining('appears twice'), app_id: appId }],
  ])
})

test('ten thousand accounts are added once when they are sent several times at once', async () => {
  const appId = await newApp()
  const rows = Array.from({ length: 10_000 }, (_, n) => ({
    unique_identifier: `u${n}`,
    email: `u${n}@example.com`,
    first_name: 'x'.repeat(100),
  }))
  expect(await Promise.all([1, 2, 3].map(() => upload(appId, rows)))).toEqual(
    Array(3).fill('SUCCESS'),
  )
  const { total } = (await core.call('GET', `/accounts?app_id=${appId}&size=1`)).body
  expect(total).toBe(10_000)
  expect((await post(appId, [...rows, { unique_identifier: 'more' }])).status).toBe(422)
})

test.each([
  ['has lost the role', (id: string) => core.db.delete(userRoles).where(eq(userRoles.userId, id))],
  [
    'is suspended',
    (id: string) => core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, id)),
  ],
  [
    'no longer manages the app',
    (id: string) =>
      core.db.update(apps).set({ adminUserIds: [] }).where(sql`${id} = any(${apps.adminUserIds})`),
  ],
])('a waiting upload fails and stores nothing if its sender %s', async (what, takeAway) => {
  const sender = await person(core.db, `${what.replaceAll(' ', '-')}@example.com`, ['App Admin'])
  const mine = await newApp({ adminUserIds: [sender.id] })
  let taken: Promise<unknown> | undefined
  const looks = lookAtStatements((text) => {
    if (taken !== undefined || !/^update "uploads" set "state"/.test(text)) return undefined
    taken = takeAway(sender.id).execute()
    return taken
  })
  const { body } = await post(mine, [{ unique_identifier: 'a' }], sender.token)
  const path = `/accounts/upload/${body.job_id}`
  await until('the upload has ended', async () =>
    ['SUCCESS', 'FAILURE'].includes((await core.call('GET', path)).body.state),
  ).finally(() => looks.mockRestore())
  expect((await core.call('GET', path)).body.state).toBe('FAILURE')
  expect(await accountsOf(mine)).toEqual([])
  expect(await lastEvents(core, 1)).toEqual([
    [
      'ACCOUNTS_UPLOADED',
      {
        problem: expect.stringMatching(
          /^its sender (no longer manages the app|is no longer active, or no longer manages any app)$/,
        ),
        app_id: mine,
      },
    ],
  ])
})

test('at most a hundred uploads of one user wait; those of others are accepted', async () => {
  const appId = await newApp()
  const busy = await person(core.db, 'busy@example.com', ['Admin'])
  // Enough that the host, which starts at once, does not soon bring them below a hundred.
  const domainId = await domainOf(core.db)
  const waiting = { domainId, kind: 'accounts' as const, appId, userId: busy.id, body: [] }
  await core.db.insert(uploads).values(Array.from({ length: 300 }, () => waiting))
  const one = [{ unique_identifier: 'a' }]
  const taken = await post(appId, one, busy.token)
  expect([taken.status, taken.headers.get('retry-after')]).toEqual([429, '10'])
  expect(taken.body.detail).toContain('wait')
  expect((await post(appId, one)).status).toBe(200)
})

describe('refuses', () => {
  test.each([
    [
      'an account without an id, an address and a name',
      [{ unique_identifier: null }],
      ['accounts', 0],
    ],
    [
      'an account without a unique_identifier',
      [{ email: 'a@b' }],
      ['accounts', 0, 'unique_identifier'],
    ],
    [
      'a duplicate unique_identifier',
      [{ unique_identifier: 'a' }, { unique_identifier: 'a' }],
      ['accounts', 1],
    ],
    ['an unknown status', [{ unique_identifier: 'a', status: 'GONE' }], ['accounts', 0, 'status']],
    [
      'an invalid time',
      [{ unique_identifier: 'a', last_login: 'soon' }],
      ['accounts', 0, 'last_login'],
    ],
    [
      'a unique_identifier that is too long',
      [{ unique_identifier: 'x'.repeat(513) }],
      ['accounts', 0, 'unique_identifier'],
    ],
  ])('%s', async (_, accounts, loc) => {
    const refused = await post(await newApp(), accounts)
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', ...loc]])
  })

  test('a connected app, whose accounts come from syncs', async () => {
    const refused = await post(await newApp({ connectorId: 'scim' }), [])
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'app_id']])
  })

  test('more than eight megabytes', async () => {
    const raw = `{"accounts":[${'"'.padEnd(8 * 2 ** 20, 'x')}"]}`
    expect((await core.call('POST', '/accounts/upload', { raw })).status).toBe(413)
  })

  test('a user who does not manage the app', async () => {
    const owner = await person(core.db, 'owner@example.com', ['App Admin'])
    const mine = await newApp({ adminUserIds: [owner.id] })
    const rows = [{ unique_identifier: 'a' }]
    expect((await post(await newApp(), rows, owner.token)).status).toBe(404)
    expect((await post(await newApp(), rows, ada.token)).status).toBe(403)
    const domainId = await otherDomain(core.db)
    expect((await post(await newApp({ domainId }), rows)).status).toBe(404)
    expect((await post(mine, rows, owner.readOnlyToken)).status).toBe(403)
    const taken = await post(mine, rows, owner.token)
    expect(taken.status).toBe(200)
    const path = `/accounts/upload/${taken.body.job_id}`
    expect((await core.call('GET', path, { token: owner.token })).status).toBe(200)
    expect((await core.call('GET', path, { token: ada.token })).status).toBe(404)
  })

  test.each([NOBODY_ID, 'nothing'])('a query for an unknown job: %s', async (id) => {
    expect((await core.call('GET', `/accounts/upload/${id}`)).status).toBe(404)
    expect((await core.call('GET', `/activity_records/job/${id}`)).status).toBe(404)
  })
})
