import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../../core/host.ts'
import { operator } from './operator.ts'
import { casesFor, LISTING, type Made, packaged } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>
let first: Made
let second: Made

beforeAll(async () => {
  core = await startCore()
  op = operator(core)
  first = await packaged({ version: '1.0.0' })
  second = await packaged({ version: '1.1.0' })
})
afterAll(() => core.stop())
afterEach(async () => {
  for (const id of ['acme', 'other']) await op.call('DELETE', `/connectors/${id}`)
})

const list = (page: object) => op.ask('acme', 'list_accounts', { page })
const versionOf = async () => {
  const { body } = await list({ size: 5 })
  return body.is_error ? body.error : body.response[0].given_name
}

describe('installing', () => {
  test('a package is stored without serving calls, and serves them once it is activated', async () => {
    const uploaded = await op.upload(first)
    expect(uploaded).toMatchObject({
      status: 201,
      body: {
        changed: true,
        converged: true,
        package: {
          id: 'acme',
          version: '1.0.0',
          trust: 'untrusted',
          replaces: null,
          active: false,
        },
      },
    })
    expect(uploaded.body.package.more.words).toEqual(
      expect.arrayContaining(['offer list_accounts', expect.stringMatching(/^send GET, HEAD to/)]),
    )
    expect((await list({})).body.error.error_code).toBe('not_found')
    expect((await op.activate(first)).body).toMatchObject({ changed: true, converged: true })
    expect(await versionOf()).toBe('1.0.0')
    const { body } = await op.call('GET', '/connectors')
    expect(body.items.find((row: { id: string }) => row.id === 'acme')).toEqual({
      id: 'acme',
      version: '1.0.0',
      digest: first.digest,
      source: 'installed',
      state: 'ready',
      reason: null,
      serving: true,
      folder: null,
    })
  })

  test('the same package again changes nothing', async () => {
    await op.install(first)
    const { body } = await op.upload(first)
    expect(body).toMatchObject({ changed: false, difference: [], package: { active: true } })
    expect((await op.activate(first)).body.changed).toBe(false)
  })

  test('a dry run reports the difference, and stores nothing', async () => {
    const { body } = await op.upload(first, '?dry_run=true')
    expect(body.changed).toBe(false)
    expect(body.difference).toEqual([
      expect.stringMatching(/^acme: 1\.0\.0 installed \(untrusted, [0-9a-f]{12}\)$/),
    ])
    expect((await op.call('GET', '/connectors/acme')).status).toBe(404)
  })

  test('every reply names the generation that served it', async () => {
    const { body } = await op.install(first)
    const { headers } = await list({})
    expect(headers.get('x-keyway-generation')).toBe(String(body.generation))
    expect(headers.get('x-keyway-connector')).toBe('acme@1.0.0')
    const { body: ready } = await core.call('GET', '/readyz')
    expect(ready.generation).toBe(body.generation)
  })

  test('an installed connector serves again after a restart, also before the database answers', async () => {
    await op.install(first)
    const { dataDir } = core
    const away = { DATABASE_URL: 'postgres://127.0.0.1:1/nowhere', KEYWAY_INSTALL: 'any' }
    for (const env of [away, {}]) {
      await core.stop({ keep: true })
      core = await startCore(env, { from: dataDir, isAway: env === away })
      op = operator(core)
      expect(await versionOf()).toBe('1.0.0')
    }
  })
})

