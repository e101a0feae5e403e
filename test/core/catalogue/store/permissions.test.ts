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
import { withStatements } from '../../statements.ts'
import {
  groupBody,
  lastEvents,
  NOBODY_ID,
  syncedPermission,
  userBody,
  webhook,
} from '../../store.ts'

let core: CoreHost
let ada: Person
let bob: Person
let owner: Person
let team: string
let crew: string
let count = 0

beforeAll(async () => {
  core = await startCore()
  ada = await person(core.db, 'ada@example.com')
  bob = await person(core.db, 'bob@example.com')
  owner = await person(core.db, 'owner@example.com', ['App Admin'])
  team = await group(core.db, 'Team', [ada])
  crew = await group(core.db, 'Crew', [bob])
})
afterAll(() => core.stop())

const BASE = '/appstore/requestable_permissions'

async function inStore(settings: object = {}): Promise<string> {
  count += 1
  const id = await app(core.db, `App ${count}`, { adminUserIds: [owner.id] })
  await core.call('POST', '/appstore/apps', { body: { app_id: id, ...settings } })
  return id
}

const create = (app_id: string, request_config?: object | null, label = 'Editor') =>
  core.call('POST', `${BASE}?include_inherited_configs=false`, {
    body: { app_id, label, ...(request_config === undefined ? {} : { request_config }) },
  })
const change = (id: string, body: object, token?: string) =>
  core.call('PATCH', `${BASE}/${id}?include_inherited_configs=false`, {
    body,
    ...(token ? { token } : {}),
  })
const read = async (id: string, inherited = false) =>
  (await core.call('GET', `${BASE}/${id}?include_inherited_configs=${inherited}`)).body

const FRESH = {
  appstore_visibility: 'HIDDEN',
  allowed_groups_override: false,
  allowed_groups: { type: 'ALL_GROUPS', groups: [] },
  request_approval_config: {
    request_approval_config_override: false,
    manager_approval: 'NONE',
    require_additional_approval: false,
    custom_approval_message: null,
    custom_approval_message_override: false,
    approvers: { groups: [], users: [] },
    approvers_stage_2: { groups: [], users: [] },
    request_approval_stages: [{ approvers: null }],
    response_describes_entire_approval_workflow: true,
  },
  request_fulfillment_config: {
    manual_steps_needed: false,
    manual_instructions: null,
    time_based_access: [],
    time_based_access_override: false,
    provisioning_group: null,
    provisioning_webhook: null,
  },
  access_removal_inline_webhook: null,
  request_validation_inline_webhook: null,
}

