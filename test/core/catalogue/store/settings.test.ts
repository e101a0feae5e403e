import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { INPUTS } from '../../../../runtime/contract/limits/inputs.ts'
import { apps } from '../../../../runtime/database/schema/apps.ts'
import { groups } from '../../../../runtime/database/schema/people.ts'
import {
  app,
  type CoreHost,
  group,
  otherDomain,
  type Person,
  person,
  startCore,
} from '../../host.ts'
import { groupBody, lastEvents, NOBODY_ID, userBody, webhook } from '../../store.ts'

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

/** A new app in the store. */
async function inStore(settings: object = {}): Promise<string> {
  count += 1
  const id = await app(core.db, `App ${count}`, { adminUserIds: [owner.id] })
  const { status } = await core.call('POST', '/appstore/apps', {
    body: { app_id: id, ...settings },
  })
  expect(status).toBe(200)
  return id
}

const patch = (id: string, body: object, token?: string) =>
  core.call('PATCH', `/appstore/apps/${id}/settings`, { body, ...(token ? { token } : {}) })
const read = async (id: string) => (await core.call('GET', `/appstore/apps/${id}/settings`)).body

test('settings are returned completely, with the objects that they reference', async () => {
  const validation = await webhook(core.db, 'REQUEST_VALIDATION')
  const provision = await webhook(core.db, 'PROVISION')
  const removal = await webhook(core.db, 'DEPROVISION')
  const id = await inStore()
  const permission = await core.call('POST', '/appstore/requestable_permissions', {
    body: { app_id: id, label: 'Editor' },
  })
  const { status, body } = await patch(id, {
    custom_request_instructions: 'Say why',
    redirect_url: 'https://example.com/ask?a=b',
    request_flow: {
      discoverability: 'LIMITED',
      custom_approval_message: 'Look closely',
      require_manager_approval: true,
      require_additional_approval: true,
      allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [{ id: crew }, { id: team }] },
      approvers: { users: [{ id: bob.id }, { id: ada.id }], groups: [{ id: team }] },
      approvers_stage_2: { users: [], groups: [{ id: crew }] },
      admins: { users: [{ id: owner.id }], groups: [{ id: team }] },
      request_validation_inline_webhook: { id: validation },
    },
    provisioning: {
      groups_provisioning: 'GROUPS_AND_HIDDEN',
      time_based_access: ['Unlimited', '2 hours', '7 days'],
      allow_multiple_permission_selection: true,
      manual_steps_needed: true,
      custom_provisioning_instructions: 'Press the button',
      default_time_based_access_option: '7 days',
      default_permission: { id: permission.body.id },
      provisioning_webhook: { id: provision },
      access_removal_inline_webhook: { id: removal },
    },
  })
  expect(status).toBe(200)
  const [Team, Crew] = [groupBody(team, 'Team'), groupBody(crew, 'Crew')]
  const inherited = await core.call(
    'GET',
    `/appstore/requestable_permissions/${permission.body.id}`,
  )
  const expected = {
    custom_request_instructions: 'Say why',
    redirect_url: 'https://example.com/ask?a=b',
    request_flow: {
      discoverability: 'LIMITED',
      custom_approval_message: 'Look closely',
      require_manager_approval: true,
      require_additional_approval: true,
      allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [Crew, Team] },
      approvers: {
        users: [userBody(bob.id, 'bob@example.com'), userBody(ada.id, 'ada@example.com')],
        groups: [Team],
      },
      approvers_stage_2: { users: [], groups: [Crew] },
      response_describes_entire_approval_workflow: true,
      admins: { users: [userBody(owner.id, 'owner@example.com')], groups: [Team] },
      request_validation_inline_webhook: hook(validation, 'REQUEST_VALIDATION'),
    },
    provisioning: {
      groups_provisioning: 'GROUPS_AND_HIDDEN',
      time_based_access: ['Unlimited', '2 hours', '7 days'],
      allow_multiple_permission_selection: true,
      manual_steps_needed: true,
      custom_provisioning_instructions: 'Press the button',
      default_time_based_access_option: '7 days',
      default_permission: inherited.body,
      provisioning_webhook: hook(provision, 'PROVISION'),
      access_removal_inline_webhook: hook(removal, 'DEPROVISION'),
    },
  }
  expect(body).toEqual(expected)
  expect(await read(id)).toEqual(expected)
  const other = (await core.call('GET', `/apps/${id}/settings`)).body
  expect(other).toEqual({ ...expected, in_app_store: true })
  expect((await core.call('GET', `/apps/${id}`)).body.allow_multiple_permission_selection).toBe(
    true,
  )
  // Sending back what was read changes nothing.
  expect((await patch(id, body)).body).toEqual(expected)
  expect((await core.call('PATCH', `/apps/${id}/settings`, { body: other })).body).toEqual(other)
})

