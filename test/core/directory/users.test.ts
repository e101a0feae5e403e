import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CoreHost, group, otherDomain, type Person, person, startCore } from '../host.ts'

let core: CoreHost
let ada: Person
let auditor: Person
let stranger: Person

beforeAll(async () => {
  core = await startCore()
  ada = await person(core.db, 'ada@example.com')
  auditor = await person(core.db, 'auditor@example.com', ['Auditor'])
  stranger = await person(core.db, 'stranger@example.com', [], await otherDomain(core.db))
})
afterAll(() => core.stop())

describe('a token', () => {
  test.each([
    ['missing', null],
    ['malformed', 'abc'],
    ['unknown', `lsk_${'x'.repeat(43)}`],
    ['truncated', 'lsk_'],
  ])('that is %s is not authenticated', async (_name, token) => {
    const { status, body, headers } = await core.call('GET', '/users/current', { token })
    expect({ status, body }).toEqual({ status: 401, body: { detail: 'Not authenticated' } })
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })

  test('authenticates the user that it belongs to', async () => {
    const { status, body } = await core.call('GET', '/users/current', { token: ada.token })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: ada.id,
      email: 'ada@example.com',
      given_name: 'ada',
      family_name: 'Test',
      status: 'ACTIVE',
    })
  })

  test('has its rate limit in the headers of the reply', async () => {
    const { headers } = await core.call('GET', '/users/current', { token: ada.token })
    expect(headers.get('x-ratelimit-limit')).toBe('600')
    expect(headers.get('x-ratelimit-scope')).toBe('host')
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(600)
    expect(headers.get('x-ratelimit-reset')).toMatch(/^\d+\.\d+$/)
  })

  test('that is read-only cannot write', async () => {
    const admin = await person(core.db, 'reader@example.com', ['Admin'])
    const target = `/users/${ada.id}/roles/Auditor`
    expect((await core.call('POST', target, { token: admin.readOnlyToken })).status).toBe(403)
    expect((await core.call('GET', '/users', { token: admin.readOnlyToken })).status).toBe(200)
  })
})

describe('users', () => {
  test('are listed by e-mail, in pages of the form that clients need', async () => {
    const { body } = await core.call('GET', '/users?page=2&size=1')
    expect(body).toMatchObject({ page: 2, size: 1 })
    expect(body.pages).toBe(body.total)
    expect(body.items).toHaveLength(1)
    expect(body.items[0]).toHaveProperty('custom_attributes', null)
    const { items } = (await core.call('GET', '/users?size=100')).body
    const emails: string[] = items.map(({ email }: { email: string }) => email)
    expect(emails).toEqual(emails.toSorted())
    expect(body.items[0].email).toBe(emails[1])
  })

  test('past the end are an empty page, with the correct total', async () => {
    const { body } = await core.call('GET', '/users?page=1000')
    expect(body.items).toEqual([])
    expect(body.total).toBeGreaterThan(2)
  })

  test.each([
    ['a part of the address', 'search_term=ADA%40', ['ada@example.com']],
    ['a part of the name', 'search_term=da%20te', ['ada@example.com']],
    ['the exact full name', 'search_term=ada%20test&exact_match=True', ['ada@example.com']],
    ['a part of the name, exactly', 'search_term=ada&exact_match=1', []],
    ['a wildcard of LIKE', 'search_term=%25', []],
    ['SQL', `search_term=${encodeURIComponent("' or 1=1 --")}`, []],
  ])('are searched by %s, taken literally', async (_name, query, emails) => {
    const { body } = await core.call('GET', `/users?${query}`)
    expect(body.items.map(({ email }: { email: string }) => email)).toEqual(emails)
  })

  test.each([
    ['size=0', 'size', 'greater_than_equal', 'Input should be greater than or equal to 1'],
    ['size=101', 'size', 'less_than_equal', 'Input should be less than or equal to 100'],
    ['page=0', 'page', 'greater_than_equal', 'Input should be greater than or equal to 1'],
    [
      'page=',
      'page',
      'int_parsing',
      'Input should be a valid integer, unable to parse string as an integer',
    ],
    [
      'size=1.5',
      'size',
      'int_parsing',
      'Input should be a valid integer, unable to parse string as an integer',
    ],
    [
      'exact_match=maybe',
      'exact_match',
      'bool_parsing',
      'Input should be a valid boolean, unable to interpret input',
    ],
  ])('with %s return a 422 with the reason', async (query, name, type, msg) => {
    const { status, body } = await core.call('GET', `/users?${query}`)
    expect({ status, body }).toEqual({
      status: 422,
      body: { detail: [{ loc: ['query', name], msg, type }] },
    })
  })

  test('use the last value of a repeated key', async () => {
    expect((await core.call('GET', '/users?size=0&size=3')).body.size).toBe(3)
  })

  test('of another domain, and with unknown or malformed ids, are not found', async () => {
    for (const id of [
      stranger.id,
      '00000000-0000-4000-8000-000000000000',
      'x',
      "'; drop table users; --",
      '..%2Fcurrent',
    ])
      expect(await core.call('GET', `/users/${encodeURIComponent(id)}`)).toMatchObject({
        status: 404,
        body: { detail: 'User not found' },
      })
  })

  test('can read themselves; reading others requires permission', async () => {
    expect((await core.call('GET', `/users/${ada.id}`, { token: ada.token })).status).toBe(200)
    expect((await core.call('GET', `/users/${auditor.id}`, { token: ada.token })).status).toBe(403)
    expect((await core.call('GET', '/users', { token: auditor.token })).status).toBe(403)
  })
})