describe('a new permission', () => {
  test.each([undefined, null, {}])('with the configuration %j has the defaults', async (config) => {
    const appId = await inStore()
    const { status, body } = await create(appId, config)
    expect(status).toBe(201)
    const expected = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      type: 'NATIVE',
      label: 'Editor',
      app_id: appId,
      app_class_id: `app ${count}`,
      app_instance_id: 'custom_app_import',
      request_config: FRESH,
    }
    expect(body).toEqual(expected)
    expect(await read(body.id)).toEqual(expected)
    expect(await lastEvents(core, 1)).toEqual([['APP_STORE_PERMISSION_CREATED', {}]])
  })

  test('is returned as written, with the objects that it references', async () => {
    const appId = await inStore()
    const provision = await webhook(core.db, 'PROVISION')
    const { status, body } = await create(appId, {
      appstore_visibility: 'VISIBLE',
      allowed_groups_override: true,
      allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [{ id: team }] },
      request_approval_config: {
        request_approval_config_override: true,
        manager_approval: 'INITIAL_APPROVAL',
        require_additional_approval: true,
        custom_approval_message: 'Careful',
        custom_approval_message_override: true,
        approvers: { users: [{ id: bob.id }], groups: [] },
        approvers_stage_2: { users: [], groups: [{ id: crew }] },
        request_approval_stages: [
          { approvers: [{ type: 'USER', user: { id: bob.id } }, { group: { id: crew } }] },
          { approvers: [] },
          {},
        ],
      },
      request_fulfillment_config: {
        manual_steps_needed: true,
        manual_instructions: 'Click',
        time_based_access: ['Unlimited', '2 hours'],
        time_based_access_override: true,
        provisioning_group: { id: crew },
        provisioning_webhook: { id: provision },
      },
    })
    expect(status).toBe(201)
    const Bob = userBody(bob.id, 'bob@example.com')
    const Crew = groupBody(crew, 'Crew')
    const expected = {
      appstore_visibility: 'VISIBLE',
      allowed_groups_override: true,
      allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [groupBody(team, 'Team')] },
      request_approval_config: {
        request_approval_config_override: true,
        manager_approval: 'INITIAL_APPROVAL',
        require_additional_approval: true,
        custom_approval_message: 'Careful',
        custom_approval_message_override: true,
        approvers: { users: [Bob], groups: [] },
        approvers_stage_2: { users: [], groups: [Crew] },
        request_approval_stages: [
          {
            approvers: [
              { type: 'USER', user: Bob, group: null },
              { type: 'GROUP', user: null, group: Crew },
            ],
          },
          { approvers: [] },
          { approvers: null },
        ],
        response_describes_entire_approval_workflow: false,
      },
      request_fulfillment_config: {
        manual_steps_needed: true,
        manual_instructions: 'Click',
        time_based_access: ['Unlimited', '2 hours'],
        time_based_access_override: true,
        provisioning_group: Crew,
        provisioning_webhook: expect.objectContaining({ id: provision, hook_type: 'PROVISION' }),
      },
      access_removal_inline_webhook: null,
      request_validation_inline_webhook: null,
    }
    expect(body.request_config).toEqual(expected)
    expect((await read(body.id)).request_config).toEqual(expected)
    // Sending back what was read changes nothing.
    const again = await change(body.id, body)
    expect(again.status).toBe(200)
    expect(again.body).toEqual(body)
  })

  test('requires an existing app and a label', async () => {
    expect((await create(NOBODY_ID)).status).toBe(404)
    const missing = await core.call('POST', BASE, { body: {} })
    expect(missing.body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual([
      'app_id',
      'label',
    ])
    const appId = await inStore()
    for (const [label, type] of [
      ['', 'string_too_short'],
      ['x'.repeat(513), 'string_too_long'],
    ]) {
      const { status, body } = await create(appId, {}, label)
      expect([status, body.detail[0].type]).toEqual([422, type])
    }
    expect((await create(appId, {}, '🦉'.repeat(256))).status).toBe(201)
  })

  test('accepts app_class_id and app_instance_id only if they match the app', async () => {
    const app_id = await inStore()
    const body = { app_id, label: 'x', app_class_id: `app ${count}`, app_instance_id: 'other' }
    const wrong = await core.call('POST', BASE, { body })
    expect(wrong.status).toBe(422)
    expect(wrong.body.detail[0].loc).toEqual(['body', 'app_instance_id'])
    const right = { ...body, app_instance_id: 'custom_app_import' }
    expect((await core.call('POST', BASE, { body: right })).status).toBe(201)
  })
})

