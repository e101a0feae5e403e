import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { unusedAttributes } from '../../../runtime/core/directory/attribute-names.ts'
import { requestablePermissions } from '../../../runtime/database/schema/app_store.ts'
import { users } from '../../../runtime/database/schema/people.ts'
import { accessPolicies } from '../../../runtime/database/schema/policies.ts'
import { app, type CoreHost, domainOf, logged, person, startCore } from '../host.ts'

let core: CoreHost
let wiki: string
let forum: string
let editor: string

beforeAll(async () => {
  core = await startCore()
  wiki = await app(core.db, 'Wiki')
  forum = await app(core.db, 'Forum')
  const values = { domainId: await domainOf(core.db), appId: wiki, label: 'Editor' }
  const [row] = await core.db.insert(requestablePermissions).values(values).returning()
  editor = row?.id ?? ''
})
afterAll(() => core.stop())
beforeEach(async () => {
  await core.db.delete(accessPolicies)
})

const condition = { attribute: 'identity.custom_attributes["Department"]', equals: 'Sales' }
const body = (changes: object = {}) => ({
  name: 'Sales',
  business_justification: 'They sell.',
  apps: [
    { id: wiki, permissions: [{ id: editor }] },
    { id: forum, is_preapproved: true },
  ],
  access_condition: condition,
  ...changes,
})
const create = (changes: object = {}) =>
  core.call('POST', '/access_policies', { body: body(changes) })

test('a policy is created as a disabled draft, and returned as written', async () => {
  const { status, body: made } = await create()
  expect(status).toBe(200)
  expect(made).toEqual({
    id: expect.any(String),
    name: 'Sales',
    business_justification: 'They sell.',
    status: 'DRAFT',
    is_enabled: false,
    apps: [
      {
        id: wiki,
        label: 'Wiki',
        is_preapproved: false,
        permissions: [{ id: editor, label: 'Editor' }],
      },
      { id: forum, label: 'Forum', is_preapproved: true, permissions: [] },
    ],
    access_condition: condition,
    is_everyone_condition: false,
  })
  expect((await core.call('GET', `/access_policies/${made.id}`)).body).toEqual(made)
})

test('PUT replaces the whole policy, and the log names the changed fields', async () => {
  const { body: made } = await create({ status: 'PUBLISHED', is_enabled: true })
  const changes = { is_everyone_condition: true, access_condition: null, apps: [{ id: forum }] }
  const { status, body: put } = await core.call('PUT', `/access_policies/${made.id}`, {
    body: body(changes),
  })
  expect([status, put.status, put.is_enabled]).toEqual([200, 'DRAFT', false])
  expect(put).toMatchObject({ access_condition: {}, is_everyone_condition: true })
  expect(put.apps.map(({ id }: { id: string }) => id)).toEqual([forum])
  const { id, ...read } = put
  expect(await core.call('PUT', `/access_policies/${id}`, { body: read })).toMatchObject({
    status: 200,
    body: put,
  })
  const nobody = { body: { ...read, is_everyone_condition: false } }
  expect((await core.call('PUT', `/access_policies/${id}`, nobody)).status).toBe(422)
  const { body: log } = await core.call('GET', '/activity_logs?limit=100')
  expect(log.items.at(-1)).toMatchObject({
    event_type: 'ACCESS_POLICY_UPDATED',
    event_metadata: { changed: expect.arrayContaining(['apps', 'isEveryone', 'status']) },
  })
})

test('policies are listed newest first, and found case-insensitively by a part of the name', async () => {
  for (const name of ['Sales', 'IT', 'Presales 100%']) await create({ name })
  const names = async (query: string) =>
    (await core.call('GET', `/access_policies?${query}`)).body.items.map(
      (one: { name: string }) => one.name,
    )
  expect(await names('')).toEqual(['Presales 100%', 'IT', 'Sales'])
  expect(await names('name=SALES')).toEqual(['Presales 100%', 'Sales'])
  expect(await names('name=0%25')).toEqual(['Presales 100%'])
  expect(await names('size=1&page=2')).toEqual(['IT'])
})

test('a deleted policy is not found', async () => {
  const { body: made } = await create()
  expect((await core.call('DELETE', `/access_policies/${made.id}`)).status).toBe(204)
  expect((await core.call('GET', `/access_policies/${made.id}`)).status).toBe(404)
})

test('a deleted permission leaves the policy, and so does an app of which none is left', async () => {
  const values = { domainId: await domainOf(core.db), appId: wiki, label: 'Reader' }
  const [reader] = await core.db.insert(requestablePermissions).values(values).returning()
  const { body: both } = await create({
    apps: [{ id: wiki, permissions: [{ id: editor }, { id: reader?.id }] }],
  })
  const { body: one } = await create({
    apps: [{ id: forum }, { id: wiki, permissions: [{ id: reader?.id }] }],
  })
  await core.call('DELETE', `/appstore/requestable_permissions/${reader?.id}`)
  const left = async (id: string) =>
    (await core.call('GET', `/access_policies/${id}`)).body.apps.map(
      (app: { id: string; permissions: { id: string }[] }) => [app.id, app.permissions],
    )
  expect(await left(both.id)).toEqual([[wiki, [{ id: editor, label: 'Editor' }]]])
  expect(await left(one.id)).toEqual([[forum, []]])
})

