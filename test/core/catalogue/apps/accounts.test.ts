import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '../../../../runtime/database/schema/apps.ts'
import { app, type CoreHost, domainOf, otherDomain, person, startCore } from '../../host.ts'

let core: CoreHost
let wiki: string
let forum: string

beforeAll(async () => {
  core = await startCore()
  wiki = await app(core.db, 'Wiki')
  forum = await app(core.db, 'Forum')
  const domainId = await domainOf(core.db)
  const on = (day: number) => new Date(Date.UTC(2026, 0, day))
  const of = (appId: string, name: string, more: object) => ({
    domainId,
    appId,
    uniqueIdentifier: name,
    ...more,
  })
  await core.db.insert(accounts).values([
    of(wiki, 'b', { status: 'ACTIVE', sources: ['LUMOS_INTEGRATION'], discoveredAt: on(1) }),
    of(wiki, 'a', {
      status: 'SUSPENDED',
      sources: ['LUMOS_INTEGRATION', 'MANUAL'],
      discoveredAt: on(2),
    }),
    of(forum, 'c', { status: 'ACTIVE', sources: ['MANUAL'], discoveredAt: on(3) }),
  ])
  const theirs = await otherDomain(core.db)
  const elsewhere = await app(core.db, 'Theirs', { domainId: theirs })
  await core.db
    .insert(accounts)
    .values({ domainId: theirs, appId: elsewhere, uniqueIdentifier: 'x', status: 'ACTIVE' })
})
afterAll(() => core.stop())

const names = async (query: string) => {
  const { status, body } = await core.call('GET', `/accounts?${query}`)
  expect(status).toBe(200)
  return body.items.map((one: { unique_identifier: string }) => one.unique_identifier).sort()
}

test.each([
  ['', ['a', 'b', 'c']],
  ['status=ACTIVE', ['b', 'c']],
  ['status=ACTIVE&status=SUSPENDED', ['a', 'b', 'c']],
  ['sources=MANUAL', ['a', 'c']],
  ['sources=OKTA', []],
  ['discovered_before=2026-01-02T00:00:00Z', ['b']],
  ['discovered_after=2026-01-02T00:00:00Z', ['c']],
  ['status=ACTIVE&sources=MANUAL', ['c']],
  ['app_id=nonsense', []],
])('the query "%s" lists the matching accounts of the domain only', async (query, expected) => {
  expect(await names(query)).toEqual(expected)
})

test('accounts of one app are ordered by unique_identifier; expand=app adds the app', async () => {
  const { body } = await core.call('GET', `/accounts?app_id=${wiki}&expand=app&size=1`)
  expect(body).toMatchObject({ total: 2, pages: 2, items: [{ unique_identifier: 'a' }] })
  expect(body.items[0].app).toMatchObject({ id: wiki, user_friendly_label: 'Wiki' })
})

test('an invalid status, source or time returns a 422 that names the parameter', async () => {
  const { status, body } = await core.call(
    'GET',
    '/accounts?status=GONE&sources=X&discovered_after=y',
  )
  expect(status).toBe(422)
  expect(body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual([
    'discovered_after',
    'sources',
    'status',
  ])
})

test('a person who may not read accounts is refused', async () => {
  const ada = await person(core.db, 'ada@example.com')
  expect((await core.call('GET', '/accounts', { token: ada.token })).status).toBe(403)
  const auditor = await person(core.db, 'auditor@example.com', ['Auditor'])
  expect((await core.call('GET', '/accounts', { token: auditor.readOnlyToken })).status).toBe(200)
})

test('an account requires an app of the same domain, cannot change app, and is deleted with it', async () => {
  const appId = await app(core.db, 'Gone')
  const domainId = await domainOf(core.db)
  const none = '00000000-0000-4000-8000-000000000009'
  const insert = (uniqueIdentifier: string, of: { domainId: string; appId: string }) =>
    core.db.insert(accounts).values({ ...of, uniqueIdentifier })
  const refused = { cause: { code: '23503' } }
  await insert('one', { domainId, appId })
  await expect(insert('two', { domainId, appId: none })).rejects.toMatchObject(refused)
  await expect(insert('three', { domainId: none, appId })).rejects.toMatchObject(refused)
  const both = [appId, none].map((of) => ({ domainId, appId: of, uniqueIdentifier: 'four' }))
  await expect(core.db.insert(accounts).values(both)).rejects.toMatchObject(refused)
  const ofApp = eq(accounts.appId, appId)
  await expect(
    core.db.update(accounts).set({ appId: wiki }).where(ofApp).execute(),
  ).rejects.toMatchObject(refused)
  await core.db.execute(sql`delete from apps where id = ${appId}`)
  expect(await core.db.select().from(accounts).where(ofApp)).toEqual([])
})
