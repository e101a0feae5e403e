import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '../../../../runtime/database/schema/apps.ts'
import {
  app,
  type CoreHost,
  domainOf,
  otherDomain,
  type Person,
  person,
  startCore,
} from '../../host.ts'

let core: CoreHost
let ada: Person
let auditor: Person
let appId: string

beforeAll(async () => {
  core = await startCore()
  ada = await person(core.db, 'ada@example.com')
  auditor = await person(core.db, 'auditor@example.com', ['Auditor'])
  appId = await app(core.db, 'Wiki')
  const domainId = await domainOf(core.db)
  const lastLogin = new Date('2026-01-02T03:04:05Z')
  await core.db.insert(accounts).values([
    { domainId, appId, uniqueIdentifier: 'b', userId: ada.id },
    {
      domainId,
      appId,
      uniqueIdentifier: 'a',
      userId: ada.id,
      email: 'ada@wiki.example',
      status: 'ACTIVE',
      lastLogin,
    },
    { domainId, appId, uniqueIdentifier: 'c', userId: auditor.id },
  ])
})
afterAll(() => core.stop())

const read = (id: string, { token }: Person, query = '') =>
  core.call('GET', `/users/${id}/accounts${query}`, { token })

test('a person reads their own accounts, a page at a time', async () => {
  const { status, body } = await read(ada.id, ada, '?size=1')
  expect([status, body.total, body.pages]).toEqual([200, 2, 2])
  expect(body.items[0]).toMatchObject({
    app_id: appId,
    account_type: 'USER',
    status: 'ACTIVE',
    app: null,
    unique_identifier: 'a',
    email: 'ada@wiki.example',
    user_id: ada.id,
    last_login: '2026-01-02T03:04:05.000Z',
    last_activity: null,
  })
  const next = (await read(ada.id, ada, '?size=1&page=2')).body
  expect(next.items[0].unique_identifier).toBe('b')
})

test('expand=app includes the app of each account', async () => {
  const { body } = await read(ada.id, ada, '?expand=app')
  expect(body.items[0].app).toMatchObject({ id: appId, user_friendly_label: 'Wiki' })
})

test('accounts of other people require permission', async () => {
  expect((await read(ada.id, auditor)).body.total).toBe(2)
  expect((await read(auditor.id, ada)).status).toBe(403)
})

test('an unknown user, or one of another domain, is not found', async () => {
  const foreign = await person(core.db, 'f@example.com', [], await otherDomain(core.db))
  for (const id of ['00000000-0000-0000-0000-000000000000', 'x', foreign.id])
    expect((await read(id, auditor)).status).toBe(404)
})
