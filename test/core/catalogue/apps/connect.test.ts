import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { apps } from '../../../../runtime/database/schema/apps.ts'
import { killDatabase } from '../../../database/kill.ts'
import {
  type Directory,
  type SlowDirectory,
  startDirectory,
  startSlowDirectory,
} from '../../directory.ts'
import { app, type CoreHost, type Person, person, startCore } from '../../host.ts'

let core: CoreHost
let directory: Directory
let other: Directory
let slow: SlowDirectory
let appAdmin: Person

beforeAll(async () => {
  directory = await startDirectory()
  other = await startDirectory()
  slow = await startSlowDirectory()
  const grants = [directory, other, slow].map(({ host }) => `scim=${host}`)
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: grants.join(' ') }, { server: 'own' })
  await core.host.settled
  appAdmin = await person(core.db, 'owner@example.com', ['App Admin'])
})
afterAll(async () => {
  await core.stop()
  await directory.close()
  await other.close()
  await slow.close()
})
beforeEach(async () => {
  await core.db.delete(apps)
})

const create = (body: object) => core.call('POST', '/apps', { body })
const count = async () => (await core.call('GET', '/apps')).body.total
const rowOf = async (id: string) => (await core.db.select().from(apps).where(eq(apps.id, id)))[0]

/** The last entry of the activity log. */
async function lastEntry() {
  const { body } = await core.call('GET', '/activity_logs?limit=1')
  return (await core.call('GET', body.links.last)).body.items[0]
}

describe('connecting', () => {
  test('stores the app with the tenant, name and category that the connector reports', async () => {
    const { status, body } = await create(directory.app)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      app_class_id: 'scim',
      instance_id: `${directory.host}/scim`,
      user_friendly_label: 'SCIM 2.0',
      category: 'IT & Security',
      status: 'APPROVED',
      sources: ['LUMOS_INTEGRATION'],
      disconnected: false,
      sync_status: null,
    })
    expect((await core.call('GET', `/apps/${body.id}`)).body).toMatchObject(body)
    expect(await lastEntry()).toMatchObject({
      event_type: 'APP_CONNECTED',
      outcome: 'Succeeded',
      targets: [{ name: 'SCIM 2.0', id: body.id }],
    })
  })

  test('prefers the caller’s name, category and website to those of the connector', async () => {
    const chosen = {
      name: 'Directory',
      category: 'HR_AND_LEARNING',
      website_url: 'https://a.example',
    }
    const { body } = await create({ ...directory.app, ...chosen })
    expect(body).toMatchObject({
      user_friendly_label: 'Directory',
      category: 'HR & Learning',
      website_url: 'https://a.example',
      description: expect.stringContaining('RFC 7643'),
    })
    const query = 'name_search=directory&exact_match=true&disconnected=false'
    expect((await core.call('GET', `/apps?${query}`)).body.items[0].id).toBe(body.id)
  })

  test('reports that a system without an egress grant was not contacted', async () => {
    const settings = { base_url: 'http://127.0.0.1:9/scim' }
    const { status, body } = await create({ ...directory.app, settings })
    expect(status).toBe(400)
    expect(body.detail).toMatch(
      /^SCIM 2\.0 was not asked \(permission_denied\): .*KEYWAY_PRIVATE_EGRESS=scim=127\.0\.0\.1:9/,
    )
    expect(await count()).toBe(0)
  })

  test('with a token that the system refuses stores nothing and logs the failure', async () => {
    const { status, body } = await create({ ...directory.app, auth: { token: 'a-wrong-token' } })
    expect(status).toBe(400)
    expect(body.detail).toMatch(/^SCIM 2\.0 did not accept the connection \(unauthenticated\)/)
    expect(body.detail).not.toContain('a-wrong-token')
    expect(await count()).toBe(0)
    expect(await lastEntry()).toMatchObject({
      event_type: 'APP_CONNECTED',
      outcome: 'Failed',
      targets: [{ target_type: 'Integration', id: 'scim' }],
      event_metadata: { status: 400 },
    })
  })

  test('to a system that is down returns 502 and stores nothing', async () => {
    const gone = await startDirectory()
    await gone.close()
    const core2 = await startCore({ KEYWAY_PRIVATE_EGRESS: `scim=${gone.host}` })
    await core2.host.settled
    const { status, body } = await core2.call('POST', '/apps', { body: gone.app })
    expect([status, body.detail]).toEqual([502, expect.stringContaining('connection_rejected')])
    expect((await core2.call('GET', '/apps')).body.total).toBe(0)
    await core2.stop()
  })

  test('to an address without an egress grant returns 400', async () => {
    const app = { ...directory.app, settings: { base_url: 'http://127.0.0.1:9/scim' } }
    const { status, body } = await create(app)
    expect([status, body.detail]).toEqual([400, expect.stringContaining('KEYWAY_PRIVATE_EGRESS')])
  })

  test('the same tenant twice is a conflict', async () => {
    const first = await create(directory.app)
    const { status, body } = await create(directory.app)
    expect([status, body.detail]).toEqual([409, expect.stringContaining(first.body.id)])
    expect((await create(other.app)).status).toBe(200)
  })

  test('the same tenant many times at once connects it once', async () => {
    const replies = await Promise.all(Array.from({ length: 6 }, () => create(directory.app)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    expect(await count()).toBe(1)
  })

  test('requires permission; the refusal contains the text that clients match', async () => {
    const call = { token: appAdmin.token, body: directory.app }
    const { status, body } = await core.call('POST', '/apps', call)
    expect([status, body.detail]).toEqual([
      403,
      expect.stringContaining('manage apps on this domain'),
    ])
  })
})