describe('a change', () => {
  test.each<[string, object, object]>([
    ['without members', {}, {}],
    ['of the label', { label: 'Viewer' }, { label: 'Viewer' }],
    ['of the label to null', { label: null }, {}],
    [
      'of one nested member',
      { request_config: { request_fulfillment_config: { manual_instructions: null } } },
      { request_fulfillment_config: { manual_instructions: null } },
    ],
    [
      'of a list to an empty one',
      { request_config: { request_fulfillment_config: { time_based_access: [] } } },
      { request_fulfillment_config: { time_based_access: [] } },
    ],
    [
      'of stages to an empty list',
      { request_config: { request_approval_config: { request_approval_stages: [] } } },
      { request_approval_config: { request_approval_stages: [] } },
    ],
    [
      'of stages to null',
      { request_config: { request_approval_config: { request_approval_stages: null } } },
      { request_approval_config: { request_approval_stages: [{ approvers: null }] } },
    ],
    [
      'of the visibility to null',
      { request_config: { appstore_visibility: null } },
      { appstore_visibility: 'HIDDEN' },
    ],
  ])('%s leaves the rest as it is', async (_, body, expected) => {
    const { label, ...config } = expected as { label?: string } & Record<string, object>
    const made = await create(await inStore(), {
      appstore_visibility: 'VISIBLE',
      request_approval_config: {
        request_approval_config_override: true,
        approvers: { users: [{ id: ada.id }] },
      },
      request_fulfillment_config: {
        manual_instructions: 'Click',
        time_based_access: ['1 day'],
        provisioning_group: { id: crew },
      },
    })
    const before = made.body
    const merged = { ...before, label: label ?? before.label }
    merged.request_config = { ...before.request_config }
    for (const [name, value] of Object.entries(config))
      merged.request_config[name] =
        typeof value === 'object' ? { ...before.request_config[name], ...value } : value
    const reply = await change(before.id, body)
    expect(reply).toMatchObject({ status: 200 })
    expect(reply.body).toEqual(merged)
    expect(await read(before.id)).toEqual(merged)
  })

  test('of the configuration to null restores the defaults and keeps the provisioning group', async () => {
    const made = await create(await inStore(), {
      appstore_visibility: 'VISIBLE',
      request_fulfillment_config: { manual_steps_needed: true, provisioning_group: { id: crew } },
    })
    const { body } = await change(made.body.id, { request_config: null })
    expect(body.request_config).toEqual({
      ...FRESH,
      request_fulfillment_config: {
        ...FRESH.request_fulfillment_config,
        provisioning_group: groupBody(crew, 'Crew'),
      },
    })
  })

  test('of the provisioning group or the app is refused', async () => {
    const appId = await inStore()
    const other = await inStore()
    const { body: made } = await create(appId, {
      request_fulfillment_config: { provisioning_group: { id: crew } },
    })
    const fulfillment = (provisioning_group: object | null) => ({
      request_config: { request_fulfillment_config: { provisioning_group } },
    })
    const refused = await change(made.id, fulfillment({ id: team }))
    expect(refused.status).toBe(422)
    expect(refused.body.detail[0].loc.at(-1)).toBe('provisioning_group')
    expect((await change(made.id, fulfillment({ id: crew }))).status).toBe(200)
    expect((await change(made.id, fulfillment(null))).body).toEqual(made)
    expect((await change(made.id, { app_id: other })).status).toBe(422)
    expect((await change(made.id, { app_id: appId, app_class_id: null })).status).toBe(200)
    expect(await read(made.id)).toEqual(made)
  })

  test('is logged with the names of the changed members', async () => {
    const { body } = await create(await inStore())
    await change(body.id, { label: 'New', request_config: { appstore_visibility: 'VISIBLE' } })
    expect(await lastEvents(core, 1)).toEqual([
      [
        'APP_STORE_PERMISSION_UPDATED',
        { changed: ['label', 'request_config.appstore_visibility'] },
      ],
    ])
    const { total } = (await core.call('GET', '/activity_logs')).body
    await change(body.id, { label: 'New' })
    expect((await core.call('GET', '/activity_logs')).body.total).toBe(total)
  })

  test('of different members at the same time keeps all of them', async () => {
    const { body } = await create(await inStore())
    await Promise.all([
      change(body.id, { label: 'New' }),
      change(body.id, { request_config: { appstore_visibility: 'VISIBLE' } }),
      change(body.id, {
        request_config: { request_fulfillment_config: { manual_steps_needed: true } },
      }),
    ])
    expect(await read(body.id)).toMatchObject({
      label: 'New',
      request_config: {
        appstore_visibility: 'VISIBLE',
        request_fulfillment_config: { manual_steps_needed: true },
      },
    })
  })

  test('that turns the second stage off moves its approvers to the first', async () => {
    const { body } = await create(await inStore(), {
      request_approval_config: {
        approvers: { users: [{ id: ada.id }] },
        approvers_stage_2: { users: [{ id: bob.id }], groups: [{ id: crew }] },
      },
    })
    expect(body.request_config.request_approval_config.require_additional_approval).toBe(true)
    const off = { request_approval_config: { require_additional_approval: false } }
    const { request_config } = (await change(body.id, { request_config: off })).body
    expect(request_config.request_approval_config).toMatchObject({
      require_additional_approval: false,
      approvers: { users: [{ id: ada.id }, { id: bob.id }], groups: [{ id: crew }] },
      approvers_stage_2: { users: [], groups: [] },
    })
  })
})