const hook = (id: string, hook_type: string) => ({
  id,
  hook_type,
  name: `${hook_type} hook`,
  description: null,
})

test('default settings have the members that clients need', async () => {
  expect(await read(await inStore())).toMatchObject({
    custom_request_instructions: '',
    redirect_url: null,
    request_flow: {
      discoverability: 'FULL',
      allowed_groups: { type: 'ALL_GROUPS', groups: [] },
      approvers: { groups: [], users: [] },
      approvers_stage_2: { groups: [], users: [] },
    },
    provisioning: {
      groups_provisioning: 'GROUPS_AND_VISIBLE',
      time_based_access: [],
      allow_multiple_permission_selection: false,
      default_permission: null,
    },
  })
})

describe('a change', () => {
  const START = {
    custom_request_instructions: 'one',
    redirect_url: 'https://example.com',
    request_flow: { custom_approval_message: 'two', discoverability: 'LIMITED' },
    provisioning: { time_based_access: ['1 day'], custom_provisioning_instructions: 'three' },
  }
  const allowed = { type: 'SPECIFIED_GROUPS', groups: [] }

  test.each<[string, object, object]>([
    ['without members', {}, {}],
    ['of one text', { custom_request_instructions: 'new' }, { custom_request_instructions: 'new' }],
    ['to an empty text', { custom_request_instructions: '' }, { custom_request_instructions: '' }],
    ['of an address to null', { redirect_url: null }, { redirect_url: null }],
    ['of an address to an empty text', { redirect_url: '' }, { redirect_url: '' }],
    ['with an empty object', { request_flow: {} }, {}],
    [
      'of one member of an object',
      { request_flow: { discoverability: 'NONE' } },
      { request_flow: { discoverability: 'NONE' } },
    ],
    [
      'of a list',
      { provisioning: { time_based_access: ['90 days', '2 hours'] } },
      { provisioning: { time_based_access: ['90 days', '2 hours'] } },
    ],
    [
      'to an empty list',
      { provisioning: { time_based_access: [] } },
      { provisioning: { time_based_access: [] } },
    ],
    [
      'of a nullable text to null',
      { provisioning: { custom_provisioning_instructions: null } },
      { provisioning: { custom_provisioning_instructions: null } },
    ],
    [
      'of the type of allowed groups alone',
      { request_flow: { allowed_groups: { type: 'SPECIFIED_GROUPS' } } },
      { request_flow: { allowed_groups: allowed } },
    ],
    ['with unknown members', { invented: true, request_flow: { invented: 1 } }, {}],
  ])('%s leaves the rest as it is', async (_, change, expected) => {
    const id = await inStore(START)
    const before = await read(id)
    const merged = { ...before, ...expected }
    for (const part of ['request_flow', 'provisioning'] as const)
      merged[part] = { ...before[part], ...(expected as Record<string, object>)[part] }
    expect((await patch(id, change)).body).toEqual(merged)
    expect(await read(id)).toEqual(merged)
  })

  test('of allowed groups to null allows all again', async () => {
    const id = await inStore({ request_flow: { allowed_groups: allowed } })
    const { body } = await patch(id, { request_flow: { allowed_groups: null } })
    expect(body.request_flow.allowed_groups).toEqual({ type: 'ALL_GROUPS', groups: [] })
  })

  test('of the approving users leaves the approving groups', async () => {
    const both = { users: [{ id: ada.id }], groups: [{ id: team }] }
    const id = await inStore({ request_flow: { approvers: both } })
    const { body } = await patch(id, { request_flow: { approvers: { users: [] } } })
    expect(body.request_flow.approvers).toEqual({ users: [], groups: [groupBody(team, 'Team')] })
  })

  test('of different members at the same time keeps all of them', async () => {
    const id = await inStore()
    await Promise.all([
      ...['FULL', 'NONE'].map(() => patch(id, { custom_request_instructions: 'first' })),
      patch(id, { redirect_url: 'https://example.com' }),
      patch(id, { request_flow: { custom_approval_message: 'second' } }),
      patch(id, { provisioning: { time_based_access: ['1 day'] } }),
      core.call('PATCH', `/apps/${id}/settings`, {
        body: { request_flow: { admins: { users: [{ id: bob.id }] } } },
      }),
    ])
    expect(await read(id)).toMatchObject({
      custom_request_instructions: 'first',
      redirect_url: 'https://example.com',
      request_flow: { custom_approval_message: 'second', admins: { users: [{ id: bob.id }] } },
      provisioning: { time_based_access: ['1 day'] },
    })
  })

  test('is logged with the names of its members; a change of admins has its own event', async () => {
    const id = await inStore()
    await patch(id, {
      custom_request_instructions: 'new',
      request_flow: { discoverability: 'FULL', admins: { users: [{ id: ada.id }] } },
      provisioning: { allow_multiple_permission_selection: true },
    })
    expect(await lastEvents(core, 2)).toEqual([
      [
        'ADMIN_UPDATED_APP_ADMINS',
        {
          before: { groups: [], users: [owner.id] },
          after: { groups: [], users: [ada.id] },
        },
      ],
      [
        'ADMIN_UPDATED_APP_STORE_SETTINGS',
        {
          changed: [
            'custom_request_instructions',
            'provisioning.allow_multiple_permission_selection',
          ],
        },
      ],
    ])
    const { total } = (await core.call('GET', '/activity_logs')).body
    await patch(id, { custom_request_instructions: 'new' })
    expect((await core.call('GET', '/activity_logs')).body.total).toBe(total)
  })
})

