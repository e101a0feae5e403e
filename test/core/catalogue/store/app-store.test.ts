import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  app,
  type CoreHost,
  group,
  otherDomain,
  type Person,
  person,
  startCore,
} from '../../host.ts'
import { lastEvents, NOBODY_ID } from '../../store.ts'

let core: CoreHost
let member: Person
let stranger: Person
let owner: Person
let reader: Person
let storeReader: Person
let team: string
const ids: Record<string, string> = {}

/** Request flows by app name; they decide who can see the app. */
const APPS: Record<string, object> = {
  Full: { discoverability: 'FULL' },
  Limited: { discoverability: 'LIMITED', allowed_groups: { type: 'SPECIFIED_GROUPS' } },
  'Limited to all': { discoverability: 'LIMITED' },
  'Limited to none': {
    discoverability: 'LIMITED',
    allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [] },
  },
  None: { discoverability: 'NONE' },
}

beforeAll(async () => {
  core = await startCore()
  member = await person(core.db, 'member@example.com')
  stranger = await person(core.db, 'stranger@example.com')
  owner = await person(core.db, 'owner@example.com', ['App Admin'])
  reader = await person(core.db, 'reader@example.com', ['Read Only Admin'])
  storeReader = await person(core.db, 'store@example.com', ['AppStore Read Only Admin'])
  team = await group(core.db, 'Team', [member])
  for (const [name, request_flow] of Object.entries(APPS)) {
    const id = await app(core.db, name)
    ids[name] = id
    const groups = name === 'Limited' ? { allowed_groups: { groups: [{ id: team }] } } : {}
    const { status } = await core.call('POST', '/appstore/apps', {
      body: { app_id: id, request_flow },
    })
    expect(status).toBe(200)
    if (name === 'Limited')
      await core.call('PATCH', `/appstore/apps/${id}/settings`, { body: { request_flow: groups } })
  }
  ids['Outside'] = await app(core.db, 'Outside')
  ids['Foreign'] = await app(core.db, 'Foreign', { domainId: await otherDomain(core.db) })
  await core.call('PATCH', `/apps/${ids['None']}/settings`, {
    body: { request_flow: { admins: { users: [{ id: owner.id }] } } },
  })
})
afterAll(() => core.stop())

const names = (body: { items: { user_friendly_label: string }[] }) =>
  body.items.map((one) => one.user_friendly_label)

const found = async (who: Person, query = '') =>
  names((await core.call('GET', `/appstore/apps${query}`, { token: who.token })).body)

describe('the apps of the store', () => {
  test('are those visible to the requester', async () => {
    expect(await found(stranger)).toEqual(['Full', 'Limited to all'])
    expect(await found(member)).toEqual(['Full', 'Limited', 'Limited to all'])
  })

  test('include an App Admin’s own hidden apps', async () => {
    expect(await found(owner)).toEqual(['Full', 'Limited to all', 'None'])
  })

  test('include hidden apps for store readers with all_visibilities=true', async () => {
    const all = ['Full', 'Limited', 'Limited to all', 'Limited to none', 'None']
    expect(await found(reader, '?all_visibilities=true')).toEqual(all)
    expect(await found(storeReader, '?all_visibilities=true')).toEqual(all)
    expect(await found(reader)).toEqual(['Full', 'Limited to all'])
  })

  test('are refused to requesters and App Admins with all_visibilities=true', async () => {
    for (const { token } of [member, owner]) {
      const { status } = await core.call('GET', '/appstore/apps?all_visibilities=true', { token })
      expect(status).toBe(403)
    }
  })

  test.each([
    ['?name_search=limit', ['Limited', 'Limited to all']],
    ['?name_search=limited&exact_match=true', ['Limited']],
    ['?name_search=%25', []],
    ['?app_id=nonsense', []],
    ['?size=1&page=2', ['Limited']],
    ['?size=1&page=9', []],
  ])('are found by %s', async (query, expected) => {
    expect(await found(member, query)).toEqual(expected)
  })

  test('are found by app_id', async () => {
    expect(await found(member, `?app_id=${ids['Limited']}`)).toEqual(['Limited'])
    expect(await found(stranger, `?app_id=${ids['Limited']}`)).toEqual([])
    expect(await found(member, `?app_id=${ids['Outside']}`)).toEqual([])
  })

  test('are returned with all fields', async () => {
    const { body } = await core.call('GET', `/appstore/apps/${ids['Full']}`, {
      token: stranger.token,
    })
    expect(body).toEqual({
      id: ids['Full'],
      app_class_id: 'full',
      instance_id: 'custom_app_import',
      user_friendly_label: 'Full',
      status: 'APPROVED',
      sources: [],
      allow_multiple_permission_selection: false,
      logo_url: null,
      website_url: null,
      request_instructions: null,
      description: null,
      category: null,
      disconnected: false,
      links: { self: `/apps/${ids['Full']}`, admin_url: `/apps/${ids['Full']}/settings` },
      sync_status: null,
      custom_attributes: null,
    })
    const expanded = `/appstore/apps/${ids['Full']}?expand=custom_attributes`
    expect((await core.call('GET', expanded)).body.custom_attributes).toEqual({})
  })

  test.each([
    ['None', [404, 404, 200, 200, 200]],
    ['Limited', [404, 200, 404, 200, 200]],
    ['Limited to none', [404, 404, 404, 200, 200]],
    ['Full', [200, 200, 200, 200, 200]],
    ['Outside', [404, 404, 404, 404, 404]],
    ['Foreign', [404, 404, 404, 404, 404]],
  ])('%s is returned only to people who can see it', async (name, expected) => {
    for (const path of [`/appstore/apps/${ids[name]}`, `/appstore/apps/${ids[name]}/settings`]) {
      const callers = [stranger, member, owner, reader, storeReader]
      const replies = callers.map(({ token }) => core.call('GET', path, { token }))
      expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(expected)
    }
  })
})