describe('configuration inherited from the app', () => {
  const flow = () => ({
    require_manager_approval: true,
    custom_approval_message: 'The app’s',
    allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [{ id: team }] },
    approvers: { users: [{ id: ada.id }] },
  })
  const settings = () => ({
    request_flow: flow(),
    provisioning: { time_based_access: ['7 days'], manual_steps_needed: true },
  })
  const view = ({ request_config: config }: { request_config: typeof FRESH }) => ({
    groups: config.allowed_groups.groups.length,
    manager: config.request_approval_config.manager_approval,
    approvers: config.request_approval_config.approvers.users.length,
    message: config.request_approval_config.custom_approval_message,
    time: config.request_fulfillment_config.time_based_access,
    manual: config.request_fulfillment_config.manual_steps_needed,
  })
  const APPS = {
    groups: 1,
    manager: 'INITIAL_APPROVAL',
    approvers: 1,
    message: 'The app’s',
    time: ['7 days'],
    manual: true,
  }

  test('fills the gaps of a permission, unless include_inherited_configs=false', async () => {
    const { body } = await create(await inStore(settings()))
    expect(view(await read(body.id, true))).toEqual(APPS)
    expect((await read(body.id, false)).request_config).toEqual(FRESH)
    const twice = `${BASE}/${body.id}?include_inherited_configs=true&include_inherited_configs=false`
    expect((await core.call('GET', twice)).body.request_config).toEqual(FRESH)
    expect(view((await core.call('GET', `${BASE}/${body.id}`)).body)).toEqual(APPS)
  })

  test.each<[string, object, object]>([
    ['allowed groups', { allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [] } }, { groups: 0 }],
    [
      'all groups, as the flag requires',
      { allowed_groups_override: true, allowed_groups: { type: 'ALL_GROUPS', groups: [] } },
      { groups: 0 },
    ],
    [
      'approvers',
      {
        request_approval_config: {
          manager_approval: 'NONE',
          approvers: { users: [{ id: '' }, { id: '' }] },
        },
      },
      { approvers: 2, manager: 'NONE' },
    ],
    [
      'no approvers, as the flag requires',
      { request_approval_config: { request_approval_config_override: true } },
      { approvers: 0, manager: 'NONE' },
    ],
    [
      'an approval message',
      { request_approval_config: { custom_approval_message: 'Own' } },
      { message: 'Own' },
    ],
    [
      'access lengths',
      { request_fulfillment_config: { time_based_access: ['1 day'] } },
      { time: ['1 day'] },
    ],
    [
      'no manual steps',
      { request_fulfillment_config: { manual_steps_needed: false } },
      { manual: false },
    ],
    // Clients send these defaults on their own, so they must not override the app's configuration.
    [
      'default allowed groups, which change nothing',
      { allowed_groups: { type: 'ALL_GROUPS', groups: [] } },
      {},
    ],
    [
      'default approvals, which change nothing',
      {
        request_approval_config: {
          manager_approval: 'NONE',
          approvers: { users: [], groups: [] },
          request_approval_stages: [{}],
        },
      },
      {},
    ],
    [
      'settings that their flags switch off',
      {
        allowed_groups_override: false,
        allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [] },
        request_fulfillment_config: {
          time_based_access: ['1 day'],
          time_based_access_override: false,
        },
      },
      {},
    ],
  ])('is merged with the permission’s own settings: %s', async (_, config, own) => {
    const text = JSON.stringify(config).replaceAll('"id":""', `"id":"${bob.id}"`)
    const { body } = await create(await inStore(settings()), JSON.parse(text))
    expect(view(await read(body.id, true))).toEqual({ ...APPS, ...own })
  })

  test('applies again when the permission’s own configuration is removed', async () => {
    const { body } = await create(await inStore(settings()), {
      allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [{ id: crew }] },
      request_approval_config: {
        custom_approval_message: 'Own',
        approvers: { users: [{ id: bob.id }] },
      },
    })
    await change(body.id, {
      request_config: { allowed_groups: null, request_approval_config: null },
    })
    expect(view(await read(body.id, true))).toEqual(APPS)
  })
})