describe('the second stage of approval', () => {
  const people = (...ids: string[]) => ({ users: ids.map((id) => ({ id })), groups: [] })
  const stages = (body: { request_flow: Record<string, { users: { id: string }[] }> }) => [
    body.request_flow['require_additional_approval'],
    body.request_flow['approvers']?.users.map(({ id }) => id),
    body.request_flow['approvers_stage_2']?.users.map(({ id }) => id),
  ]

  test('turned off moves its approvers to the first stage', async () => {
    const id = await inStore({
      request_flow: {
        require_additional_approval: true,
        approvers: people(ada.id),
        approvers_stage_2: people(ada.id, bob.id),
      },
    })
    const { body } = await patch(id, { request_flow: { require_additional_approval: false } })
    expect(stages(body)).toEqual([false, [ada.id, bob.id], []])
    expect(stages(await read(id))).toEqual([false, [ada.id, bob.id], []])
  })

  test('turned on stays on when a change omits it', async () => {
    const id = await inStore({ request_flow: { require_additional_approval: true } })
    await patch(id, { request_flow: { approvers: people(ada.id) } })
    expect(stages(await read(id))).toEqual([true, [ada.id], []])
  })

  test('is on when it has approvers and the flag is absent', async () => {
    const id = await inStore({ request_flow: { approvers_stage_2: people(bob.id) } })
    expect(stages(await read(id))).toEqual([true, [], [bob.id]])
  })
})

