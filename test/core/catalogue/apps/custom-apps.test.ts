import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { apps } from '../../../../runtime/database/schema/apps.ts'
import { app, type CoreHost, otherDomain, type Person, person, startCore } from '../../host.ts'

let core: CoreHost
let owner: Person

beforeAll(async () => {
  core = await startCore()
  owner = await person(core.db, 'owner@example.com', ['App Admin'])
})
afterAll(() => core.stop())
beforeEach(async () => {
  await core.db.delete(apps)
})

const custom = { name: 'Acme', category: 'Other', description: 'An app of ours' }
const create = (body: object) => core.call('POST', '/apps', { body })
const patch = (id: string, body: object) => core.call('PATCH', `/apps/${id}`, { body })
const entries = async () => (await core.call('GET', '/activity_logs')).body.total

describe('a custom app', () => {
  test('is stored with the submitted fields', async () => {
    const more = {
      logo_url: 'https://acme.example/logo.png',
      website_url: 'https://acme.example',
      request_instructions: 'Ask nicely',
    }
    const { status, body } = await create({ ...custom, ...more })
    expect(status).toBe(200)
    const { name, ...rest } = { ...custom, ...more }
    expect(body).toMatchObject({
      ...rest,
      user_friendly_label: name,
      app_class_id: 'acme',
      instance_id: 'custom_app_import',
      status: 'APPROVED',
      sources: ['MANUAL'],
      disconnected: false,
    })
    expect((await core.call('GET', `/apps/${body.id}`)).body).toMatchObject(body)
    expect((await core.call('GET', '/apps?connection_source=API')).body.total).toBe(1)
  })

  test.each(['name', 'category', 'description'])('needs a %s', async (name) => {
    const { [name as 'name']: _, ...body } = custom
    for (const given of [body, { ...body, [name]: null }]) {
      const reply = await create(given)
      expect(reply.status).toBe(422)
      expect(reply.body.detail[0]).toMatchObject({ loc: ['body', name], type: 'missing' })
    }
  })

  test.each([{ auth: { token: 't' } }, { settings: {} }, { version: '1' }])(
    'refuses %j, which would not be stored',
    async (more) => {
      const { status, body } = await create({ ...custom, ...more })
      expect([status, body.detail[0].loc]).toEqual([422, ['body', 'app_class_id']])
    },
  )

  test('of the same name is a conflict, even when created concurrently', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => create(custom)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
  })

  test('gets its own app_class_id even if its name normalizes to that of another app', async () => {
    const names = ['Acme', 'Acme!', 'A cme', 'A_cme', '日本', '???', '💥💥', 'x'.repeat(255)]
    const ids = new Set<string>()
    for (const name of names) {
      const { status, body } = await create({ ...custom, name })
      expect([status, body.user_friendly_label]).toEqual([200, name])
      ids.add(body.app_class_id)
    }
    expect(ids.size).toBe(names.length)
  })

  test('gets the same id when it is created again after it was disconnected', async () => {
    const { body: made } = await create(custom)
    await patch(made.id, { description: 'changed' })
    await core.call('DELETE', `/apps/${made.id}`)
    const { body } = await create({ ...custom, description: 'written anew' })
    expect(body).toMatchObject({ id: made.id, description: 'written anew', disconnected: false })
  })

  test('is restored by its app_class_id alone, with its edits; doing so again changes nothing', async () => {
    const { body: made } = await create(custom)
    const again = (app_class_id: string) =>
      core.call('PUT', `/apps/${made.id}`, { body: { app_class_id } })
    await patch(made.id, { name: 'Renamed' })
    await core.call('DELETE', `/apps/${made.id}`)
    expect((await again('another')).status).toBe(400)
    const back = await again(made.app_class_id)
    expect(back.body).toMatchObject({ user_friendly_label: 'Renamed', disconnected: false })
    const before = await entries()
    expect((await again(made.app_class_id)).status).toBe(200)
    expect(await entries()).toBe(before)
    const { body } = await core.call('GET', `/activity_logs?limit=1&offset=${before - 1}`)
    expect(body.items[0]).toMatchObject({ event_type: 'APP_RECONNECTED' })
  })

  test('refuses credentials', async () => {
    const { body: made } = await create(custom)
    const body = { app_class_id: 'acme', auth: { token: 't' } }
    const put = await core.call('PUT', `/apps/${made.id}`, { body })
    expect([put.status, put.body.detail]).toEqual([400, expect.stringContaining('custom app')])
  })
})

