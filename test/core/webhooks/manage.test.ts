/** Creating, changing and deleting webhooks through /operator. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inlineWebhooks } from '../../../runtime/database/schema/app_store.ts'
import { app, type CoreHost, person, startCore } from '../host.ts'
import { lastEvents, NOBODY_ID, webhook } from '../store.ts'
import { answering, type Receiver, startReceiver } from './receiver.ts'

const BASE = '/operator/webhooks'
const SECRET_HEADER = 'Bearer a-secret-of-the-receiver'
const headers = { Authorization: SECRET_HEADER }

let receiver: Receiver
let core: CoreHost

beforeAll(async () => {
  receiver = await startReceiver()
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: `webhooks=${receiver.host}` })
})
afterAll(async () => {
  await core.stop()
  await receiver.close()
})

const create = (more: object = {}) =>
  core.call('POST', BASE, {
    body: { hook_type: 'PROVISION', name: 'Hook', url: receiver.url, ...more },
  })
const change = (id: string, body: object) => core.call('PATCH', `${BASE}/${id}`, { body })

test('a new webhook is listed at once; its secret is shown once, the values of its headers never', async () => {
  const made = await create({ headers, description: 'Gives access' })
  expect(made.status).toBe(201)
  const { webhook: shown, secret } = made.body
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(shown).toEqual({
    id: expect.any(String),
    hook_type: 'PROVISION',
    name: 'Hook',
    description: 'Gives access',
    url: receiver.url,
    headers: ['authorization'],
    enabled: true,
    feed: null,
  })
  const listed = await core.call('GET', '/inline_webhooks')
  expect(listed.body).toContainEqual({
    id: shown.id,
    hook_type: 'PROVISION',
    name: 'Hook',
    description: 'Gives access',
  })
  const answers = [await core.call('GET', BASE), await core.call('GET', `${BASE}/${shown.id}`)]
  const { rows } = await core.db.execute(
    sql`select row_to_json(w)::text as json from inline_webhooks w`,
  )
  const log = await core.call('GET', '/activity_logs?limit=100')
  const everywhere = JSON.stringify([answers, rows, log, core.lines])
  for (const text of [secret, secret.slice(6), SECRET_HEADER, 'a-secret-of'])
    expect(everywhere).not.toContain(text)
})

describe('refuses', () => {
  test.each([
    ['an address that is not a URL', { url: 'receiver' }, /url: .*absolute URL/],
    ['another scheme', { url: 'ftp://receiver.example/' }, /only https/],
    ['plain http', { url: 'http://receiver.example/' }, /webhooks=receiver.example:80/],
    ['a private address', { url: 'https://10.0.0.7/' }, /webhooks=10.0.0.7:443/],
    ['a loopback name', { url: 'https://localhost/' }, /webhooks=localhost:443/],
    [
      'the metadata address of a cloud',
      { url: 'http://169.254.169.254/latest' },
      /169.254.169.254:80/,
    ],
    ['a user in the address', { url: 'https://ada:pass@receiver.example/' }, /user info/],
    ['a header that the connection sets', { headers: { Host: 'a' } }, /host cannot be set/],
    ['a header that Keyway sets', { headers: { 'Webhook-Id': 'a' } }, /set by Keyway itself/],
    ['an invalid header name', { headers: { 'a b': 'a' } }, /not a header name/],
    ['an unknown type', { hook_type: 'PHONE' }, /hook_type/],
    ['no name', { name: '' }, /name/],
    ['a name that is too long', { name: 'x'.repeat(256) }, /name/],
  ])('%s', async (_, body, words) => {
    const refused = await create(body)
    expect([refused.status, refused.body.error.message]).toEqual([
      422,
      expect.stringMatching(words),
    ])
  })

  test('a value that would inject a header, without revealing it', async () => {
    const refused = await create({ headers: { Authorization: `${SECRET_HEADER}\r\nx: y` } })
    expect(refused.body.error.message).toMatch(/headers.*cannot be sent/)
    expect(JSON.stringify([refused.body, core.lines])).not.toContain('a-secret-of')
  })

  test('a user without permission to operate', async () => {
    const owner = await person(core.db, 'owner@example.com', ['App Admin'])
    const reader = await person(core.db, 'reader@example.com', ['Admin'])
    expect((await core.call('GET', BASE, { token: owner.token })).status).toBe(403)
    const body = { hook_type: 'SIEM', name: 'Hook', url: receiver.url }
    const token = reader.readOnlyToken
    expect((await core.call('POST', BASE, { token, body })).status).toBe(403)
  })
})

describe('a change', () => {
  test('reports what it changed, and keeps everything else', async () => {
    const { webhook: made } = (await create({ headers })).body
    const body = { name: 'Other', enabled: false, headers: { 'X-More': 'more' } }
    const changed = await change(made.id, body)
    expect(changed.body).toEqual({
      changed: true,
      difference: ['its name is "Other"', 'the header x-more has the new value', 'it is off'],
      webhook: { ...made, name: 'Other', enabled: false, headers: ['authorization', 'x-more'] },
      secret: null,
    })
    expect(await lastEvents(core, 1)).toEqual([
      ['INLINE_WEBHOOK_UPDATED', { difference: changed.body.difference }],
    ])
    const again = await change(made.id, { name: 'Other' })
    expect(again.body).toMatchObject({ changed: false, difference: [] })
  })

  test('of the host is refused unless the headers are sent again or removed', async () => {
    const { webhook: made } = (await create({ headers })).body
    const url = 'https://elsewhere.example/'
    const refused = await change(made.id, { url })
    expect([refused.status, refused.body.error.message]).toEqual([
      422,
      expect.stringContaining('authorization'),
    ])
    expect((await change(made.id, { url, headers: { authorization: null } })).status).toBe(200)
    const sample = await core.call('GET', `${BASE}/${made.id}`)
    expect(sample.body).toMatchObject({ url, headers: [] })
  })

  test('can switch off a webhook whose address is no longer allowed', async () => {
    const { webhook: made } = (await create()).body
    const url = 'http://10.0.0.9:8080/'
    await core.db.update(inlineWebhooks).set({ url }).where(eq(inlineWebhooks.id, made.id))
    expect((await change(made.id, { enabled: false })).body).toMatchObject({ changed: true })
    expect((await change(made.id, { url })).status).toBe(422)
  })

  test('that adds an address to a webhook without one creates its secret', async () => {
    const id = await webhook(core.db, 'PRE_APPROVAL')
    const changed = await change(id, { url: receiver.url })
    expect(changed.body).toMatchObject({ changed: true, secret: expect.stringMatching(/^whsec_/) })
  })

  test('as a dry run changes nothing', async () => {
    const before = (await core.call('GET', BASE)).body
    const { id } = before.items[0]
    const dry = { dry_run: true }
    const answers = [
      await create(dry),
      await change(id, { name: 'Dry', ...dry }),
      await core.call('POST', `${BASE}/${id}/secret`, { body: dry }),
      await core.call('DELETE', `${BASE}/${id}?dry_run=true`),
    ]
    for (const { body } of answers)
      expect(body).toMatchObject({ changed: false, secret: null, difference: [expect.any(String)] })
    expect((await core.call('GET', BASE)).body).toEqual(before)
  })
})

describe('deleting', () => {
  test('is refused while settings, permissions or rules refer to the webhook, and names them', async () => {
    const { webhook: hook } = (await create()).body
    const appId = await app(core.db, 'Acme')
    const settings = { provisioning: { provisioning_webhook: { id: hook.id } } }
    await core.call('POST', '/appstore/apps', { body: { app_id: appId, ...settings } })
    const refused = await core.call('DELETE', `${BASE}/${hook.id}`)
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining(`the settings of the app "Acme" (${appId})`),
    ])
    const none = { provisioning: { provisioning_webhook: null } }
    await core.call('PATCH', `/appstore/apps/${appId}/settings`, { body: none })
    const request_config = { request_fulfillment_config: { provisioning_webhook: { id: hook.id } } }
    const permission = { app_id: appId, label: 'Editor', request_config }
    const { body: kept } = await core.call('POST', '/appstore/requestable_permissions', {
      body: permission,
    })
    expect((await core.call('DELETE', `${BASE}/${hook.id}`)).body.error.message).toContain(
      `the permission "Editor" (${kept.id})`,
    )
    await core.call('DELETE', `/appstore/requestable_permissions/${kept.id}`)
    const gone = await core.call('DELETE', `${BASE}/${hook.id}`)
    expect(gone.body).toMatchObject({ changed: true, webhook: null })
    expect((await core.call('GET', `${BASE}/${hook.id}`)).status).toBe(404)
    const { webhook: asked } = (await create({ hook_type: 'PRE_APPROVAL' })).body
    const rule = { justification: 'as agreed', preapproval_webhooks: [{ id: asked.id }] }
    const made = await core.call('POST', '/appstore/pre_approval_rules', {
      body: { app_id: appId, ...rule },
    })
    const held = await core.call('DELETE', `${BASE}/${asked.id}`)
    expect([held.status, held.body.error.message]).toEqual([
      409,
      expect.stringContaining(`a pre-approval rule of the app "Acme" (${made.body.id})`),
    ])
    await core.call('DELETE', `/appstore/pre_approval_rules/${made.body.id}`)
    expect((await core.call('DELETE', `${BASE}/${asked.id}`)).status).toBe(200)
  })

  test.each([NOBODY_ID, 'nothing', '%00'])('returns 404 for an unknown id: %s', async (id) => {
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/test'],
    ] as const)
      expect((await core.call(method, `${BASE}/${id}${path}`)).status).toBe(404)
  })
})

describe('a test', () => {
  test('sends a sample and returns the parsed response', async () => {
    receiver.answer(answering(200, '{"output":{"approved":true}}'))
    const { webhook: hook } = (await create({ hook_type: 'PRE_APPROVAL' })).body
    const tried = await core.call('POST', `${BASE}/${hook.id}/test`)
    expect(tried.body).toMatchObject({
      ok: true,
      status: 200,
      ms: expect.any(Number),
      problem: null,
      response: { approved: true },
      sent: { event: 'PRE_APPROVAL', application: expect.any(Object), test: true },
    })
    expect(JSON.parse(receiver.received.at(-1)?.text ?? '')).toEqual(tried.body.sent)
    expect(await lastEvents(core, 1)).toEqual([['INLINE_WEBHOOK_TESTED', { status: 200 }]])
  })

  test('reports the problem', async () => {
    receiver.answer(answering(404, 'nothing here'))
    const { webhook: hook } = (await create({ hook_type: 'SIEM' })).body
    const tried = await core.call('POST', `${BASE}/${hook.id}/test`)
    expect(tried.body).toMatchObject({ ok: false, status: 404, problem: 'it answered 404' })
  })
})
