import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  app,
  type CoreHost,
  otherDomain,
  type Person,
  person,
  startCore,
  task,
} from '../../host.ts'

let core: CoreHost
let owner: Person
let user: Person
let mine: string
let other: string
let foreign: string

beforeAll(async () => {
  core = await startCore()
  owner = await person(core.db, 'owner@example.com', ['App Admin'])
  user = await person(core.db, 'user@example.com')
  mine = await app(core.db, 'Mine', { adminUserIds: [owner.id] })
  other = await app(core.db, 'Other', { disconnectedAt: new Date() })
  foreign = await app(core.db, 'Foreign', { domainId: await otherDomain(core.db) })
})
afterAll(() => core.stop())

const names = (body: { items: { user_friendly_label: string }[] }) =>
  body.items.map((one) => one.user_friendly_label)

describe('apps', () => {
  test('are listed by name, and only those of the domain', async () => {
    expect(names((await core.call('GET', '/apps')).body)).toEqual(['Mine', 'Other'])
    expect((await core.call('GET', `/apps/${foreign}`)).status).toBe(404)
  })

  test.each([
    ['name_search=MIN', ['Mine']],
    ['name_search=min&exact_match=true', []],
    ['name_search=mine&exact_match=true', ['Mine']],
    ['disconnected=true', ['Other']],
    ['disconnected=false&connection_source=API', ['Mine']],
    ['connection_source=UI', []],
  ])('are found by %s', async (query, found) => {
    expect(names((await core.call('GET', `/apps?${query}`)).body)).toEqual(found)
  })

  test('are visible to an App Admin only if they list that person as an admin', async () => {
    const { token } = owner
    expect(names((await core.call('GET', '/apps', { token })).body)).toEqual(['Mine'])
    expect((await core.call('GET', `/apps/${mine}`, { token })).status).toBe(200)
    expect((await core.call('GET', `/apps/${other}`, { token })).status).toBe(404)
  })

  test('are refused to a plain user', async () => {
    const { token } = user
    expect((await core.call('GET', '/apps', { token })).status).toBe(403)
    expect((await core.call('GET', `/apps/${mine}`, { token })).status).toBe(403)
  })
})

test('an App Admin sees and completes only the tasks of their own apps', async () => {
  const { token } = owner
  const near = await task(core.db, { appId: mine })
  const far = await task(core.db, { appId: other })
  const listed = await core.call('GET', '/tasks?show_all_tasks=true', { token })
  expect(listed.body.items.map(({ id }: { id: string }) => id)).toEqual([near])
  expect((await core.call('POST', `/tasks/${far}/complete`, { token })).status).toBe(404)
  expect((await core.call('POST', `/tasks/${near}/complete`, { token })).status).toBe(204)
})

test('a person who is listed as an admin but lacks the role App Admin cannot read the app', async () => {
  const plain = await person(core.db, 'listed@example.com')
  const id = await app(core.db, 'Listed', { adminUserIds: [plain.id] })
  expect((await core.call('GET', `/apps/${id}`, { token: plain.token })).status).toBe(403)
})