describe('roles', () => {
  const of = async (id: string) => (await core.call('GET', `/users/${id}/roles`)).body

  test('are added, listed and removed; names match case-insensitively', async () => {
    expect(await core.call('POST', `/users/${ada.id}/roles/app%20ADMIN`)).toMatchObject({
      status: 201,
      body: { name: 'App Admin' },
    })
    expect((await core.call('POST', `/users/${ada.id}/roles/App%20Admin`)).status).toBe(201)
    expect(await of(ada.id)).toEqual([{ name: 'App Admin' }, { name: 'User' }])
    const removed = await core.call('DELETE', `/users/${ada.id}/roles/App%20Admin`)
    expect({ status: removed.status, body: removed.body }).toEqual({ status: 204, body: null })
    expect(await of(ada.id)).toEqual([{ name: 'User' }])
  })

  test('that the user does not have, or that do not exist, are not found', async () => {
    expect((await core.call('DELETE', `/users/${ada.id}/roles/Auditor`)).status).toBe(404)
    expect((await core.call('DELETE', `/users/${ada.id}/roles/Read%2FWrite`)).status).toBe(404)
    expect((await core.call('DELETE', `/users/${stranger.id}/roles/User`)).status).toBe(404)
  })

  test('require permission to be removed', async () => {
    expect(
      (await core.call('DELETE', `/users/${auditor.id}/roles/Auditor`, { token: ada.token }))
        .status,
    ).toBe(403)
  })

  test('lose effect at the next request after they are removed', async () => {
    const boss = await person(core.db, 'boss@example.com', ['Admin'])
    expect((await core.call('GET', '/users', { token: boss.token })).status).toBe(200)
    expect((await core.call('DELETE', `/users/${boss.id}/roles/Admin`)).status).toBe(204)
    expect((await core.call('GET', '/users', { token: boss.token })).status).toBe(403)
  })

  test('added several times at once are stored once', async () => {
    const target = `/users/${ada.id}/roles/Auditor`
    const answers = await Promise.all(Array.from({ length: 8 }, () => core.call('POST', target)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
    expect(await of(ada.id)).toEqual([{ name: 'Auditor' }, { name: 'User' }])
  })
})

describe('groups', () => {
  test('are listed, found by name and have members', async () => {
    const id = await group(core.db, 'Engineering', [ada, auditor])
    await group(core.db, 'Engineering managers', [])
    const names = async (query: string) =>
      (await core.call('GET', `/groups?${query}`)).body.items.map(
        ({ name }: { name: string }) => name,
      )
    expect(await names('name=engineer')).toEqual(['Engineering', 'Engineering managers'])
    expect(await names('name=Engineering&exact_match=yes')).toEqual(['Engineering'])
    expect(await names('app_id=x')).toEqual([])
    expect((await core.call('GET', `/groups/${id}`)).body).toEqual({
      id,
      app_id: '',
      integration_specific_id: '',
      name: 'Engineering',
      description: '',
      group_lifecycle: 'NATIVE',
      source_app_id: '',
    })
    const members = await core.call('GET', `/groups/${id}/users?size=1`)
    expect(members.body).toMatchObject({
      total: 2,
      pages: 2,
      items: [{ email: 'ada@example.com' }],
    })
    expect((await core.call('GET', '/groups/x')).status).toBe(404)
  })
})

test('an unknown path returns 404, and a wrong method returns 405', async () => {
  expect(await core.call('GET', '/nothing')).toMatchObject({
    status: 404,
    body: { detail: 'Not Found' },
  })
  const wrong = await core.call('PUT', '/users')
  expect(wrong).toMatchObject({ status: 405, body: { detail: 'Method Not Allowed' } })
  expect(wrong.headers.get('allow')).toBe('GET')
})

test('too many requests with one token return 429 with Retry-After', async () => {
  const strict = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '2' })
  const statuses = [1, 2, 3].map(() => strict.call('GET', '/users/current'))
  const answers = await Promise.all(statuses)
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429])
  expect(
    Number(answers.find(({ status }) => status === 429)?.headers.get('retry-after')),
  ).toBeGreaterThan(0)
  await strict.stop()
})

test('at most a hundred errors of a query are reported', async () => {
  const { status, body } = await core.call('GET', `/users?${'search_term=%00&'.repeat(500)}`)
  expect([status, body.detail.length]).toEqual([422, 100])
})