describe('permissions', () => {
  test('are listed by label, in pages, by both endpoints', async () => {
    const appId = await inStore()
    for (const label of ['b_1', 'A', 'c'])
      await create(appId, { appstore_visibility: label === 'c' ? 'VISIBLE' : 'HIDDEN' }, label)
    await syncedPermission(core.db, appId, 'Bx1')
    const labels = async (query: string) => {
      const here = await core.call(
        'GET',
        `/appstore/apps/${appId}/requestable_permissions?${query}`,
      )
      const there = await core.call('GET', `${BASE}?app_id=${appId}&${query}`)
      expect(there.body).toEqual(here.body)
      return here.body.items.map(({ label }: { label: string }) => label).sort()
    }
    expect(await labels('')).toEqual(['A', 'Bx1', 'b_1', 'c'])
    expect(await labels('search_term=B_1')).toEqual(['b_1'])
    expect(await labels('search_term=a&exact_match=1')).toEqual(['A'])
    expect(await labels('search_term=1&exact_match=1')).toEqual([])
    expect(await labels('in_app_store=True')).toEqual(['c'])
    expect(await labels('in_app_store=false')).toEqual(['A', 'Bx1', 'b_1'])
    expect(await labels('size=3&page=9')).toEqual([])
    expect((await core.call('GET', BASE)).status).toBe(422)
    expect((await core.call('GET', `${BASE}?app_id=${NOBODY_ID}`)).status).toBe(404)
  })

  test('are read with a fixed number of SQL statements, whatever the page size', async () => {
    const appId = await inStore()
    for (let index = 0; index < 30; index += 1)
      await create(
        appId,
        {
          allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [{ id: team }, { id: crew }] },
          request_approval_config: { approvers: { users: [{ id: ada.id }, { id: bob.id }] } },
        },
        `P${index}`,
      )
    const asked = async (size: number) => {
      const { statements } = await withStatements(() =>
        core.call('GET', `${BASE}?app_id=${appId}&size=${size}`),
      )
      return statements.length
    }
    // Warm up: afterwards their order is known and is not queried again.
    await asked(1)
    const few = await asked(1)
    expect(few).toBeGreaterThan(3)
    expect(await asked(30)).toBe(few)
  })

  test('can be deleted only if they are NATIVE', async () => {
    const appId = await inStore()
    const { body } = await create(appId)
    expect((await core.call('DELETE', `${BASE}/${body.id}`)).status).toBe(204)
    expect(await lastEvents(core, 1)).toEqual([['APP_STORE_PERMISSION_DELETED', {}]])
    expect((await core.call('DELETE', `${BASE}/${body.id}`)).status).toBe(404)
    expect((await core.call('GET', `${BASE}/${body.id}`)).status).toBe(404)
    const synced = await syncedPermission(core.db, appId, 'Synced')
    const refused = await core.call('DELETE', `${BASE}/${synced}`)
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('NATIVE') },
    })
  })

  test('are shown only to people who may request them, without the approvers', async () => {
    const appId = await inStore({ request_flow: { approvers: { users: [{ id: bob.id }] } } })
    const config = (ids: string[]) => ({
      appstore_visibility: 'VISIBLE',
      allowed_groups: { type: 'SPECIFIED_GROUPS', groups: ids.map((id) => ({ id })) },
    })
    const { body: hidden } = await create(appId, {}, 'hidden')
    const { body: theirs } = await create(appId, config([team]), 'theirs')
    const { body: others } = await create(appId, config([crew]), 'others')
    const { body: all } = await create(appId, { appstore_visibility: 'VISIBLE' }, 'all')
    const { token } = ada
    const listed = async () =>
      (await core.call('GET', `${BASE}?app_id=${appId}`, { token })).body.items
    expect((await listed()).map(({ id }: { id: string }) => id)).toEqual([all.id, theirs.id])
    expect((await listed())[0].request_config).toMatchObject({
      allowed_groups: null,
      request_approval_config: {
        approvers: { users: [], groups: [] },
        response_describes_entire_approval_workflow: false,
      },
      request_fulfillment_config: { time_based_access: [] },
    })
    for (const [id, status] of [
      [hidden.id, 404],
      [others.id, 404],
      [theirs.id, 200],
    ])
      expect((await core.call('GET', `${BASE}/${id}`, { token })).status).toBe(status)
    await core.call('PATCH', `/apps/${appId}/settings`, {
      body: {
        request_flow: { allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [{ id: crew }] } },
      },
    })
    expect((await listed()).map(({ id }: { id: string }) => id)).toEqual([theirs.id])
    await core.call('PATCH', `/apps/${appId}/settings`, {
      body: { provisioning: { groups_provisioning: 'DIRECT_TO_USER' } },
    })
    expect(await listed()).toEqual([])
    await core.call('PATCH', `/apps/${appId}/settings`, { body: { in_app_store: false } })
    expect((await core.call('GET', `${BASE}?app_id=${appId}`, { token })).status).toBe(404)
    expect((await core.call('GET', `${BASE}/${theirs.id}`, { token })).body.detail).toBe(
      'Permission not found',
    )
  })

  test.each<[string, string[], number, number]>([
    ['a caller without roles', [], 404, 403],
    ['a Read Only Admin', ['Read Only Admin'], 200, 403],
    ['an AppStore Read Only Admin', ['AppStore Read Only Admin'], 200, 403],
    ['an App Admin of other apps', ['App Admin'], 404, 404],
    ['an Admin', ['Admin'], 200, 200],
  ])('are accessible to %s according to the roles', async (name, roles, reads, writes) => {
    const { body } = await create(await inStore())
    const { token } = await person(core.db, `${name.replaceAll(' ', '.')}@example.com`, roles)
    expect((await core.call('GET', `${BASE}/${body.id}`, { token })).status).toBe(reads)
    expect((await change(body.id, {}, token)).status).toBe(writes)
    const remove = await core.call('DELETE', `${BASE}/${body.id}`, { token })
    expect(remove.status).toBe(writes === 200 ? 204 : writes)
  })

  test('can be changed by an admin of their app, but not from another domain', async () => {
    const { body } = await create(await inStore())
    expect((await change(body.id, { label: 'Mine' }, owner.token)).status).toBe(200)
    const abroad = await person(
      core.db,
      'abroad@example.com',
      ['Admin'],
      await otherDomain(core.db),
    )
    const { token } = abroad
    expect((await core.call('GET', `${BASE}/${body.id}`, { token })).status).toBe(404)
    expect((await change(body.id, {}, token)).status).toBe(404)
    expect((await core.call('DELETE', `${BASE}/${body.id}`, { token })).status).toBe(404)
  })
})