describe('references', () => {
  test('to groups are by id, or by app and integration-specific id', async () => {
    const id = await inStore()
    const { domainId } = (await core.db.select().from(apps).where(eq(apps.id, id)))[0] ?? {}
    const values = { domainId: domainId ?? '', name: 'There', appId: id }
    await core.db.insert(groups).values({ ...values, integrationSpecificId: '00g1' })
    const { body } = await patch(id, {
      request_flow: {
        approvers: {
          groups: [{ id: team.toUpperCase() }, { app_id: id, integration_specific_id: '00g1' }],
        },
      },
    })
    expect(body.request_flow.approvers.groups).toEqual([
      groupBody(team, 'Team'),
      expect.objectContaining({ app_id: id, integration_specific_id: '00g1', name: 'There' }),
    ])
  })

  test('to missing objects are reported one by one, and nothing is changed', async () => {
    const elsewhere = await otherDomain(core.db)
    const foreignUser = await person(core.db, 'foreign@example.com', [], elsewhere)
    const siem = await webhook(core.db, 'SIEM')
    const foreignWebhook = await webhook(core.db, 'PROVISION', elsewhere)
    const [id, next] = [await inStore(), await inStore()]
    const other = await core.call('POST', '/appstore/requestable_permissions', {
      body: { app_id: next, label: 'Of another app' },
    })
    const before = await read(id)
    const { status, body } = await patch(id, {
      custom_request_instructions: 'lost',
      request_flow: {
        approvers: {
          users: [{ id: ada.id }, { id: foreignUser.id }],
          groups: [{ id: NOBODY_ID }, { id: 'x' }, { app_id: id, integration_specific_id: 'no' }],
        },
        request_validation_inline_webhook: { id: siem },
      },
      provisioning: {
        default_permission: { id: other.body.id },
        provisioning_webhook: { id: foreignWebhook },
      },
    })
    expect(status).toBe(422)
    const at = (loc: (string | number)[], words: string) => ({
      loc: ['body', ...loc],
      msg: `Value error, ${words}`,
      type: 'value_error',
    })
    expect(body.detail).toEqual([
      at(['request_flow', 'approvers', 'groups', 0], 'there is no such group'),
      at(['request_flow', 'approvers', 'groups', 1], 'there is no such group'),
      at(['request_flow', 'approvers', 'groups', 2], 'there is no such group'),
      at(['request_flow', 'approvers', 'users', 1], 'there is no such user'),
      at(
        ['request_flow', 'request_validation_inline_webhook'],
        'the webhook is of type SIEM; it must be of type REQUEST_VALIDATION',
      ),
      at(['provisioning', 'provisioning_webhook'], 'there is no such inline webhook'),
      at(['provisioning', 'default_permission'], 'the app has no such permission'),
    ])
    expect(await read(id)).toEqual(before)
  })

  test('to deleted objects are omitted', async () => {
    const gone = await group(core.db, 'Gone', [])
    const id = await inStore({
      request_flow: { approvers: { groups: [{ id: gone }, { id: team }] } },
    })
    await core.db.delete(groups).where(eq(groups.id, gone))
    expect((await read(id)).request_flow.approvers.groups).toEqual([groupBody(team, 'Team')])
  })
})

describe('the default permission', () => {
  const withDefault = async (visibility: string) => {
    const id = await inStore()
    const { body } = await core.call('POST', '/appstore/requestable_permissions', {
      body: { app_id: id, label: 'Editor', request_config: { appstore_visibility: visibility } },
    })
    const provisioning = { default_permission: { id: body.id } }
    expect((await patch(id, { provisioning })).body.provisioning.default_permission).toEqual(
      (await core.call('GET', `/appstore/requestable_permissions/${body.id}`)).body,
    )
    return { id, permission: body.id as string }
  }
  const seenBy = async (id: string, token: string) =>
    (await core.call('GET', `/appstore/apps/${id}/settings`, { token })).body.provisioning
      .default_permission

  test('is shown to requesters only if it is visible to them', async () => {
    const shown = await withDefault('VISIBLE')
    expect(await seenBy(shown.id, ada.token)).toMatchObject({ id: shown.permission })
    expect(await seenBy((await withDefault('HIDDEN')).id, ada.token)).toBeNull()
  })

  test('is null after the permission is deleted', async () => {
    const { id, permission } = await withDefault('VISIBLE')
    await core.call('DELETE', `/appstore/requestable_permissions/${permission}`)
    expect((await read(id)).provisioning.default_permission).toBeNull()
  })
})

