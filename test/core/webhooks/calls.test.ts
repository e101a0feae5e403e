/** Calls of webhooks: their signatures, the evaluation of replies, and limits. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { timingOf } from '../../../runtime/core/kernel/context/pace.ts'
import { webhookPayload } from '../../../runtime/core/requests/webhook-payload.ts'
import { callWebhook } from '../../../runtime/core/webhooks/call.ts'
import { isGenuine as verified } from '../../fixtures/readme/verify-webhook.ts'
import { app, type CoreHost, domainOf, person, startCore } from '../host.ts'
import { syncedPermission, webhook } from '../store.ts'
import { answering, type Receiver, startReceiver } from './receiver.ts'

const SECRET_HEADER = 'Bearer a-secret-of-the-receiver'

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
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer(answering(200, '{}'))
})

/** The calls that these tests make; webhooks of type SIEM receive the activity log as well. */
const received = () => receiver.received.filter(({ text }) => text.includes('wörld'))

type Made = { id: string; secret: string }

async function make(hook_type: string, url = receiver.url): Promise<Made> {
  const body = { hook_type, name: 'Hook', url, headers: { Authorization: SECRET_HEADER } }
  const made = await core.call('POST', '/operator/webhooks', { body })
  expect(made.status).toBe(201)
  return { id: made.body.webhook.id, secret: made.body.secret }
}

const call = (
  webhookId: string,
  signal = new AbortController().signal,
  pace = core.host.parts.pace,
) =>
  callWebhook(
    core.db,
    { ...core.host.parts, pace, requestId: 'r', cause: { kind: 'job', id: 'r' }, signal },
    { webhookId, payload: { hello: 'wörld' } },
  )

test('a call is a POST of JSON with the headers of the webhook and a signature that verifies', async () => {
  const { id, secret } = await make('PROVISION')
  expect(await call(id)).toEqual({ ok: true, response: {} })
  const [one] = received()
  expect(one?.path).toBe('/hook')
  expect(JSON.parse(one?.text ?? '')).toEqual({ hello: 'wörld' })
  expect(one?.headers).toMatchObject({
    'content-type': 'application/json',
    authorization: SECRET_HEADER,
  })
  expect(verified(one?.headers ?? {}, one?.text ?? '', secret)).toBe(true)
  expect(verified(one?.headers ?? {}, `${one?.text} `, secret)).toBe(false)
  const other = (await make('PROVISION')).secret
  expect(verified(one?.headers ?? {}, one?.text ?? '', other)).toBe(false)
})

test('after a secret was renewed, calls are signed with the new and the previous secret', async () => {
  const { id, secret } = await make('PROVISION')
  const body = {}
  const renewed = await core.call('POST', `/operator/webhooks/${id}/secret`, { body })
  await call(id)
  const { headers = {}, text = '' } = received()[0] ?? {}
  expect(verified(headers, text, secret)).toBe(true)
  expect(verified(headers, text, renewed.body.secret)).toBe(true)
})

