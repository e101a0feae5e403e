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
import { groupBody, lastEvents, NOBODY_ID, webhook } from '../../store.ts'

let core: CoreHost
let owner: Person
let team: string
let crew: string
let hook: string
let appId: string
let permission: string

const BASE = '/appstore/pre_approval_rules'
const PERMISSIONS = '/appstore/requestable_permissions'

beforeAll(async () => {
  core = await startCore()
  owner = await person(core.db, 'owner@example.com', ['App Admin'])
  team = await group(core.db, 'Team', [])
  crew = await group(core.db, 'Crew', [])
  hook = await webhook(core.db, 'PRE_APPROVAL')
  appId = await app(core.db, 'Acme', { adminUserIds: [owner.id] })
  permission = await made('Editor')
})
afterAll(() => core.stop())

async function made(label: string, app_id = appId): Promise<string> {
  return (await core.call('POST', PERMISSIONS, { body: { app_id, label } })).body.id
}

const create = (more: object = {}) =>
  core.call('POST', BASE, { body: { app_id: appId, justification: 'Everybody needs it', ...more } })

test('a rule is returned as written, with its lists in their original order', async () => {
  const second = await made('Viewer')
  const { status, body } = await create({
    time_based_access: ['Unlimited', '2 hours'],
    preapproved_groups: [{ id: team }, { id: crew }],
    preapproved_permissions: [{ id: second }, { id: permission }],
    preapproved_users_by_attribute: [
      { attribute: 'title', value: 'Engineer' },
      { attribute: 'department', value: '' },
    ],
    preapproval_webhooks: [{ id: hook }],
  })
  expect(status).toBe(201)
  const base = (id: string, label: string) => ({
    id,
    type: 'NATIVE',
    label,
    app_id: appId,
    app_class_id: 'acme',
    app_instance_id: 'custom_app_import',
  })
  const expected = {
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    justification: 'Everybody needs it',
    time_based_access: ['Unlimited', '2 hours'],
    app_id: appId,
    app_class_id: 'acme',
    app_instance_id: 'custom_app_import',
    preapproved_groups: [groupBody(team, 'Team'), groupBody(crew, 'Crew')],
    preapproved_users_by_attribute: [
      { attribute: 'title', value: 'Engineer' },
      { attribute: 'department', value: '' },
    ],
    preapproved_permissions: [base(second, 'Viewer'), base(permission, 'Editor')],
    preapproval_webhooks: [
      { id: hook, hook_type: 'PRE_APPROVAL', name: 'PRE_APPROVAL hook', description: null },
    ],
  }
  expect(body).toEqual(expected)
  expect((await core.call('GET', `${BASE}/${body.id}`)).body).toEqual(expected)
  expect(await lastEvents(core, 1)).toEqual([['APP_STORE_PRE_APPROVAL_RULE_CREATED', {}]])
  const again = await core.call('PATCH', `${BASE}/${body.id}`, { body })
  expect(again).toMatchObject({ status: 200, body: expected })
})

describe('a change', () => {
  test.each<[string, object, object]>([
    ['with only the same justification', {}, {}],
    [
      'of the access lengths',
      { time_based_access: ['90 days'] },
      { time_based_access: ['90 days'] },
    ],
    ['to no access lengths', { time_based_access: [] }, { time_based_access: [] }],
    ['to no groups', { preapproved_groups: [] }, { preapproved_groups: [] }],
    [
      'of attributes',
      { preapproved_users_by_attribute: [{ attribute: 'a', value: 'b' }] },
      { preapproved_users_by_attribute: [{ attribute: 'a', value: 'b' }] },
    ],
  ])('%s leaves the rest as it is', async (_, change, expected) => {
    const { body: before } = await create({
      time_based_access: ['1 day'],
      preapproved_groups: [{ id: team }],
    })
    const body = { justification: before.justification, ...change }
    const reply = await core.call('PATCH', `${BASE}/${before.id}`, { body })
    expect(reply.body).toEqual({ ...before, ...expected })
    expect((await core.call('GET', `${BASE}/${before.id}`)).body).toEqual(reply.body)
    const events = await lastEvents(core, 1)
    if (Object.keys(change).length > 0)
      expect(events).toEqual([
        ['APP_STORE_PRE_APPROVAL_RULE_UPDATED', { changed: Object.keys(change) }],
      ])
    else expect(events[0]?.[0]).toBe('APP_STORE_PRE_APPROVAL_RULE_CREATED')
  })

  test('requires the justification again', async () => {
    const { body } = await create()
    const reply = await core.call('PATCH', `${BASE}/${body.id}`, {
      body: { time_based_access: [] },
    })
    expect(reply.body.detail).toEqual([
      { loc: ['body', 'justification'], msg: 'Field required', type: 'missing' },
    ])
  })

  test('of different members at the same time keeps both', async () => {
    const { body } = await create()
    const { justification } = body
    const changes = [{ time_based_access: ['1 day'] }, { preapproved_groups: [{ id: crew }] }]
    await Promise.all(
      changes.map((change) =>
        core.call('PATCH', `${BASE}/${body.id}`, { body: { justification, ...change } }),
      ),
    )
    const after = (await core.call('GET', `${BASE}/${body.id}`)).body
    expect(after).toMatchObject({
      time_based_access: ['1 day'],
      preapproved_groups: [{ id: crew }],
    })
  })
})

