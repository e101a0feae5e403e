import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../core/host.ts'
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

/** `levels` lists in one another. */
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
  ['POST', '/connectors/acme/disable', '{"reason":', 422],
  ['POST', '/connectors/acme/disable', 'null', 422],
  ['POST', '/connectors/acme/disable', '{"expected_generation":1e9}', 409],
  ['POST', '/connectors/acme/revoke', '{"wants":["limit"],"reason":"\\ud800"}', 422],
  ['POST', '/rollback', '{"to":9007199254740991}', 404],
  ['POST', '/rollback', '{"to":-1}', 422],
  ['PUT', '/connectors/acme/probe', `{"settings":{"a":${deep(20_000)}}}`, 422],
  ['POST', '/connectors/acme/disable', `"${'x'.repeat(1024 * 1024)}"`, 413],
])('%s %s with %j is answered in words', async (method, path, raw, status) => {
  const reply = await core.call(method, `/operator${path}`, raw === undefined ? {} : { raw })
  expect(reply.status).toBe(status)
  if (status >= 400) expect(reply.body.error.message).toEqual(expect.any(String))
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
])('%s %s is not served, and what is, is said', async (method, path) => {
  const { status, body, headers } = await core.call(method, `/operator${path}`)
  expect([status, body.error.error_code]).toEqual([405, 'unsupported_operation'])
  expect(headers.get('allow')).toMatch(/^[A-Z, ]+$/)
})