describe('disconnecting', () => {
  test('deletes the credentials, keeps the record, and is idempotent', async () => {
    const { body: made } = await create(directory.app)
    const gone = { id: made.id, app_class_id: 'scim', disconnected: true }
    const answer = { status: 200, body: gone }
    expect(await core.call('DELETE', `/apps/${made.id}`)).toMatchObject(answer)
    expect((await rowOf(made.id))?.sealedConnection).toBeNull()
    expect(await lastEntry()).toMatchObject({ event_type: 'APP_DISCONNECTED' })
    const { total } = (await core.call('GET', '/activity_logs')).body
    expect(await core.call('DELETE', `/apps/${made.id}`)).toMatchObject(answer)
    expect((await core.call('GET', '/activity_logs')).body.total).toBe(total)
    expect((await core.call('GET', `/apps/${made.id}`)).body.disconnected).toBe(true)
    expect((await core.call('GET', '/apps?disconnected=false')).body.total).toBe(0)
  })

  test('is undone by connecting again, under the same id', async () => {
    const { body: made } = await create({ ...directory.app, name: 'Before' })
    await core.call('DELETE', `/apps/${made.id}`)
    const { body } = await create(directory.app)
    expect(body).toMatchObject({
      id: made.id,
      disconnected: false,
      user_friendly_label: 'SCIM 2.0',
    })
    expect(await count()).toBe(1)
  })

  test('an app that is managed elsewhere is a conflict; an unknown app returns 404', async () => {
    const id = await app(core.db, 'Elsewhere', { connectionSource: 'UI' })
    expect((await core.call('DELETE', `/apps/${id}`)).status).toBe(409)
    expect((await core.call('PUT', `/apps/${id}`, { body: {} })).status).toBe(409)
    expect((await core.call('PATCH', `/apps/${id}`, { body: { name: 'N' } })).status).toBe(200)
    const nobody = '00000000-0000-0000-0000-000000000000'
    for (const unknown of [nobody, 'not-an-id'])
      expect((await core.call('DELETE', `/apps/${unknown}`)).status).toBe(404)
  })
})