describe('putting an app into the store', () => {
  test('is logged, and is a conflict the second time', async () => {
    const id = await app(core.db, 'Once')
    const body = { app_id: id, custom_request_instructions: 'Ask' }
    expect((await core.call('POST', '/appstore/apps', { body })).status).toBe(200)
    expect(await lastEvents(core, 2)).toEqual([
      ['ADMIN_ADDED_APP_TO_APP_STORE', {}],
      ['ADMIN_UPDATED_APP_STORE_SETTINGS', { changed: ['custom_request_instructions'] }],
    ])
    const again = await core.call('POST', '/appstore/apps', { body })
    expect(again).toMatchObject({ status: 409, body: { detail: expect.stringContaining('PATCH') } })
  })

  test('succeeds once when two calls run at the same time', async () => {
    const id = await app(core.db, 'Race')
    const both = [1, 2].map(() => core.call('POST', '/appstore/apps', { body: { app_id: id } }))
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409])
  })

  test('keeps the settings made while it was outside', async () => {
    const id = await app(core.db, 'Prepared')
    await core.call('PATCH', `/apps/${id}/settings`, {
      body: { custom_request_instructions: 'Prepared' },
    })
    const { body } = await core.call('POST', '/appstore/apps', { body: { app_id: id } })
    expect(body.custom_request_instructions).toBe('Prepared')
  })

  test('requires an existing app', async () => {
    for (const app_id of [NOBODY_ID, ids['Foreign'], 'nonsense', ''])
      expect((await core.call('POST', '/appstore/apps', { body: { app_id } })).status).toBe(404)
    const missing = await core.call('POST', '/appstore/apps', { body: {} })
    expect(missing.body.detail).toEqual([
      { loc: ['body', 'app_id'], msg: 'Field required', type: 'missing' },
    ])
  })

  test('is refused to readers, and allowed to App Admins for their own apps', async () => {
    const own = await app(core.db, 'Own', { adminUserIds: [owner.id] })
    const add = async (who: Person, app_id = own) =>
      (await core.call('POST', '/appstore/apps', { token: who.token, body: { app_id } })).status
    expect(await add(member)).toBe(403)
    expect(await add(reader)).toBe(403)
    expect(await add(storeReader)).toBe(403)
    expect(await add(owner, ids['Outside'])).toBe(404)
    expect(await add(owner)).toBe(200)
  })
})

describe('taking an app out of the store', () => {
  test('keeps the app, its permissions and its admins, and deletes the settings', async () => {
    const id = await app(core.db, 'Leaving', { adminUserIds: [owner.id] })
    const body = { app_id: id, custom_request_instructions: 'Gone soon' }
    await core.call('POST', '/appstore/apps', { body })
    const permission = await core.call('POST', '/appstore/requestable_permissions', {
      body: { app_id: id, label: 'Stays' },
    })
    const removed = await core.call('DELETE', `/appstore/apps/${id}`)
    expect(removed).toMatchObject({ status: 200, body: { id, in_app_store: false } })
    expect(await lastEvents(core, 1)).toEqual([['ADMIN_REMOVED_APP_FROM_APP_STORE', {}]])
    expect((await core.call('GET', `/apps/${id}`)).status).toBe(200)
    expect((await core.call('GET', `/appstore/apps/${id}`)).status).toBe(404)
    expect((await core.call('GET', `/appstore/apps/${id}/settings`)).status).toBe(404)
    const path = `/appstore/requestable_permissions/${permission.body.id}`
    expect((await core.call('GET', path)).status).toBe(200)
    const settings = (await core.call('GET', `/apps/${id}/settings`)).body
    expect(settings).toMatchObject({ in_app_store: false, custom_request_instructions: '' })
    expect(settings.request_flow.admins.users).toHaveLength(1)
    expect((await core.call('DELETE', `/appstore/apps/${id}`)).status).toBe(404)
  })

  test('is refused to callers with read-only access', async () => {
    for (const { token } of [member, reader, storeReader])
      expect((await core.call('DELETE', `/appstore/apps/${ids['Full']}`, { token })).status).toBe(
        403,
      )
    const admin = await person(core.db, 'admin2@example.com', ['Admin'])
    const { status } = await core.call('DELETE', `/appstore/apps/${ids['Full']}`, {
      token: admin.readOnlyToken,
    })
    expect(status).toBe(403)
  })
})

test('an app that is removed with in_app_store=false keeps its settings', async () => {
  const id = await app(core.db, 'Switched')
  await core.call('POST', '/appstore/apps', {
    body: { app_id: id, custom_request_instructions: 'Kept' },
  })
  const off = await core.call('PATCH', `/apps/${id}/settings`, { body: { in_app_store: false } })
  expect(off.body).toMatchObject({ in_app_store: false, custom_request_instructions: 'Kept' })
  expect((await core.call('GET', `/appstore/apps/${id}`)).status).toBe(404)
  expect((await core.call('PATCH', `/appstore/apps/${id}/settings`, { body: {} })).status).toBe(404)
  const on = await core.call('PATCH', `/apps/${id}/settings`, { body: { in_app_store: true } })
  expect(on.body).toMatchObject({ in_app_store: true, custom_request_instructions: 'Kept' })
})
