import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { apps } from '../../../../runtime/database/schema/apps.ts'
import { fixture } from '../../../fixtures/folders.ts'
import { BUILT_IN } from '../../../kit/built-in.ts'
import { type CoreHost, person, startCore } from '../../host.ts'

/** All folders of plugins/ are built in; these tests add two drop-ins. */
const INSTALLED = [...BUILT_IN, 'several-parts', 'tenant-teller'].sort()

let core: CoreHost
let plugins: string

beforeAll(async () => {
  plugins = await mkdtemp(path.join(tmpdir(), 'keyway-plugins-'))
  for (const name of ['tenants', 'several'])
    await cp(fixture(name), path.join(plugins, name), { recursive: true })
  core = await startCore({ KEYWAY_DROP_IN: 'open', KEYWAY_PLUGINS_DIR: plugins })
  await core.host.settled
})
afterAll(async () => {
  await core.stop()
  await rm(plugins, { recursive: true })
})
beforeEach(async () => {
  await core.db.delete(apps)
})

const create = (body: object) => core.call('POST', '/apps', { body })
const auth = { username: 'u', password: 'a-secret-password' }
const tenantTeller = (settings: object = {}) => ({
  app_class_id: 'tenant-teller',
  auth,
  settings: { tenant: 'acme', ...settings },
})

describe('the catalogue', () => {
  test('lists the installed connectors by id', async () => {
    const { body } = await core.call('GET', '/integrations')
    const ids = body.items.map((one: { app_class_id: string }) => one.app_class_id)
    expect(ids).toEqual(INSTALLED)
    expect(body.items[INSTALLED.indexOf('tenant-teller')]).toEqual({
      app_class_id: 'tenant-teller',
      name: 'Tenant teller',
      description: 'Says of credentials what its settings tell it to say',
      category: 'HR & Learning',
      logo_url: '/integrations/tenant-teller/logo',
    })
  })

  test.each([
    ['query=TELL', ['tenant-teller']],
    ['query=scim%202', ['scim']],
    ['query=%25', []],
    [`size=1&page=${INSTALLED.indexOf('several-parts') + 1}`, ['several-parts']],
    ['page=99', []],
  ])('is searched with %s', async (query, found) => {
    const { body } = await core.call('GET', `/integrations?${query}`)
    expect(body.items.map((one: { app_class_id: string }) => one.app_class_id)).toEqual(found)
  })

  test('finds a connector by either spelling of its id, and is refused to plain users', async () => {
    const found = await core.call('GET', '/integrations/tenant_teller')
    expect(found.body.app_class_id).toBe('tenant-teller')
    expect((await core.call('GET', '/integrations/nothing')).status).toBe(404)
    expect((await core.call('GET', '/integrations/nothing/connection-schema')).status).toBe(404)
    const owner = await person(core.db, 'owner@example.com', ['App Admin'])
    expect((await core.call('GET', '/integrations', { token: owner.token })).status).toBe(200)
    const { token } = await person(core.db, 'plain@example.com')
    for (const at of ['', '/scim', '/scim/connection-schema'])
      expect((await core.call('GET', `/integrations${at}`, { token })).status).toBe(403)
  })

  test('serves a logo without a token, with headers that prevent scripts', async () => {
    const get = (at: string) => core.host.app.request(at, { headers: { host: 'localhost' } })
    const reply = await get('/integrations/tenant-teller/logo')
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(reply.headers.get('content-security-policy')).toMatch(/; sandbox$/)
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await reply.text()).toMatch(/^<svg/)
    expect((await get('/integrations/scim/logo')).status).toBe(404)
    expect((await get('/integrations/nothing/logo')).status).toBe(404)
  })

  test('lists the categories', async () => {
    const { body } = await core.call('GET', '/apps/categories')
    expect(body).toHaveLength(14)
    expect(body).toContain('HR & Learning')
  })
})