test('a concurrent change and removal leave the app out of the store, with default settings', async () => {
  for (let round = 0; round < 5; round += 1) {
    const id = await inStore()
    const [changed, removed] = await Promise.all([
      patch(id, { custom_request_instructions: 'late' }),
      core.call('DELETE', `/appstore/apps/${id}`),
    ])
    expect([200, 404]).toContain(changed.status)
    expect(removed.status).toBe(200)
    const settings = (await core.call('GET', `/apps/${id}/settings`)).body
    expect(settings).toMatchObject({ in_app_store: false, custom_request_instructions: '' })
  }
})

describe('an invalid body is refused', () => {
  const wrong = (loc: (string | number)[], type: string) =>
    expect.objectContaining({ loc: ['body', ...loc], type })

  test.each<[string, object, unknown]>([
    [
      'a number instead of a text',
      { custom_request_instructions: 1 },
      wrong(['custom_request_instructions'], 'string_type'),
    ],
    [
      'null instead of a text',
      { custom_request_instructions: null },
      wrong(['custom_request_instructions'], 'string_type'),
    ],
    [
      'a long address',
      { redirect_url: `https://e.com/${'a'.repeat(2035)}` },
      wrong(['redirect_url'], 'string_too_long'),
    ],
    [
      'a script as an address',
      { redirect_url: 'javascript:alert(1)' },
      wrong(['redirect_url'], 'value_error'),
    ],
    [
      'a script after a line end',
      { redirect_url: '\njava\tscript:alert(1)' },
      wrong(['redirect_url'], 'value_error'),
    ],
    [
      'an address without a host',
      { redirect_url: 'https://' },
      wrong(['redirect_url'], 'value_error'),
    ],
    [
      'a path as an address',
      { redirect_url: '//example.com' },
      wrong(['redirect_url'], 'value_error'),
    ],
    [
      'an unknown length',
      { provisioning: { time_based_access: ['1 day', '5 days'] } },
      wrong(['provisioning', 'time_based_access', 1], 'enum'),
    ],
    [
      'null instead of a list',
      { provisioning: { time_based_access: null } },
      wrong(['provisioning', 'time_based_access'], 'list_type'),
    ],
    [
      'an unknown visibility',
      { request_flow: { discoverability: 'SOME' } },
      wrong(['request_flow', 'discoverability'], 'enum'),
    ],
    [
      'a text instead of a boolean',
      { request_flow: { require_manager_approval: 'yes' } },
      wrong(['request_flow', 'require_manager_approval'], 'bool_type'),
    ],
    [
      'a list instead of an object',
      { request_flow: [] },
      wrong(['request_flow'], 'model_attributes_type'),
    ],
    [
      'a list instead of an entry of a list',
      { request_flow: { approvers: { users: [[]] } } },
      wrong(['request_flow', 'approvers', 'users', 0], 'model_attributes_type'),
    ],
    [
      'a group without a name',
      { request_flow: { approvers: { groups: [{}] } } },
      wrong(['request_flow', 'approvers', 'groups', 0], 'value_error'),
    ],
    [
      'a user without an id or an address',
      { request_flow: { approvers: { users: [{}] } } },
      wrong(['request_flow', 'approvers', 'users', 0], 'value_error'),
    ],
    [
      'a text with NUL',
      { custom_request_instructions: 'a\u0000b' },
      wrong(['custom_request_instructions'], 'value_error'),
    ],
    [
      'a huge text',
      { custom_request_instructions: 'x'.repeat(10_001) },
      wrong(['custom_request_instructions'], 'string_too_long'),
    ],
    [
      'a huge list',
      { provisioning: { time_based_access: Array(501).fill('1 day') } },
      wrong(['provisioning', 'time_based_access'], 'too_long'),
    ],
  ])('with %s', async (_, body, expected) => {
    const id = await inStore()
    const before = await read(id)
    const reply = await patch(id, body)
    expect(reply.status).toBe(422)
    expect(reply.body.detail).toContainEqual(expected)
    expect(await read(id)).toEqual(before)
  })

  test('with nesting that is too deep', async () => {
    const id = await inStore()
    const deep = `${'{"request_flow":'.repeat(5000)}1${'}'.repeat(5000)}`
    const path = `/appstore/apps/${id}/settings`
    expect((await core.call('PATCH', path, { raw: deep })).status).toBe(422)
  })

  test('with more values than a request may hold', async () => {
    const id = await inStore()
    const before = await read(id)
    const many = JSON.stringify({
      custom_request_instructions: 'new',
      extra: Array(INPUTS.core_body.maxMarks).fill(1),
    })
    const refused = await core.call('PATCH', `/appstore/apps/${id}/settings`, { raw: many })
    expect([refused.status, refused.body.detail]).toEqual([
      413,
      expect.stringContaining('the body holds more than'),
    ])
    expect(await read(id)).toEqual(before)
  })

  test('but an address of 2048 characters is accepted', async () => {
    const redirect_url = `https://e.com/${'a'.repeat(2034)}`
    expect((await patch(await inStore(), { redirect_url })).body.redirect_url).toBe(redirect_url)
  })
})

