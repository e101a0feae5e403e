/** Packages in the console: upload, checks, activation, and the registry. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operator } from '../../connectors/lifecycle/operator.ts'
import { type Made, packaged } from '../../connectors/lifecycle/packaging.ts'
import { publishInto } from '../../connectors/lifecycle/publishing.ts'
import { type CoreHost, person, startCore } from '../../core/host.ts'
import { signedIn, type Visitor } from '../settings/visitor.ts'

let core: CoreHost
let made: Made
let visitor: Visitor
let registry: string
beforeAll(async () => {
  registry = await mkdtemp(path.join(tmpdir(), 'keyway-registry-'))
  core = await startCore({ KEYWAY_REGISTRY: registry })
  made = await packaged()
  visitor = await signedIn(core)
})
afterAll(async () => {
  await core.stop()
  await rm(registry, { recursive: true, force: true })
})

const PATH = '/console/install'

/** Sends the form of the page as a browser does. */
async function send(
  who: Visitor,
  { fields = {}, package: packed, signature, token }: Sending,
): Promise<Awaited<ReturnType<Visitor['post']>>> {
  const page = await who.get(PATH)
  const proof = /name="form_token" value="([^"]*)"/.exec(page.text)?.[1] ?? ''
  const form = new FormData()
  form.set('form_token', token ?? proof)
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('package', new File(packed ? [new Uint8Array(packed)] : [], 'acme.tgz'))
  form.set('signature', new File(signature ? [signature] : [], 'acme.tgz.sig'))
  const whole = new Response(form)
  return who.post(
    PATH,
    {},
    {
      raw: new Uint8Array(await whole.arrayBuffer()),
      headers: { 'content-type': whole.headers.get('content-type') ?? '' },
    },
  )
}
type Sending = {
  fields?: Record<string, string>
  package?: Uint8Array
  signature?: string
  token?: string
}

const VALIDATING = `
import { defineConnector } from 'keyway/sdk'
export default defineConnector({
  async validate_credentials() {
    return { valid: true, unique_tenant_id: 'tenant' }
  },
})
`

const versions = async (id: string): Promise<unknown[]> =>
  (await core.call('GET', `/operator/connectors/${id}`)).body.versions ?? []