describe('an upgrade', () => {
  test('takes new calls at once, while page sequences continue on the version that started them', async () => {
    await op.install(first)
    const begun = await list({ size: 5 })
    await op.install(second)
    expect(await versionOf()).toBe('1.1.0')
    const ids: string[] = begun.body.response.map(
      (one: { integration_specific_id: string }) => one.integration_specific_id,
    )
    let { token } = begun.body.page
    while (token) {
      const { body, headers } = await list({ token })
      expect(headers.get('x-keyway-connector')).toBe('acme@1.0.0')
      for (const one of body.response) {
        expect(one.given_name).toBe('1.0.0')
        ids.push(one.integration_specific_id)
      }
      token = body.page?.token
    }
    expect(ids).toEqual(Array.from({ length: 23 }, (_, index) => `account-${index}`))
  })

  test('that wants more is refused until it is granted; the reply names the missing grants', async () => {
    await op.install(first)
    const wide = await packaged({
      version: '2.0.0',
      egress: [{ url: 'https://api.acme.example' }, { url: 'https://files.acme.example' }],
    })
    const { body: uploaded } = await op.upload(wide)
    expect(uploaded.package.more.words).toEqual([
      'send GET, HEAD to https://files.acme.example (for list_accounts, validate_credentials)',
    ])
    const refused = await op.activate(wide, { grant: [] })
    expect(refused.status).toBe(409)
    expect(refused.body.error.message).toMatch(
      /acme 2\.0\.0 wants more than is granted: send GET, HEAD to https:\/\/files\.acme\.example \(for list_accounts/,
    )
    expect(refused.body.raw_data.wants[0]).toMatchObject({
      kind: 'egress',
      subject: 'https://files.acme.example',
    })
    expect(await versionOf()).toBe('1.0.0')
    const granted = await op.activate(wide, { grant: ['egress https://files.acme.example'] })
    expect(granted.body).toMatchObject({ changed: true })
    expect(await versionOf()).toBe('2.0.0')
  })

  test('whose code cannot be loaded is refused with its reason, and the old version goes on serving', async () => {
    await op.install(first)
    const broken = await packaged(
      { version: '1.2.0' },
      `throw new Error('not today')\n${LISTING('1.2.0')}`,
    )
    const { status, body } = await op.upload(broken)
    expect(status).toBe(422)
    expect(JSON.stringify(body)).toContain('not today')
    expect(await versionOf()).toBe('1.0.0')
  })

  test('that breaks the serving version is refused without allow_breaking', async () => {
    await op.install(first)
    const less = await packaged(
      { version: '1.3.0', capabilities: { validate_credentials: {} } },
      LISTING('1.3.0').replace(/async list_accounts[\s\S]*?\n {2}},\n/, ''),
    )
    const { body } = await op.upload(less)
    expect(body.package.findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ severity: 'breaking', where: 'capabilities.list_accounts' }),
        expect.objectContaining({ severity: 'notice', where: 'version' }),
      ]),
    )
    const refused = await op.activate(less)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringMatching(/acme 1\.3\.0 breaks what serves now: capabilities\.list_accounts/),
    ])
    expect((await op.activate(less, { allow_breaking: true })).status).toBe(200)
  })

  test('that breaks apps is refused with their names and the reason, also for the probe', async () => {
    await op.install(first)
    const credentials = { auth: { token: { token: 'a-tenants-token' } }, settings: {} }
    expect((await op.call('PUT', '/connectors/acme/probe', credentials)).status).toBe(200)
    const app = await core.call('POST', '/apps', {
      body: { app_class_id: 'acme', name: 'Acme of Sales', auth: { token: 'a-tenants-token' } },
    })
    expect(app.status).toBe(200)
    const settings = { region: { type: 'string', required: true } }
    const capabilities = { validate_credentials: {}, list_accounts: {} }
    const set = { settings: { region: 'eu' } }
    const next = await packaged(
      { version: '2.0.0', settings },
      undefined,
      casesFor(capabilities, { validate_credentials: set, list_accounts: set }),
    )
    await op.upload(next)
    const refused = await op.activate(next)
    expect(refused.status).toBe(409)
    expect(refused.body.error.message).toMatch(
      /It would break the app "Acme of Sales" \(.*: settings\.region: missing.*The probe that it is tried with does not fit \(settings\.region: missing.*keyway probe acme --as FILE/,
    )
    expect(refused.body.error.message).not.toContain('a-tenants-token')
    const meant = await op.activate(next, { allow_breaking: true })
    expect([meant.status, meant.body.error?.message]).toEqual([
      409,
      expect.stringMatching(/^The probe .*settings\.region/),
    ])
    const whole = { ...credentials, settings: { region: 'eu' } }
    await op.call('PUT', '/connectors/acme/probe', whole)
    expect((await op.activate(next, { allow_breaking: true })).status).toBe(200)
    await op.call('DELETE', '/connectors/acme/probe')
    await core.call('DELETE', `/apps/${app.body.id}`)
  })

  test.each([['an older version', { version: '0.9.0' }, 'acme 1.0.0 serves, 0.9.0 is older']])(
    'to %s is refused',
    async (_name, changes, words) => {
      await op.install(first)
      const made = await packaged(changes)
      await op.upload(made)
      const { status, body } = await op.activate(made)
      expect([status, body.error.message]).toEqual([409, expect.stringContaining(words)])
      expect((await op.activate(made, { allow_downgrade: true })).status).toBe(200)
    },
  )

  test('to other content of the same version is refused', async () => {
    await op.install(first)
    const other = await packaged({ version: '1.0.0' }, LISTING('other content'))
    const { status, body } = await op.upload(other)
    expect([status, body.error.message]).toEqual([
      409,
      expect.stringMatching(/acme 1\.0\.0 is installed with other content/),
    ])
  })
})