const REFUSED: [string, () => object, (string | number)[], RegExp][] = [
  ['no apps', () => ({ apps: [] }), ['apps'], /./],
  ['an unknown app', () => ({ apps: [{ id: editor }] }), ['apps', 0, 'id'], /no such app/],
  [
    'a duplicate app',
    () => ({ apps: [{ id: wiki }, { id: wiki }] }),
    ['apps', 1, 'id'],
    /already listed/,
  ],
  [
    'a permission of another app',
    () => ({ apps: [{ id: forum, permissions: [{ id: editor }] }] }),
    ['apps', 0, 'permissions', 0, 'id'],
    /no such permission/,
  ],
  ['no condition', () => ({ access_condition: null }), ['access_condition'], /needed, unless/],
  [
    'an invalid condition',
    () => ({ access_condition: { attribute: 'identity.email', is: 'x' } }),
    ['access_condition'],
    /there is no operator "is"/,
  ],
  [
    'an expression in an enabled policy',
    () => ({
      status: 'PUBLISHED',
      is_enabled: true,
      access_condition: { not: { lumos_expression: 'x' } },
    }),
    ['access_condition'],
    /cannot be evaluated here/,
  ],
  [
    'a justification that is too long',
    () => ({ business_justification: 'x'.repeat(501) }),
    ['business_justification'],
    /./,
  ],
]

test.each(REFUSED)(
  '%s returns a 422 that names the field, and stores nothing',
  async (_name, changes, loc, words) => {
    const { status, body: answer } = await create(changes())
    expect(status).toBe(422)
    expect(answer.detail[0]).toMatchObject({
      loc: ['body', ...loc],
      msg: expect.stringMatching(words),
    })
    expect((await core.call('GET', '/access_policies')).body.total).toBe(0)
  },
)

test('a policy can be read by a Read Only Admin, but not changed, and is refused to a plain user', async () => {
  const { body: made } = await create()
  const reader = await person(core.db, 'reader@example.com', ['Read Only Admin'])
  const other = await person(core.db, 'other@example.com')
  const as = (token: string, method: string) =>
    core.call(method, `/access_policies/${made.id}`, {
      token,
      ...(method === 'PUT' ? { body: body() } : {}),
    })
  expect((await as(reader.token, 'GET')).status).toBe(200)
  expect((await as(reader.token, 'PUT')).status).toBe(403)
  expect((await as(other.token, 'GET')).status).toBe(403)
  expect((await as(other.token, 'DELETE')).status).toBe(403)
})

describe('an attribute that no person has', () => {
  const WORDS = 'warn: it uses attributes that no person has, so it matches no one through them'
  const groups = { attribute: 'identity.groups', contains: 'Staff' }

  beforeAll(async () => {
    const { id } = await person(core.db, 'dora@example.com')
    const customAttributes = { Department: { type: 'STRING', value: 'Sales' } }
    await core.db.update(users).set({ customAttributes }).where(eq(users.id, id))
  })

  test.each([
    ['identity.groups', true],
    ['identity.custom_attributes["department"]', true],
    ['identity.custom_attributes["Department"]', false],
    ['identity.department', false],
    ['identity.manager_id', false],
  ])('is logged when a policy uses %s: %s', async (attribute, isTold) => {
    const access_condition = { not: { and: [{ attribute, equals: 'Sales' }] } }
    const { body: made } = await create({ access_condition })
    expect(logged(core, 'access_policy', made.id)).toEqual(isTold ? [WORDS] : [])
  })

  test('is logged when a policy is changed to use it', async () => {
    const { body: made } = await create()
    await core.call('PUT', `/access_policies/${made.id}`, {
      body: body({ access_condition: { or: [condition, groups] } }),
    })
    expect(logged(core, 'access_policy', made.id)).toEqual([WORDS])
  })

  test('is not reported if there are more people than are checked', async () => {
    const domainId = await domainOf(core.db)
    const unusedWithin = (mostLooked: number) =>
      unusedAttributes(core.db, domainId, ['identity.groups', 'identity.department'], mostLooked)
    const people = await core.db.$count(users)
    expect(await unusedWithin(people)).toEqual(['identity.groups'])
    expect(await unusedWithin(people - 1)).toEqual([])
  })

  test('is logged when a pre-approval rule is created with it or changed to use it', async () => {
    const rule = (attribute: string) => ({
      justification: 'They are staff.',
      preapproved_users_by_attribute: [{ attribute, value: 'Staff' }],
    })
    const createdWith = async (attribute: string) => {
      const body = { ...rule(attribute), app_id: wiki }
      return (await core.call('POST', '/appstore/pre_approval_rules', { body })).body
    }
    const odd = await createdWith('identity.groups')
    expect(logged(core, 'pre_approval_rule', odd.id)).toEqual([WORDS])
    const made = await createdWith('identity.department')
    expect(logged(core, 'pre_approval_rule', made.id)).toEqual([])
    await core.call('PATCH', `/appstore/pre_approval_rules/${made.id}`, {
      body: rule('identity.groups'),
    })
    expect(logged(core, 'pre_approval_rule', made.id)).toEqual([WORDS])
  })
})