describe('an uploaded package', () => {
  test('is refused with a reason, and the page keeps the entered values', async () => {
    const page = await send(visitor, {
      fields: { keep: 'yes', reason: 'For the finance team' },
      package: Buffer.from('no package'),
    })
    expect(page.status).toBe(422)
    expect(page.text).toContain('It was not kept')
    expect(page.text).toContain('value="For the finance team"')
    const empty = await send(visitor, { fields: { keep: 'yes' } })
    expect([empty.status, empty.text.includes('Choose the file of a package.')]).toEqual([
      422,
      true,
    ])
  })

  test('is refused with the findings if it does not pass its checks', async () => {
    const { packed } = await packaged({ id: 'caseless' }, undefined, [])
    const page = await send(visitor, { fields: { keep: 'yes' }, package: packed })
    expect(page.status).toBe(422)
    expect(page.text).toContain('<strong>error</strong>')
    expect(await versions('caseless')).toEqual([])
  })

  test('is only checked, and not stored, on request', async () => {
    const page = await send(visitor, { fields: { keep: 'no' }, package: made.packed })
    expect(page.status).toBe(200)
    expect(page.text).toContain('acme 1.0.0 passes its checks')
    expect(page.text).toContain('https://api.acme.example')
    expect((await core.call('GET', '/operator/connectors/acme')).status).toBe(404)
  })

  test('is stored with its publisher, granted what it wants, and activated after a preview', async () => {
    await operator(core).trustPublisher()
    const { packed, signature } = made
    const kept = await send(visitor, {
      fields: { keep: 'yes', reason: 'Asked by sales' },
      ...{ package: packed, signature },
    })
    expect(kept.status).toBe(303)
    const at = kept.headers.get('location') ?? ''
    expect(at).toBe(`/console/connectors/acme/versions/${made.digest}`)
    const version = await visitor.get(at)
    expect(version.text).toContain('It is kept. No call goes to it yet.')
    expect(version.text).toContain('Signed by Acme Inc.')
    const activate = '/console/connectors/acme/activate'
    const waits = await visitor.get(`${activate}?digest=${made.digest}`)
    expect([waits.status, waits.text.includes('wants more than is granted')]).toEqual([409, true])
    const all = `?digest=${made.digest}&amp;grant=all`
    expect(waits.text).toContain(`href="${all}">Grant all that it wants</a>`)
    const asked = await visitor.get(`${activate}?digest=${made.digest}&grant=all`)
    expect(asked.text).toContain('acme: may')
    const done = await visitor.post(activate, { reason: 'Reviewed' })
    expect([done.status, done.headers.get('location')]).toEqual([303, '/console/connectors/acme'])
    const history = await visitor.get('/console/generations')
    expect(history.text).toContain('Asked by sales')
    expect(history.text).toContain('Reviewed')
  })

  test('has a list of its calls, each with its phases', async () => {
    const { status } = await operator(core).ask('acme', 'list_accounts')
    expect(status).toBe(200)
    const list = await visitor.get('/console/connectors/acme/calls')
    const [, one = ''] = /href="([^"]*\/calls\/[^"]+)"/.exec(list.text) ?? []
    const { text } = await visitor.get(one)
    expect(text).toContain('list_accounts')
    expect(text).toContain('Keyway and the connector, without a request')
    expect(text).toMatch(/<dt>Version<\/dt>\s*<dd>1\.0\.0</)
    expect((await visitor.get('/console/connectors/acme/calls/none')).status).toBe(404)
  })

  test('is probed with stored credentials, which are never shown', async () => {
    const at = '/console/connectors/acme/probe'
    expect((await visitor.get(at)).status).toBe(200)
    for (const credentials of ['{', '[]', '{"settings": {}}', '{"auth": {}, "more": 1}']) {
      const page = await visitor.post(at, { credentials })
      expect([page.status, page.text.includes('They were not kept')], credentials).toEqual([
        422,
        true,
      ])
    }
    const kept = await visitor.post(at, { credentials: '{"auth": {"token": {"token": "sesame"}}}' })
    expect(kept.status).toBe(303)
    const { text } = await visitor.get('/console/connectors/acme')
    expect(text).toContain('New versions are tried with these credentials.')
    expect((await visitor.get(at)).text).not.toContain('sesame')
    expect((await core.call('GET', '/operator/connectors/acme')).body.probe).toBe(true)
    await visitor.get('/console/connectors/acme/forget-probe')
    expect((await visitor.post('/console/connectors/acme/forget-probe')).status).toBe(303)
  })

  test('of the next version shows its breaking changes, and is rolled back', async () => {
    const less = { version: '2.0.0', capabilities: { validate_credentials: {} } }
    const next = await packaged(less, VALIDATING)
    const { packed, signature } = next
    const kept = await send(visitor, { fields: { keep: 'yes' }, package: packed, signature })
    const { text } = await visitor.get(kept.headers.get('location') ?? '')
    expect(text).toContain('<strong>breaking</strong>')
    expect(text).toContain('may no longer')
    expect(text).toContain('name="allow_breaking"')
    const activate = '/console/connectors/acme/activate'
    const choice = `digest=${next.digest}&grant=all`
    expect((await visitor.get(`${activate}?${choice}`)).status).toBe(409)
    await visitor.get(`${activate}?${choice}&allow_breaking=yes`)
    expect((await visitor.post(activate, {})).status).toBe(303)
    const { body } = await core.call('GET', '/operator/generations')
    const before = body.items.find((one: { action: string }) => one.action === 'activate')
    await visitor.get(`/console/generations/${before.generation - 1}/rollback`)
    const back = await visitor.post(`/console/generations/${before.generation - 1}/rollback`, {})
    expect(back.status).toBe(303)
    const served = await core.call('GET', '/operator/connectors/acme')
    expect(served.body.active).toBe(made.digest)
  })
})