describe('reconnecting', () => {
  const put = (id: string, body: object) => core.call('PUT', `/apps/${id}`, { body })

  test('replaces the credentials for the same tenant; wrong credentials change nothing', async () => {
    const { body: made } = await create(directory.app)
    const before = await rowOf(made.id)
    const wrong = { app_class_id: 'scim', auth: { token: 'a-wrong-token' } }
    expect((await put(made.id, wrong)).status).toBe(400)
    expect(await lastEntry()).toMatchObject({ event_type: 'APP_RECONNECTED', outcome: 'Failed' })
    expect((await rowOf(made.id))?.sealedConnection).toEqual(before?.sealedConnection)
    const right = { app_class_id: 'scim', auth: { token: 'sample-token' }, name: 'Anew' }
    expect(await put(made.id, right)).toMatchObject({
      status: 200,
      body: { id: made.id, user_friendly_label: 'Anew' },
    })
    expect((await rowOf(made.id))?.sealedConnection).not.toEqual(before?.sealedConnection)
    expect(await lastEntry()).toMatchObject({ event_metadata: { fields: ['name', 'auth'] } })
  })

  test('to another tenant is a conflict', async () => {
    const { body: made } = await create(directory.app)
    const { status, body } = await put(made.id, { ...other.app })
    expect([status, body.detail]).toEqual([409, expect.stringContaining('another tenant')])
  })

  test('accepts new settings with the stored credentials', async () => {
    const { body: made } = await create(directory.app)
    const settings = { base_url: `${directory.app.settings.base_url}/` }
    expect((await put(made.id, { app_class_id: 'scim', settings })).status).toBe(200)
  })

  test('does not send the stored credentials to a new address', async () => {
    const { body: made } = await create(directory.app)
    const before = await rowOf(made.id)
    const { settings } = slow.app
    slow.asked.length = 0
    const reply = await put(made.id, { app_class_id: 'scim', settings })
    expect([reply.status, reply.body.detail]).toEqual([
      400,
      expect.stringContaining('auth: send it again'),
    ])
    expect(slow.asked).toEqual([])
    expect((await rowOf(made.id))?.sealedConnection).toEqual(before?.sealedConnection)
  })

  test('restores a disconnected app, but only with credentials', async () => {
    const { body: made } = await create(directory.app)
    await core.call('DELETE', `/apps/${made.id}`)
    const { settings } = directory.app
    const without = await put(made.id, { app_class_id: 'scim', settings })
    expect([without.status, without.body.detail]).toEqual([
      400,
      expect.stringContaining('auth.token: missing'),
    ])
    expect((await put(made.id, directory.app)).body.disconnected).toBe(false)
  })

  test('does not undo a concurrent disconnection', async () => {
    const { body: made } = await create(slow.app)
    const { asked, release } = slow.hold()
    const late = put(made.id, slow.app)
    await asked
    expect((await core.call('DELETE', `/apps/${made.id}`)).status).toBe(200)
    release()
    expect((await late).status).toBe(409)
    expect((await rowOf(made.id))?.sealedConnection).toBeNull()
  })

  test('does not overwrite credentials that were replaced concurrently', async () => {
    const { body: made } = await create(slow.app)
    const { settings } = slow.app
    const { asked, release } = slow.hold()
    const late = put(made.id, { app_class_id: 'scim', settings })
    await asked
    await core.db.update(apps).set({ sealedConnection: Buffer.from('another') })
    release()
    expect((await late).status).toBe(409)
    expect(String((await rowOf(made.id))?.sealedConnection)).toBe('another')
  })

  test('returns 429 with Retry-After while a sync is running', async () => {
    const { body: made } = await create(directory.app)
    await core.db.update(apps).set({ syncStatus: 'SYNCING' })
    const reply = await put(made.id, directory.app)
    expect(reply.status).toBe(429)
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test.each([
    [{ auth: { token: 'sample-token' } }, 'app_class_id: missing'],
    [
      { settings: {} },
      'send "scim" with them. Of auth and settings, the one that you leave out is kept',
    ],
    [{ app_class_id: 'other' }, 'app_class_id: not that of the app'],
    [{ app_class_id: 'scim', version: '9.9.9' }, 'version: "9.9.9" of scim is not served'],
  ])('with %j is refused', async (body, words) => {
    const { body: made } = await create(directory.app)
    const reply = await put(made.id, body)
    expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining(words)])
  })

  test('accepts the served version without auth and settings', async () => {
    const { body: made } = await create(directory.app)
    expect((await put(made.id, { app_class_id: 'scim', version: '1.0.0' })).status).toBe(200)
  })
})

test('losing the database while credentials are checked leaves no partial state', async () => {
  const { asked, release } = slow.hold()
  const late = create(slow.app)
  await asked
  killDatabase(core.host.databasePid())
  release()
  expect((await late).status).toBe(503)
  let back = await create(slow.app)
  for (let tries = 0; back.status === 503 && tries < 200; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    back = await create(slow.app)
  }
  expect(back.status).toBe(200)
  expect(await count()).toBe(1)
})
