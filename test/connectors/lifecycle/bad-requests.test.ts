import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../../core/host.ts'
import { operator } from './operator.ts'
import { packaged } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>

beforeAll(async () => {
  core = await startCore()
  op = operator(core)
  await op.install(await packaged())
})
afterAll(() => core.stop())

/** `levels` nested lists. */
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

test.each<[string, string, string | undefined, number]>([
  ['GET', '/generations/abc', undefined, 404],
  ['GET', '/generations/-1', undefined, 404],
  ['GET', '/generations/0x1', undefined, 404],
  ['GET', '/generations/1e0', undefined, 404],
  ['GET', `/generations/${'9'.repeat(400)}`, undefined, 404],
  ['GET', '/generations/1/difference?since=9007199254740991', undefined, 404],
  ['GET', '/generations?before=9007199254740991', undefined, 422],
  ['GET', '/generations?before=99999999999999999999', undefined, 422],
  ['GET', `/connectors/${'x'.repeat(3000)}`, undefined, 404],
  ['GET', '/connectors/__proto__', undefined, 404],
  ['GET', '/connectors/acme%00', undefined, 404],
  ['DELETE', '/connectors/__proto__', undefined, 404],
  ['DELETE', '/connectors/acme?reason=a%00b', undefined, 422],
  ['DELETE', '/connectors/acme%00/probe', undefined, 404],
  ['POST', '/connectors/constructor/disable', '{}', 404],
  ['POST', '/connectors/acme/disable', '{"reason":"a\\u0000b"}', 422],
  ['POST', '/connectors/acme/disable', '{"reason":"\\ud800"}', 422],
  ['POST', '/connectors/acme/disable', '"\\ud800"', 422],
  ['POST', '/connectors/acme/disable', '{"reason":', 422],
  ['POST', '/connectors/acme/disable', 'null', 422],
  ['POST', '/connectors/acme/disable', '{"expected_generation":1e9}', 409],
  ['POST', '/connectors/acme/revoke', '{"wants":["limit"],"reason":"\\ud800"}', 422],
  ['POST', '/rollback', '{"to":9007199254740991}', 404],
  ['POST', '/rollback', '{"to":-1}', 422],
  ['PUT', '/connectors/acme/probe', `{"settings":{"a":${deep(20_000)}}}`, 422],
  ['POST', '/connectors/acme/disable', `"${'x'.repeat(1024 * 1024)}"`, 413],
])('%s %s with %j is refused with a message', async (method, path, raw, status) => {
  const reply = await core.call(method, `/operator${path}`, raw === undefined ? {} : { raw })
  expect(reply.status).toBe(status)
  expect(reply.body.error.message).toMatch(/^[^\s:]/)
})

test.each([
  ['PATCH', '/packages'],
  ['POST', '/connectors/acme'],
  ['GET', '/connectors/acme/activate'],
  ['POST', '/generations'],
  ['DELETE', '/generations/1'],
  ['GET', '/rollback'],
  ['PUT', '/publishers'],
  ['GET', '/publishers/x'],
  ['POST', '/nodes'],
  ['DELETE', '/calls'],
])('%s %s is refused with 405 and the allowed methods', async (method, path) => {
  const { status, body, headers } = await core.call(method, `/operator${path}`)
  expect([status, body.error.error_code]).toEqual([405, 'unsupported_operation'])
  expect(headers.get('allow')).toMatch(/^[A-Z, ]+$/)
})

const SECRET = 'hunter2-swordfish'

test.each<[string, string, string]>([
  ['PUT', '/connectors/acme/probe', `{"auth":"${SECRET}"}`],
  ['PUT', '/connectors/acme/probe', `{"credentials":["${SECRET}"]}`],
  ['PUT', '/connectors/acme/probe', `{"settings":"${SECRET}"}`],
  ['PUT', '/connectors/acme/probe', `"${SECRET}"`],
  ['PUT', '/connectors/acme/probe', `{"auth":{"token":"${SECRET}}`],
  ['PUT', '/connectors/acme/probe', `{"auth":${SECRET}}`],
  ['PUT', '/connectors/acme/probe', SECRET],
  ['POST', '/webhooks', `{"headers":"${SECRET}"}`],
  ['POST', '/webhooks', `{"headers":{"x-key":["${SECRET}"]}}`],
  ['POST', '/webhooks', `{"name":"n","url":["${SECRET}"],"hook_type":"${SECRET}"}`],
  ['POST', '/publishers', `{"name":["${SECRET}"],"public_key":["${SECRET}"]}`],
  ['POST', '/login-links', `{"email":["${SECRET}"]}`],
  ['POST', '/login-links', `{"email":${SECRET}}`],
])('%s %s repeats no value of %s', async (method, path, raw) => {
  const before = core.lines.length
  const { status, body } = await core.call(method, `/operator${path}`, { raw })
  expect(status).toBe(422)
  expect(JSON.stringify(body)).not.toContain('hunter2')
  expect(core.lines.slice(before).join()).not.toContain('hunter2')
})

test('a number in a header of a webhook is not repeated', async () => {
  const raw = '{"name":"n","url":"https://h.example","hook_type":"SIEM","headers":{"x-key":31337}}'
  const { status, body } = await core.call('POST', '/operator/webhooks', { raw })
  expect([status, body.error.message]).toEqual([
    422,
    expect.stringMatching(/x-key: expected a string$/),
  ])
})

test.each<[string, string, string]>([
  ['POST', '/apps', `{"app_class_id":"scim","auth":"${SECRET}","settings":"${SECRET}"}`],
  ['POST', '/apps', `{"app_class_id":"scim","auth":{"token":["${SECRET}"]}}`],
  ['POST', '/apps', `{"app_class_id":"scim","auth":{"token":${SECRET}}}`],
  [
    'POST',
    '/apps',
    `{"app_class_id":"scim","auth":{"token":"t"},"settings":{"base_url":["${SECRET}"]}}`,
  ],
])('%s %s of the core interface repeats no value of %s', async (method, path, raw) => {
  const before = core.lines.length
  const { status, body } = await core.call(method, path, { raw })
  expect(status).toBeGreaterThanOrEqual(400)
  expect(JSON.stringify(body)).not.toContain('hunter2')
  expect(core.lines.slice(before).join()).not.toContain('hunter2')
})