describe('a registry', () => {
  const publish = (...made: Made[]) => publishInto(registry, made)
  const listed = (query = '') => core.call('GET', `/operator/registry${query}`)
  const install = (name: string, more: object = {}) =>
    core.call('POST', '/operator/registry/packages', { body: { name, ...more } })

  test('cannot be read before it has an index', async () => {
    const away = await listed()
    expect([away.status, JSON.stringify(away.body)]).toEqual([
      409,
      expect.stringContaining('cannot be read'),
    ])
  })

  test('is searched, compared with the served versions, and installed from', async () => {
    await operator(core).trustPublisher()
    const [first, next] = [
      await packaged({ id: 'published' }),
      await packaged({ id: 'published', version: '1.1.0' }),
    ]
    await publish(first, next)
    const { status, body } = await listed('?search=made')
    expect([status, body.publisher, body.total]).toEqual([200, 'Acme Inc.', 1])
    expect(body.items[0]).toMatchObject({ id: 'published', newest: '1.1.0', installed: null })
    expect((await listed('?search=nothing')).body.total).toBe(0)
    const tried = await install('published@1.0.0', { dry_run: true })
    expect([tried.status, tried.body.package.trust]).toEqual([201, 'trusted'])
    expect(await isKept('published')).toBe(false)
    const kept = await install('published@1.0.0')
    expect(kept.body.package).toMatchObject({ version: '1.0.0', digest: first.digest })
    await operator(core).activate(first)
    const list = await visitor.get('/console/registry?outdated=yes')
    expect(list.text).toContain('signed by Acme Inc.')
    expect(list.text).toContain('Outdated')
    const at = '/console/registry/published'
    expect((await visitor.get(at)).text).toContain('<option value="1.1.0">')
    const looked = await visitor.post(at, { version: '1.1.0', keep: 'no' })
    expect(looked.text).toContain('published 1.1.0 passes its checks')
    const taken = await visitor.post(at, { version: '1.1.0', keep: 'yes', reason: 'Newer' })
    expect(taken.headers.get('location')).toBe(
      `/console/connectors/published/versions/${next.digest}`,
    )
    expect((await visitor.post(at, { version: '9.9.9', keep: 'yes' })).text).toContain(
      'It was not kept',
    )
    expect((await visitor.get('/console/registry/none')).status).toBe(404)
    expect((await listed('?outdated=true')).body.items[0]).toMatchObject({ outdated: true })
    expect((await install('published@^9')).status).toBe(422)
    expect((await install('../x')).status).toBe(422)
  })

  test('refuses to install a package that differs from its index', async () => {
    const made = await packaged({ id: 'changed' })
    await publish({ ...made, digest: 'a'.repeat(64) })
    const answer = await install('changed')
    expect(answer.status).toBe(422)
    expect(JSON.stringify(answer.body)).toContain('is not the package that the index names')
  })
})

const isKept = async (id: string): Promise<boolean> =>
  (await core.call('GET', `/operator/connectors/${id}`)).status === 200

describe('the form of a package', () => {
  test('stores nothing without a valid form token, a file upload, or the permission to install', async () => {
    const { packed } = await packaged({ id: 'stranger' })
    const fields = { keep: 'yes' }
    expect((await send(visitor, { fields, package: packed, token: 'x' })).status).toBe(403)
    const plain = await visitor.post(PATH, { keep: 'yes' })
    expect(plain.status).toBe(415)
    const reader = await person(core.db, 'looks@example.com', ['Admin'])
    const readOnly = await signedIn(core, reader.readOnlyToken)
    expect((await send(readOnly, { fields, package: packed })).status).toBe(403)
    const user = await signedIn(core, (await person(core.db, 'user@example.com')).token)
    expect((await send(user, { fields, package: packed })).status).toBe(403)
    expect(await isKept('stranger')).toBe(false)
  })

  test('is limited in bytes and in parts', async () => {
    const large = await send(visitor, { package: Buffer.alloc(17 * 1024 * 1024) })
    expect(large.status).toBe(413)
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, 'x']))
    expect((await send(visitor, { fields, package: made.packed })).status).toBe(400)
  })
})