describe('the connection schema', () => {
  test('has the fields of a single credential; secret fields are writeOnly', async () => {
    const { body } = await core.call('GET', '/integrations/tenant-teller/connection-schema')
    expect(body.auth_schema).toMatchObject({
      properties: {
        username: { title: 'User', default: 'robot' },
        password: { type: 'string', writeOnly: true },
      },
      required: ['password'],
      additionalProperties: false,
    })
    expect(body.auth_schema.properties.username).not.toHaveProperty('writeOnly')
    expect(body.settings_schema.properties.pin).toMatchObject({ writeOnly: true })
  })

  test('nests several credentials under their ids', async () => {
    const { body } = await core.call('GET', '/integrations/several-parts/connection-schema')
    expect(body.auth_schema).toMatchObject({
      properties: {
        api: { properties: { token: { writeOnly: true } }, required: ['token'] },
        admin: { required: ['username', 'password'] },
      },
      required: ['api'],
    })
  })

  const several = { api: { token: 'a-long-token' } }
  const host = { host: 'a.example' }
  test.each<[string, unknown, unknown, boolean]>([
    ['tenant-teller', auth, { tenant: 'acme' }, true],
    ['tenant-teller', { password: 'p' }, { tenant: 'acme' }, true],
    ['tenant-teller', { basic: auth }, {}, false],
    ['tenant-teller', { ...auth, more: 1 }, {}, false],
    ['tenant-teller', { ...auth, constructor: 'x' }, {}, false],
    ['tenant-teller', { username: 'u' }, {}, false],
    ['tenant-teller', { username: 'u', password: 7 }, {}, false],
    ['tenant-teller', auth, { tenant: 'acme', pin: '12345' }, true],
    ['tenant-teller', auth, { tenant: 'acme', pin: '12' }, false],
    ['tenant-teller', auth, { tenants: 'acme' }, false],
    ['several-parts', several, host, true],
    ['several-parts', { ...several, admin: auth }, { ...host, rows: 5 }, true],
    ['several-parts', { admin: auth }, host, false],
    ['several-parts', { ...several, third: auth }, host, false],
    ['several-parts', { api: 'a-long-token' }, host, false],
    ['several-parts', several, {}, false],
    ['several-parts', several, { ...host, rows: 51 }, false],
    ['several-parts', several, { ...host, region: 'asia' }, false],
  ])('matches what connecting to %s accepts: %j, %j is %s', async (id, given, settings, good) => {
    const { body: schema } = await core.call('GET', `/integrations/${id}/connection-schema`)
    const ajv = new Ajv2020({ strict: false })
    formats.default(ajv)
    const isValid =
      ajv.validate(schema.auth_schema, given) && ajv.validate(schema.settings_schema, settings)
    const { status, body } = await create({ app_class_id: id, auth: given, settings })
    expect([isValid, status]).toEqual([good, good ? 200 : 400])
    expect(JSON.stringify(body)).not.toContain('a-secret-password')
    if (!good) expect(body.detail).toContain(`/integrations/${id}/connection-schema`)
  })
})

describe('a connector’s answer about credentials', () => {
  test.each([
    ['invalid', 400],
    ['unauthenticated', 400],
    ['permission_denied', 400],
    ['bad_request', 400],
    ['unsupported_operation', 501],
    ['service_error', 502],
    ['rate_limit', 502],
    ['never', 502],
  ])('%s becomes status %i, and no app is stored', async (says, status) => {
    const reply = await create(tenantTeller({ says }))
    expect(reply.status).toBe(status)
    expect(reply.body.detail).toContain('Tenant teller')
    expect(reply.body.detail).not.toContain(auth.password)
    expect((await core.call('GET', '/apps')).body.total).toBe(0)
  })

  test.each(['', 'x'.repeat(256), 'a\u0001b'])(
    'with the tenant %j is refused with 502',
    async (tenant) => {
      expect((await create(tenantTeller({ tenant }))).status).toBe(502)
    },
  )

  test('is requested with the manifest’s defaults filled in', async () => {
    const body = { ...tenantTeller(), auth: { password: 'a-secret-password' } }
    expect((await create(body)).status).toBe(200)
  })
})

describe('a connector that does not report its tenant', () => {
  const several = (settings: object, token: string) =>
    create({ app_class_id: 'several_parts', auth: { api: { token } }, settings })

  test('gets an instance id derived from its settings, not from its secrets', async () => {
    const first = await several({ host: 'a.example' }, 'a-first-token')
    expect(first.body).toMatchObject({ app_class_id: 'several-parts' })
    expect(first.body.instance_id).toMatch(/^derived-[0-9a-f]{32}$/)
    expect((await several({ host: 'a.example' }, 'a-second-token')).status).toBe(409)
    expect((await several({ host: 'b.example' }, 'a-first-token')).status).toBe(200)
  })

  test('keeps its instance id when its settings change', async () => {
    const { body: made } = await several({ host: 'a.example' }, 'a-first-token')
    const auth = { api: { token: 'a-first-token' } }
    const body = { app_class_id: 'several-parts', auth, settings: { host: 'c.example' } }
    const put = await core.call('PUT', `/apps/${made.id}`, { body })
    expect(put).toMatchObject({ status: 200, body: { instance_id: made.instance_id } })
  })
})

test('a request for another version is refused with the version that is served', async () => {
  const { status, body } = await create({ ...tenantTeller(), version: '2.0.0' })
  expect([status, body.detail]).toEqual([400, expect.stringContaining('1.2.3 is')])
  expect((await create({ ...tenantTeller(), version: '1.2.3' })).status).toBe(200)
})