describe.each(['PATCH', 'PUT'])('%s', (method) => {
  const change = (id: string, body: object) => core.call(method, `/apps/${id}`, { body })

  test('changes given fields, leaves absent fields, and resets null fields to their original values', async () => {
    const { body: made } = await create(custom)
    const changed = { name: 'Renamed', description: '', category: 'DEVELOPERS' }
    expect((await change(made.id, changed)).body).toMatchObject({
      user_friendly_label: 'Renamed',
      description: '',
      category: 'Developers',
    })
    expect((await change(made.id, { name: null })).body).toMatchObject({
      user_friendly_label: 'Acme',
      description: '',
    })
    const back = { description: null, category: null, website_url: null }
    expect((await change(made.id, back)).body).toMatchObject({
      description: custom.description,
      category: custom.category,
      website_url: null,
    })
  })

  test('logs the names of changed fields, and nothing when nothing changed', async () => {
    const { body: made } = await create(custom)
    await change(made.id, { name: 'Renamed' })
    const before = await entries()
    await change(made.id, { name: 'Renamed', website_url: null })
    await change(made.id, {})
    expect(await entries()).toBe(before)
    const { body } = await core.call('GET', `/activity_logs?limit=1&offset=${before - 1}`)
    expect(body.items[0]).toMatchObject({
      event_type: 'APP_UPDATED',
      event_metadata: { fields: ['name'] },
    })
  })

  test.each([
    [{ nmae: 'x' }, ['body', 'nmae'], 'extra_forbidden'],
    [{ constructor: 'x' }, ['body', 'constructor'], 'extra_forbidden'],
    [{ name: 7 }, ['body', 'name'], 'string_type'],
    [{ name: '' }, ['body', 'name'], 'string_too_short'],
    [{ name: 'x'.repeat(256) }, ['body', 'name'], 'string_too_long'],
    [{ description: 'x'.repeat(8193) }, ['body', 'description'], 'string_too_long'],
    [{ category: 'Cooking' }, ['body', 'category'], 'value_error'],
    [{ website_url: 'javascript:alert(1)' }, ['body', 'website_url'], 'value_error'],
    [{ name: 'a\u0000b' }, ['body', 'name'], 'value_error'],
  ])('refuses %j', async (body, loc, type) => {
    const { body: made } = await create(custom)
    const reply = await change(made.id, body)
    expect(reply.status).toBe(422)
    expect(reply.body.detail).toEqual([expect.objectContaining({ loc, type })])
    expect((await core.call('GET', `/apps/${made.id}`)).body).toMatchObject(made)
  })

  test('refuses __proto__ and does not change Object.prototype', async () => {
    const { body: made } = await create(custom)
    const raw = '{"__proto__":{"name":"x"}}'
    expect((await core.call(method, `/apps/${made.id}`, { raw })).status).toBe(422)
    expect(Object.hasOwn(Object.prototype, 'name')).toBe(false)
  })

  test('returns 404 for an app of another domain', async () => {
    const foreign = await app(core.db, 'Foreign', { domainId: await otherDomain(core.db) })
    expect((await change(foreign, { name: 'x' })).status).toBe(404)
  })
})

test('concurrent changes of different fields are all kept', async () => {
  const { body: made } = await create(custom)
  await Promise.all([
    patch(made.id, { name: 'One' }),
    patch(made.id, { description: 'Two' }),
    patch(made.id, { website_url: 'https://three.example' }),
  ])
  expect((await core.call('GET', `/apps/${made.id}`)).body).toMatchObject({
    user_friendly_label: 'One',
    description: 'Two',
    website_url: 'https://three.example',
  })
})

test('an App Admin can rename their own apps, but cannot connect or disconnect any', async () => {
  const mine = await app(core.db, 'Mine', { adminUserIds: [owner.id] })
  const other = await app(core.db, 'Other')
  const { token } = owner
  const body = { name: 'Renamed' }
  expect((await core.call('PATCH', `/apps/${mine}`, { token, body })).status).toBe(200)
  expect((await core.call('PATCH', `/apps/${other}`, { token, body })).status).toBe(404)
  for (const [method, target] of [
    ['PUT', `/apps/${mine}`],
    ['POST', '/apps'],
    ['DELETE', `/apps/${mine}`],
  ] as const) {
    const reply = await core.call(method, target, {
      token,
      ...(method === 'DELETE' ? {} : { body }),
    })
    expect([reply.status, reply.body.detail]).toEqual([
      403,
      expect.stringContaining('manage apps on this domain'),
    ])
  }
})

describe('a body', () => {
  test.each([
    ['that is not JSON', '{', 422],
    ['that is a list', '[]', 422],
    ['that is empty', '', 422],
    ['that is nested too deeply', `{"auth":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}`, 422],
    ['that is too large', JSON.stringify({ ...custom, name: 'x'.repeat(1024 * 1024) }), 413],
    [
      'with values of the wrong types',
      '{"app_class_id":7,"auth":"x","settings":[],"version":{}}',
      422,
    ],
    [
      'with __proto__ as a credential',
      '{"app_class_id":"scim","auth":{"__proto__":{"token":"x"}}}',
      400,
    ],
  ])('%s is refused', async (_, raw, status) => {
    expect((await core.call('POST', '/apps', { raw })).status).toBe(status)
    expect((await core.call('GET', '/apps')).body.total).toBe(0)
  })

  test('that is nested too deeply is refused with the limit', async () => {
    const raw = `{"auth":${'['.repeat(100)}1${']'.repeat(100)}}`
    const { body } = await core.call('POST', '/apps', { raw })
    expect(body.detail[0].msg).toContain('may be nested 64 deep')
  })
})
