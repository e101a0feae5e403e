import * as v from 'valibot'
import { expect, test } from 'vitest'
import { createVersion } from '../../runtime/connectors/registry/version.ts'
import { Manifest } from '../../runtime/contract/connector/manifest.ts'
import { parseCall } from '../../runtime/contract/envelope/envelope.ts'
import { isolateKeyOf } from '../../runtime/invoke/isolate-key.ts'
import { createKnownCalls } from '../../runtime/invoke/known-call.ts'
import { manifestOf } from '../connectors/registry/fixtures/folders.ts'

const versionOf = (digest: string) =>
  createVersion(
    v.parse(
      Manifest,
      manifestOf({
        capabilities: { get_account: {}, create_account: {}, refresh_access_token: {} },
        settings: {
          zone: { type: 'string', pattern: '^[a-z]+$' },
          size: { type: 'integer', default: 3 },
        },
      }),
    ),
    digest,
    'stranger',
    async () => 'the code',
  )

const version = versionOf('d1')
const auth = { token: { token: 'secret' } }
const settings = { zone: 'eu', size: 4 }
const body = { auth, settings, request: { account_id: 'a' } }
const parse = (sent: object) =>
  parseCall(JSON.stringify(sent), {
    plain: false,
    request: version.request('get_account') as never,
    settings: version.settings,
    manifest: version.manifest,
  })

/** Validates a body as a call does. Returns whether it was known. */
function ask(known: ReturnType<typeof createKnownCalls>, sent: object, of = version): boolean {
  const found = known.sent(JSON.parse(JSON.stringify(sent)), of, 'get_account')
  if (found !== null && known.isJudged(found, of)) {
    expect(found.call).toStrictEqual(parse(sent))
    expect(found.tenant).toBe(isolateKeyOf(parse(sent)))
    return true
  }
  const tenant = isolateKeyOf(parse(sent))
  if (found !== null) known.judged(found, of, tenant)
  return false
}

test('a tenant is known from its second call on, whatever the request', () => {
  const known = createKnownCalls()
  expect(ask(known, body)).toBe(false)
  expect(ask(known, body)).toBe(true)
  expect(ask(known, { ...body, request: { account_id: 'b', more: 1 }, later: [] })).toBe(true)
  expect(ask(known, { ...body, page: { token: null, size: 7 }, include_raw_data: true })).toBe(true)
})

test.each<[string, object]>([
  ['other settings', { ...body, settings: { zone: 'us', size: 4 } }],
  ['another token', { ...body, auth: { token: { token: 'other' } } }],
  ['members in another order', { ...body, settings: { size: 4, zone: 'eu' } }],
])('a body with %s is validated again', (_what, sent) => {
  const known = createKnownCalls()
  ask(known, body)
  expect(ask(known, sent)).toBe(false)
})

test('a body is validated again for another version', () => {
  const known = createKnownCalls()
  ask(known, body)
  expect(ask(known, body, versionOf('d2'))).toBe(false)
})

test('a body that validation would change is validated each time', () => {
  const known = createKnownCalls()
  const incomplete = { ...body, settings: { zone: 'eu' } }
  expect([ask(known, incomplete), ask(known, incomplete)]).toEqual([false, false])
  const more = { ...body, auth: { ...auth, basic: null } }
  expect([ask(known, more), ask(known, more)]).toEqual([false, false])
})

test.each<[string, unknown]>([
  ['a list', []],
  ['a page token', { ...body, page: { token: 'x' } }],
  ['a page of size 0', { ...body, page: { size: 0 } }],
  ['a page that is not an object', { ...body, page: [] }],
  ['a flag that is not boolean', { ...body, include_raw_data: 1 }],
  ['a request that is not an object', { ...body, request: [] }],
  ['a request that does not fit its schema', { ...body, request: { account_id: 1 } }],
])('%s is left to the schemas', (_what, sent) => {
  expect(createKnownCalls().sent(sent, version, 'get_account')).toBeNull()
})

test.each(['refresh_access_token', 'list_resources'] as const)(
  '%s is never known',
  (capability) => {
    expect(createKnownCalls().sent(body, version, capability)).toBeNull()
  },
)

test('only a digest of a known call is stored', () => {
  const known = createKnownCalls()
  ask(known, body)
  const found = known.sent(body, version, 'get_account')
  expect(found?.tenant).toMatch(/^[\w-]{43}$/)
})