test('rules are listed by app, oldest first, and deleted', async () => {
  const app_id = await app(core.db, 'Listed')
  const first = (await create({ app_id, justification: 'first' })).body
  const second = (await create({ app_id, justification: 'second' })).body
  const list = async () => (await core.call('GET', `${BASE}?app_id=${app_id}`)).body
  expect(await list()).toEqual({ items: [first, second], total: 2, page: 1, size: 50, pages: 1 })
  const removed = await core.call('DELETE', `${BASE}/${first.id}`)
  expect([removed.status, removed.body]).toEqual([204, null])
  expect(await lastEvents(core, 1)).toEqual([['APP_STORE_PRE_APPROVAL_RULE_DELETED', {}]])
  expect((await list()).items).toEqual([second])
  expect((await core.call('DELETE', `${BASE}/${first.id}`)).status).toBe(404)
  expect((await core.call('GET', BASE)).status).toBe(422)
  expect((await core.call('GET', `${BASE}?app_id=${NOBODY_ID}`)).status).toBe(404)
})

describe('a permission that a rule names', () => {
  test('cannot be deleted before the rule', async () => {
    const id = await made('Named')
    const { body: rule } = await create({ preapproved_permissions: [{ id }] })
    const refused = await core.call('DELETE', `${PERMISSIONS}/${id}`)
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining(rule.id) },
    })
    await core.call('DELETE', `${BASE}/${rule.id}`)
    expect((await core.call('DELETE', `${PERMISSIONS}/${id}`)).status).toBe(204)
  })

  test('is either named or deleted when both happen at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await made(`Race ${round}`)
      const [rule, removal] = await Promise.all([
        create({ preapproved_permissions: [{ id }] }),
        core.call('DELETE', `${PERMISSIONS}/${id}`),
      ])
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([rule.status, removal.status])
    }
  })
})

describe('an invalid body is refused', () => {
  test.each<[string, () => object, (string | number)[], string]>([
    ['an unknown length', () => ({ time_based_access: ['x'] }), ['time_based_access', 0], 'enum'],
    [
      'an unknown group',
      () => ({ preapproved_groups: [{ id: NOBODY_ID }] }),
      ['preapproved_groups', 0],
      'value_error',
    ],
    [
      'a webhook of another type',
      () => ({ preapproval_webhooks: [{ id: siem }] }),
      ['preapproval_webhooks', 0],
      'value_error',
    ],
    [
      'a permission of another app',
      () => ({ preapproved_permissions: [{ id: foreign }] }),
      ['preapproved_permissions', 0],
      'value_error',
    ],
    [
      'a permission without an id',
      () => ({ preapproved_permissions: [{}] }),
      ['preapproved_permissions', 0, 'id'],
      'missing',
    ],
    [
      'an attribute without a value',
      () => ({ preapproved_users_by_attribute: [{ attribute: 'a' }] }),
      ['preapproved_users_by_attribute', 0, 'value'],
      'missing',
    ],
    [
      'null instead of a list',
      () => ({ preapproved_groups: null }),
      ['preapproved_groups'],
      'list_type',
    ],
    [
      'null instead of a justification',
      () => ({ justification: null }),
      ['justification'],
      'string_type',
    ],
  ])('with %s', async (_, more, loc, type) => {
    const reply = await create(more())
    expect(reply.status).toBe(422)
    expect(reply.body.detail[0]).toMatchObject({ loc: ['body', ...loc], type })
  })

  let siem: string
  let foreign: string
  beforeAll(async () => {
    siem = await webhook(core.db, 'SIEM')
    foreign = await made('Foreign', await app(core.db, 'Other'))
  })
})

test.each<[string, string[], number, number]>([
  ['a caller without roles', [], 403, 403],
  ['a Read Only Admin', ['Read Only Admin'], 200, 403],
  ['an AppStore Read Only Admin', ['AppStore Read Only Admin'], 200, 403],
  ['an App Admin of other apps', ['App Admin'], 404, 404],
])('rules are accessible to %s according to the roles', async (name, roles, reads, writes) => {
  const { body } = await create()
  const { token } = await person(core.db, `${name.replaceAll(' ', '.')}@example.com`, roles)
  const change = { justification: 'new' }
  const path = `${BASE}/${body.id}`
  expect((await core.call('GET', path, { token })).status).toBe(reads)
  expect((await core.call('GET', `${BASE}?app_id=${appId}`, { token })).status).toBe(reads)
  expect((await core.call('PATCH', path, { token, body: change })).status).toBe(writes)
  expect((await core.call('DELETE', path, { token })).status).toBe(writes)
  const made = { ...change, app_id: appId }
  expect((await core.call('POST', BASE, { token, body: made })).status).toBe(writes)
})

test('rules can be changed by an admin of their app, but not from another domain', async () => {
  const { body } = await create()
  const change = { justification: 'Mine' }
  const path = `${BASE}/${body.id}`
  const { token } = owner
  expect((await core.call('PATCH', path, { token, body: change })).status).toBe(200)
  const abroad = await person(core.db, 'abroad@example.com', ['Admin'], await otherDomain(core.db))
  for (const [method, sent] of [['GET'], ['PATCH', change], ['DELETE']] as const)
    expect(
      (await core.call(method, path, { token: abroad.token, ...(sent ? { body: sent } : {}) }))
        .status,
    ).toBe(404)
})