describe('access to settings', () => {
  test('shows a requester what a request needs, without approvers and admins', async () => {
    const id = await inStore({
      custom_request_instructions: 'Say why',
      request_flow: {
        approvers: { users: [{ id: bob.id }] },
        allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [{ id: team }] },
      },
      provisioning: { time_based_access: ['1 day'], custom_provisioning_instructions: 'secret' },
    })
    const reply = await core.call('GET', `/appstore/apps/${id}/settings`, { token: ada.token })
    expect(reply.body).toMatchObject({
      custom_request_instructions: 'Say why',
      request_flow: {
        allowed_groups: null,
        approvers: { users: [], groups: [] },
        admins: { users: [], groups: [] },
        response_describes_entire_approval_workflow: false,
      },
      provisioning: {
        groups_provisioning: 'GROUPS_AND_VISIBLE',
        time_based_access: ['1 day'],
        allow_multiple_permission_selection: false,
        custom_provisioning_instructions: null,
      },
    })
  })

  test.each<[string, string[], number, number]>([
    ['a caller without roles', [], 403, 403],
    ['a Read Only Admin', ['Read Only Admin'], 200, 403],
    ['an AppStore Read Only Admin', ['AppStore Read Only Admin'], 200, 403],
    ['an App Admin of other apps', ['App Admin'], 404, 404],
    ['an Admin', ['Admin'], 200, 200],
  ])('of %s depends on the role', async (name, roles, reads, writes) => {
    const id = await inStore()
    const { token } = await person(core.db, `${name.replaceAll(' ', '.')}@example.com`, roles)
    expect((await core.call('GET', `/apps/${id}/settings`, { token })).status).toBe(reads)
    expect((await patch(id, {}, token)).status).toBe(writes)
    const body = {}
    expect((await core.call('PATCH', `/apps/${id}/settings`, { token, body })).status).toBe(writes)
  })

  test('lets an admin of the app change them', async () => {
    const id = await inStore()
    const reply = await patch(id, { custom_request_instructions: 'Mine' }, owner.token)
    expect(reply).toMatchObject({ status: 200, body: { custom_request_instructions: 'Mine' } })
  })

  test('returns 404 for an app of another domain', async () => {
    const id = await app(core.db, 'Abroad', { domainId: await otherDomain(core.db) })
    for (const path of [`/apps/${id}/settings`, `/appstore/apps/${id}/settings`]) {
      expect((await core.call('GET', path)).status).toBe(404)
      expect((await core.call('PATCH', path, { body: {} })).status).toBe(404)
    }
  })
})

test('inline webhooks are listed by name for App Admins, and refused to plain users', async () => {
  await webhook(core.db, 'PRE_APPROVAL', await otherDomain(core.db))
  for (const hookType of ['SIEM', 'DEPROVISION'] as const) await webhook(core.db, hookType)
  const list = await core.call('GET', '/inline_webhooks', { token: owner.token })
  expect(list.status).toBe(200)
  const names: string[] = list.body.map(({ name }: { name: string }) => name)
  expect(names).toEqual(names.toSorted())
  expect(list.body).toContainEqual(
    expect.objectContaining({ hook_type: 'SIEM', description: null }),
  )
  expect(list.body.map(({ hook_type }: { hook_type: string }) => hook_type)).not.toContain(
    'PRE_APPROVAL',
  )
  expect((await core.call('GET', '/inline_webhooks', { token: ada.token })).status).toBe(403)
})