describe('a reply', () => {
  test.each([
    ['with `response`', 'PRE_APPROVAL', 200, '{"response":{"a":1}}', { a: 1 }],
    ['with `output`', 'PRE_APPROVAL', 200, '{"output":{"a":1}}', { a: 1 }],
    [
      'with both, of which `output` takes precedence,',
      'PRE_APPROVAL',
      200,
      '{"response":{"a":1},"output":{"b":2}}',
      { b: 2 },
    ],
    ['with JSON without either', 'REQUEST_VALIDATION', 201, '[1]', {}],
    ['without a body from a PROVISION webhook', 'PROVISION', 204, '', {}],
    ['without a body from a DEPROVISION webhook', 'DEPROVISION', 204, '', {}],
    ['with any 2xx status from a SIEM webhook', 'SIEM', 202, 'thanks', {}],
  ])('%s is a success', async (_, type, status, text, response) => {
    receiver.answer(answering(status, text))
    expect(await call((await make(type)).id)).toEqual({ ok: true, response })
  })

  test.each([
    ['that is not JSON', 'PROVISION', 200, '<html>', /200 with something that is not JSON/],
    ['without a required body', 'PRE_APPROVAL', 204, '', /204 without a body/],
    ['with an error status and JSON', 'PROVISION', 500, '{"response":{}}', /answered 500/],
    [
      'with text that cannot be stored',
      'PROVISION',
      200,
      '{"response":{"a":"\\u0000"}}',
      /cannot be stored/,
    ],
    [
      'that is nested too deeply',
      'PROVISION',
      200,
      `${'['.repeat(99)}${']'.repeat(99)}`,
      /cannot be stored/,
    ],
    [
      'of more than a megabyte',
      'PROVISION',
      200,
      JSON.stringify('x'.repeat(2 ** 20)),
      /more than 1048576 bytes/,
    ],
  ])(
    '%s is a failure, with a message that names the webhook',
    async (_, type, status, text, words) => {
      receiver.answer(answering(status, text))
      const answer = await call((await make(type)).id)
      expect(answer).toEqual({ ok: false, problem: expect.stringMatching(words) })
      expect(answer).toEqual({ ok: false, problem: expect.stringContaining('"Hook"') })
    },
  )

  test('that redirects is a failure, and the redirect is not followed', async () => {
    receiver.answer((reply) => reply.writeHead(307, { location: receiver.url }).end())
    expect(await call((await make('PROVISION')).id)).toMatchObject({
      ok: false,
      problem: expect.stringContaining('redirect'),
    })
    expect(received()).toHaveLength(1)
  })

  test('that breaks off, or that is not HTTP, is a failure, and the call is not retried', async () => {
    receiver.answer((reply) => void reply.socket?.destroy())
    const { id } = await make('PROVISION')
    expect(await call(id)).toMatchObject({ ok: false })
    receiver.answer((reply) => void reply.socket?.end('what?'))
    expect(await call(id)).toMatchObject({ ok: false })
    expect(received()).toHaveLength(2)
  })

  test('that does not arrive in time is a failure; the default timeout is fifteen seconds', async () => {
    expect(timingOf().answerMs).toBe(15_000)
    receiver.answer(() => {})
    const { id } = await make('PROVISION')
    const pace = timingOf({ answerMs: 500 })
    expect(await call(id, new AbortController().signal, pace)).toEqual({
      ok: false,
      problem: `the inline webhook "Hook": ${receiver.host} did not answer in time`,
    })
  })

  test('that echoes a secret header is redacted', async () => {
    const echoed = { response: { said: SECRET_HEADER, 'a-secret-of-the-receiver': ['"'] } }
    receiver.answer(answering(200, JSON.stringify(echoed)))
    expect(await call((await make('PROVISION')).id)).toEqual({
      ok: true,
      response: { said: '[secret]', '[secret]': ['"'] },
    })
    expect(core.lines.join()).not.toContain('a-secret-of')
  })
})

test('an abort by the caller is thrown, and is not a failure of the webhook', async () => {
  const gone = new AbortController()
  receiver.answer(() => gone.abort(new Error('gone')))
  const { id } = await make('PROVISION')
  await expect(call(id, gone.signal)).rejects.toThrow('gone')
})

test('a call of a webhook that is off, has no address or was deleted fails with that reason', async () => {
  const { id } = await make('PROVISION')
  await core.call('PATCH', `/operator/webhooks/${id}`, { body: { enabled: false } })
  expect(await call(id)).toMatchObject({ ok: false, problem: expect.stringContaining('--enable') })
  const nameOnly = await webhook(core.db, 'PROVISION')
  expect(await call(nameOnly)).toMatchObject({
    ok: false,
    problem: expect.stringContaining('--to <address>'),
  })
  await core.call('DELETE', `/operator/webhooks/${id}`)
  expect(await call(id)).toMatchObject({ ok: false, problem: expect.stringContaining('deleted') })
  expect(received()).toEqual([])
})

test('the payload has the documented fields', async () => {
  const { id: requesterId } = await person(core.db, 'ada@example.com')
  const appId = await app(core.db, 'Acme')
  const permission = await syncedPermission(core.db, appId, 'Editor')
  const payload = await webhookPayload(core.db, {
    domainId: await domainOf(core.db),
    appId,
    permissionIds: [permission],
    requesterId,
    targetUserId: requesterId,
    accessRequestId: null,
    event: 'PROVISION',
  })
  const ada = {
    id: requesterId,
    email: 'ada@example.com',
    given_name: 'ada',
    family_name: 'Test',
    status: 'ACTIVE',
  }
  expect(payload).toEqual({
    application: {
      app_id: 'acme',
      instance_id: 'custom_app_import',
      user_friendly_label: 'Acme',
    },
    permissions: [{ label: 'Editor', value: permission, type: 'PERMISSION', source: 'SYNCED' }],
    custom_fields: null,
    event: 'PROVISION',
    access_request_id: null,
    requester: ada,
    target: ada,
  })
})