describe('disabling', () => {
  test('refuses new calls, and lets page sequences continue unless it is at once', async () => {
    await op.install(first)
    const { body } = await list({ size: 5 })
    await op.call('POST', '/connectors/acme/disable', {})
    expect((await list({})).body.error.error_code).toBe('not_found')
    expect(
      (await core.call('GET', '/connectors/list-connector-app-ids')).body.response,
    ).not.toContain('acme')
    expect((await list({ token: body.page.token })).body.response).toHaveLength(5)
    await op.call('POST', '/connectors/acme/disable', { at_once: true })
    expect((await list({ token: body.page.token })).body.error.error_code).toBe('not_found')
    expect((await op.call('POST', '/connectors/acme/enable', {})).body.changed).toBe(true)
    expect((await list({ token: body.page.token })).body.response).toHaveLength(5)
  })

  test('a built-in connector is possible, and so is enabling it again', async () => {
    const ids = async () =>
      (await core.call('GET', '/connectors/list-connector-app-ids')).body.response
    await core.host.settled
    expect(await ids()).toContain('scim')
    expect((await op.call('POST', '/connectors/scim/disable', { reason: 'unused' })).status).toBe(
      200,
    )
    expect(await ids()).not.toContain('scim')
    const { body } = await op.call('GET', '/connectors')
    expect(body.items.find((row: { id: string }) => row.id === 'scim')).toMatchObject({
      state: 'disabled',
      serving: false,
    })
    await op.call('POST', '/connectors/scim/enable', {})
    expect(await ids()).toContain('scim')
  })

  test('an unknown connector returns 404', async () => {
    expect((await op.call('POST', '/connectors/nobody/disable', {})).status).toBe(404)
    expect((await op.call('DELETE', '/connectors/nobody')).status).toBe(404)
  })
})

describe('rolling back', () => {
  test('serves the version of an earlier generation, and is recorded', async () => {
    const { body: at } = await op.install(first)
    await op.install(second)
    expect(await versionOf()).toBe('1.1.0')
    const { body } = await op.call('POST', '/rollback', {
      to: at.generation,
      reason: 'lists nobody',
    })
    expect(body.difference).toEqual(['acme: 1.1.0 → 1.0.0'])
    expect(await versionOf()).toBe('1.0.0')
    const { body: told } = await op.call('GET', '/generations?limit=1')
    expect(told.items).toEqual([
      expect.objectContaining({
        action: 'rollback',
        reason: 'lists nobody',
        by: 'admin@localhost',
      }),
    ])
    const { body: difference } = await op.call(
      'GET',
      `/generations/${body.generation}/difference?since=${at.generation}`,
    )
    expect(difference.difference).toEqual([expect.stringMatching(/^acme: 1\.1\.0 installed/)])
  })

  test('restores a removed connector, but only with a new grant', async () => {
    const { body: at } = await op.install(first)
    await op.call('DELETE', '/connectors/acme')
    expect((await list({})).body.error.error_code).toBe('not_found')
    expect((await op.call('POST', '/rollback', { to: at.generation })).status).toBe(409)
    const { status } = await op.call('POST', '/rollback', { to: at.generation, grant: 'all' })
    expect([status, await versionOf()]).toEqual([200, '1.0.0'])
  })

  test('to an unknown generation returns 404', async () => {
    expect((await op.call('POST', '/rollback', { to: 9999 })).status).toBe(404)
  })
})

describe('changes by two operators', () => {
  test('make two generations, one after the other', async () => {
    const other = await packaged({ id: 'other' })
    await Promise.all([op.install(first), op.install(other)])
    expect((await op.call('GET', '/connectors/acme')).body.active).toBe(first.digest)
    expect((await op.call('GET', '/connectors/other')).body.active).toBe(other.digest)
  })

  test('are refused to the one who has not seen the newest generation', async () => {
    const { body } = await op.install(first)
    const { status, body: told } = await op.call('POST', '/connectors/acme/disable', {
      expected_generation: body.generation - 1,
    })
    expect([status, told.error.message]).toEqual([
      409,
      expect.stringContaining(`The newest generation is ${body.generation}`),
    ])
  })
})