describe('an invalid body is refused', () => {
  const stages = (approver: object, times = 1) => ({
    request_approval_config: {
      request_approval_stages: [{ approvers: Array(times).fill(approver) }],
    },
  })
  const IN_STAGE = ['request_approval_config', 'request_approval_stages', 0, 'approvers']

  test.each<[string, () => object, (string | number)[], string]>([
    [
      'an unknown group',
      () => ({ allowed_groups: { groups: [{ id: NOBODY_ID }] } }),
      ['allowed_groups', 'groups', 0],
      'value_error',
    ],
    [
      'an unknown approver',
      () => stages({ user: { id: NOBODY_ID } }),
      [...IN_STAGE, 0, 'user'],
      'value_error',
    ],
    [
      'an approver that is both a user and a group',
      () => stages({ user: { id: ada.id }, group: { id: team } }),
      [...IN_STAGE, 0],
      'value_error',
    ],
    [
      'an approver of the wrong type',
      () => stages({ type: 'GROUP', user: { id: ada.id } }),
      [...IN_STAGE, 0],
      'value_error',
    ],
    ['too many approvers', () => stages({ user: { id: ada.id } }, 101), IN_STAGE, 'too_long'],
    [
      'an unknown length',
      () => ({ request_fulfillment_config: { time_based_access: ['2 Hours'] } }),
      ['request_fulfillment_config', 'time_based_access', 0],
      'enum',
    ],
    [
      'an unknown visibility',
      () => ({ appstore_visibility: 'SHOWN' }),
      ['appstore_visibility'],
      'enum',
    ],
    [
      'a list instead of a boolean',
      () => ({ allowed_groups_override: [] }),
      ['allowed_groups_override'],
      'bool_type',
    ],
  ])('with %s', async (_, config, loc, type) => {
    const appId = await inStore()
    const { status, body } = await create(appId, config())
    expect(status).toBe(422)
    expect(body.detail[0]).toMatchObject({ loc: ['body', 'request_config', ...loc], type })
    expect((await core.call('GET', `${BASE}?app_id=${appId}`)).body.total).toBe(0)
  })
})
