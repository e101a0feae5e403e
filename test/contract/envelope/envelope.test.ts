import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { CAPABILITIES } from '../../../runtime/contract/capabilities/capabilities.ts'
import { Manifest } from '../../../runtime/contract/connector/manifest.ts'
import { requestSchema } from '../../../runtime/contract/connector/payload.ts'
import { type Fields, flatSchema } from '../../../runtime/contract/connector/settings.ts'
import {
  errorBody,
  isErrorCode,
  parseCall,
  successBody,
} from '../../../runtime/contract/envelope/envelope.ts'
import { MAX_PAGE_SIZE } from '../../../runtime/contract/envelope/envelope-schemas.ts'
import { ERROR_CODES } from '../../../runtime/contract/errors/error-codes.ts'
import { ERRORS, RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { MAX_DEPTH } from '../../../runtime/contract/schema/depth.ts'

type Options = {
  plain?: boolean
  capability?: keyof typeof CAPABILITIES
  settings?: Fields
  credentials?: unknown[]
}

function expected({ plain, capability = 'get_account', settings = {}, credentials }: Options) {
  const manifest = v.parse(Manifest, {
    id: 'acme',
    version: '1.0.0',
    runtime: '^1.0.0',
    capabilities: {},
    settings,
    ...(credentials ? { credentials } : { authentication_schema: { kind: 'token' } }),
  })
  return {
    plain: plain ?? false,
    request: requestSchema(capability),
    settings: flatSchema(manifest.settings),
    manifest,
  }
}

const parse = (body: unknown, options: Options = {}) =>
  parseCall(typeof body === 'string' ? body : JSON.stringify(body), expected(options))

const refusal = (body: unknown, options: Options = {}): RuntimeError => {
  try {
    parse(body, options)
  } catch (error) {
    if (error instanceof RuntimeError) return error
    throw error
  }
  throw new Error('the call was accepted')
}

const auth = { token: { token: 'secret-token' } }
const good = { request: { account_id: 'a' }, auth }
const serviceAccount = { impersonation_email: 'a', tenant_id: 't', scopes: [] }

describe('a call', () => {
  test('is parsed into its final form', () => {
    expect(parse({ ...good, page: { token: 't', size: 5 }, include_raw_data: true })).toEqual({
      request: { account_id: 'a' },
      settings: {},
      auth,
      credentials: null,
      page: { token: 't', size: 5 },
      includeRawData: true,
    })
  })

  test('may have null for everything that is absent', () => {
    const nulls = { page: null, settings: null, include_raw_data: null, credentials: null }
    const request = { account_id: 'a', custom_attributes: null }
    const sent = { request, auth: { ...auth, id: null, basic: null, oauth: null }, ...nulls }
    expect(parse(sent)).toEqual(parse(good))
  })

  test('may have null inside its page', () => {
    expect(parse({ ...good, page: { token: null, size: null } }).page).toEqual({
      token: null,
      size: null,
    })
  })

  test('may have unknown members, which are dropped', () => {
    const call = parse({
      ...good,
      unknown: 1,
      request: { account_id: 'a', unknown: 1 },
      page: { unknown: 1 },
      auth: { ...auth, unknown: 1 },
    })
    expect(call).toEqual(parse(good))
  })

  test('passes on only the declared kind of credential', () => {
    const both = { ...auth, basic: { username: 'u', password: 'p' } }
    expect(parse({ ...good, auth: both }).auth).toEqual(auth)
  })

  test('of a plain capability needs no auth, and drops one', () => {
    const options = { plain: true, capability: 'get_authorization_url' } as const
    const request = { client_id: 'c', scopes: [], redirect_uri: 'r', state: 's' }
    expect(parse({ request, auth: 7 }, options)).toMatchObject({ auth: null, credentials: null })
  })

  test.each(['__proto__', 'constructor', 'prototype'])(
    'with an unknown member %s equals one without',
    (name) => {
      const pollutingMember = `"${name}":{"polluted":1,"auth":{"token":{"token":"x"}}}`
      const call = parse(
        `{${pollutingMember},"request":{${pollutingMember},"account_id":"a"},"auth":{${pollutingMember},"token":{${pollutingMember},"token":"secret-token"}},"page":{${pollutingMember}},"settings":{${pollutingMember}}}`,
      )
      expect(call).toEqual(parse(good))
      expect(({} as { polluted?: 1 }).polluted).toBeUndefined()
      expect(Object.getPrototypeOf(call.request)).toBe(Object.prototype)
    },
  )

  test.each([
    ['at the top', '{"__proto__":{"a":1}}'],
    ['inside', '{"a":{"b":[{"__proto__":{"a":1}}]}}'],
  ])('with __proto__ in extra_data, %s, is refused', (_where, extra) => {
    const body = `{"request":{"entitlements":[],"extra_data":${extra}},"auth":{"token":{"token":"x"}}}`
    const { code, message } = refusal(body, { capability: 'create_account' })
    expect([code, message]).toEqual([
      'request_invalid',
      'request.extra_data: must not hold a member named __proto__ (found Object)',
    ])
  })
})

describe('a body', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

  test.each(['', '{', 'nope', '{"a":1,}', "{'a':1}", '\u0000', '{"request":{}} x'])(
    'that is not JSON is refused: %j',
    (text) => {
      expect(refusal(text).code).toBe('body_not_json')
    },
  )

  test.each(['null', '[]', '7', '"text"', 'true', '{}', '{"request":null}', '{"request":[]}'])(
    'of the wrong shape is refused: %s',
    (text) => {
      expect(refusal(text)).toMatchObject({ code: 'request_invalid' })
      expect(refusal(text).message).toMatch(/\S/)
    },
  )

  test.each([
    [MAX_DEPTH, 'request_invalid'],
    [MAX_DEPTH + 1, 'body_too_deep'],
    [10_000, 'body_too_deep'],
    [500_000, 'body_too_deep'],
  ])('of %i levels is refused: %s', (levels, code) => {
    expect(refusal(nested(levels)).code).toBe(code)
  })

  test('of the maximum depth is accepted', () => {
    const levels = MAX_DEPTH - 2
    const extra = `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
    const body = `{"request":{"entitlements":[],"extra_data":${extra}},"auth":{"token":{"token":"x"}}}`
    expect(parse(body, { capability: 'create_account' }).request).toMatchObject({
      entitlements: [],
    })
    const deeper = body.replace(extra, `{"a":${extra}}`)
    expect(refusal(deeper, { capability: 'create_account' }).code).toBe('body_too_deep')
  })
})

describe('scalars are strict', () => {
  const cases: [string, unknown, string][] = [
    ['request.account_id', { ...good, request: { account_id: 1 } }, 'string'],
    [
      'include_raw_data',
      { ...good, include_raw_data: 'true' },
      'write true or false (found "true")',
    ],
    ['include_raw_data', { ...good, include_raw_data: 1 }, 'write true or false (found 1)'],
    ['page.token', { ...good, page: { token: 5 } }, 'string'],
    ['page.size', { ...good, page: { size: '5' } }, 'number'],
    ['page.size', { ...good, page: { size: 1.5 } }, 'integer'],
    ['page', { ...good, page: 'x' }, 'write an object (found "x")'],
    ['settings', { ...good, settings: [] }, 'object'],
    ['request', { ...good, request: [] }, 'object'],
    ['page', { ...good, page: [] }, 'Object'],
    ['page', { ...good, page: [{ size: 5 }] }, 'Object'],
    ['auth', { ...good, auth: [] }, 'Object'],
    ['auth.token', { ...good, auth: { token: [] } }, ''],
    ['credentials[0]', { request: good.request, credentials: [[]] }, 'Object'],
    ['auth.token.token', { request: good.request, auth: { token: { token: 1 } } }, 'string'],
    [
      'auth.service_account.key',
      { ...good, auth: { ...auth, service_account: { ...serviceAccount, key: [] } } },
      'Object',
    ],
    ['credentials', { request: good.request, credentials: {} }, 'expected an array'],
  ]
  test.each(cases)('%s', (path, body, wanted) => {
    const { code, message } = refusal(body)
    expect(code).toBe('request_invalid')
    expect(message).toContain(`${path}: `)
    expect(message).toContain(wanted)
  })

  test('and all findings are reported at once', () => {
    const { message } = refusal({ request: {}, auth: 1, page: { size: 'x' } })
    for (const path of ['request.account_id', 'auth', 'page.size']) {
      expect(message).toContain(`${path}: `)
    }
  })

  test('a finding repeats no long value', () => {
    const { message } = refusal({ ...good, include_raw_data: 'x'.repeat(100_000) })
    expect(message.length).toBeLessThan(1000)
  })

  test.each([
    ['auth', { ...good, auth: { token: { token: 44_556_677 } } }, {}],
    ['credentials', { ...good, auth: null, credentials: [{ token: { token: 44_556_677 } }] }, {}],
    [
      'a request',
      { request: { client_id: 'c', client_secret: 44_556_677 } },
      { plain: true, capability: 'refresh_access_token' as const },
    ],
    [
      'settings',
      { ...good, settings: { key: 44_556_677 } },
      { settings: { key: { type: 'string' as const, secret: true } } },
    ],
    [
      'settings, by the rule that it breaks',
      { ...good, settings: { key: '44556677' } },
      { settings: { key: { type: 'string' as const, secret: true, pattern: 'x+' } } },
    ],
  ])('a finding repeats no secret of %s', (_where, body, options) => {
    expect(refusal(body, options).message).not.toContain('44556677')
  })
})

describe('the page size', () => {
  test.each([1, MAX_PAGE_SIZE])('%i is accepted', (size) => {
    expect(parse({ ...good, page: { size } }).page.size).toBe(size)
  })
  test.each([0, -1, MAX_PAGE_SIZE + 1, 1e300])('%d is refused by its range', (size) => {
    expect(refusal({ ...good, page: { size } })).toMatchObject({
      code: 'page_size_invalid',
      message: `page.size: found ${size}; write 1 to ${MAX_PAGE_SIZE}`,
    })
  })
})

describe('checks run in the order of the specification', () => {
  const wrongAuth = { basic: { username: 'u', password: 'p' } }
  const options = { settings: { zone: { type: 'integer', required: true } } } as const
  test.each([
    ['body first', '{', 'body_not_json'],
    ['request before credentials', { request: {}, settings: { zone: 'x' } }, 'request_invalid'],
    [
      'credentials before settings',
      { ...good, auth: wrongAuth, settings: { zone: 'x' } },
      'credentials_invalid',
    ],
    ['settings last', { ...good, settings: { zone: 'x' } }, 'settings_invalid'],
  ])('%s', (_name, body, code) => {
    expect(refusal(body, options).code).toBe(code)
  })
})

describe('a single credential', () => {
  const { request } = good
  const cases: [string, object, string][] = [
    ['missing', { request }, 'auth: missing; send auth.token'],
    ['null', { request, auth: null, credentials: null }, 'auth: missing; send auth.token'],
    [
      'sent both ways',
      { request, auth, credentials: [auth] },
      'auth and credentials were both sent; send one of them',
    ],
    [
      'sent as several',
      { request, credentials: [auth] },
      'credentials: this connector takes a single credential; send auth.token',
    ],
    [
      'of another kind',
      { request, auth: { oauth: { access_token: 'x' } } },
      'auth.token: missing; this connector authenticates with token',
    ],
    [
      'empty',
      { request, auth: {} },
      'auth.token: missing; this connector authenticates with token',
    ],
  ]
  test.each(cases)('%s is refused', (_name, body, message) => {
    const error = refusal(body)
    expect([error.code, error.message]).toEqual(['credentials_invalid', message])
  })
})

describe('several credentials', () => {
  const { request } = good
  const options = {
    credentials: [
      { id: 'api', kind: 'token' },
      { id: 'scim', kind: 'basic', optional: true },
    ],
  }
  const api = { id: 'api', ...auth }
  const scim = { id: 'scim', basic: { username: 'u', password: 'p' } }

  test('are a map by id', () => {
    expect(parse({ request, credentials: [scim, api] }, options).credentials).toEqual({ api, scim })
  })
  test('may lack the optional ones', () => {
    expect(parse({ request, credentials: [api] }, options).credentials).toEqual({ api })
  })

  const cases: [string, object, string][] = [
    ['missing', { request }, 'credentials: missing; send at least one'],
    ['empty', { request, credentials: [] }, 'credentials: missing; send at least one'],
    [
      'sent as one',
      { request, auth },
      'auth: this connector takes several credentials; send credentials, each with its id',
    ],
    [
      'sent both ways',
      { request, auth, credentials: [api] },
      'auth and credentials were both sent; send one of them',
    ],
    ['without an id', { request, credentials: [auth] }, 'credentials[0].id: missing'],
    [
      'undeclared',
      { request, credentials: [api, { ...auth, id: 'other' }] },
      'credentials[1].id: "other" is not declared; declared: api, scim',
    ],
    [
      'with the id “constructor”',
      { request, credentials: [{ ...auth, id: 'constructor' }] },
      'credentials[0].id: "constructor" is not declared; declared: api, scim',
    ],
    [
      'with a duplicate id',
      { request, credentials: [api, api] },
      'credentials[1].id: api was sent twice',
    ],
    [
      'of another kind',
      { request, credentials: [{ ...scim, id: 'api' }] },
      'credentials[0].token: missing; this connector authenticates with token',
    ],
    ['incomplete', { request, credentials: [scim] }, 'credentials: missing api (token)'],
  ]
  test.each(cases)('%s are refused', (_name, body, message) => {
    const error = refusal(body, options)
    expect([error.code, error.message]).toEqual(['credentials_invalid', message])
  })
})

describe('settings', () => {
  const options = {
    settings: {
      subdomain: { type: 'string', pattern: '[a-z]+', required: true, title: 'Subdomain' },
      zone: { type: 'integer', default: 3 },
      strict: { type: 'boolean' },
    },
  } as const

  test('get their defaults; undeclared ones are dropped', () => {
    const sent = { ...good, settings: { subdomain: 'globex', other: 1, zone: null } }
    expect(parse(sent, options).settings).toEqual({
      subdomain: 'globex',
      zone: 3,
      strict: undefined,
    })
  })

  test.each([
    ['missing whole', undefined, 'settings.subdomain: missing (Subdomain)'],
    ['missing', {}, 'settings.subdomain: missing (Subdomain)'],
    ['null', { subdomain: null }, 'settings.subdomain: write a string (found null) (Subdomain)'],
    [
      'not matching',
      { subdomain: 'A' },
      'settings.subdomain: does not match [a-z]+ (found "A") (Subdomain)',
    ],
    [
      'of another type, and without a title',
      { subdomain: 'a', zone: '3' },
      'settings.zone: write a number (found "3")',
    ],
  ])('%s are refused, by path and title', (_name, settings, message) => {
    const error = refusal({ ...good, settings }, options)
    expect([error.code, error.message]).toEqual(['settings_invalid', message])
  })
})

describe('the size limit of all secrets', () => {
  const MAX_BYTES = 64 * 1024
  const token = (text: string) => ({ ...good, auth: { token: { token: text } } })
  const secret = { type: 'string', secret: true } as const

  test('refuses with the name of the field, and without the secret', () => {
    const { code, message } = refusal(token('x'.repeat(MAX_BYTES + 1)))
    expect(code).toBe('credentials_invalid')
    expect(message).toMatch(/^auth\.token\.token: too large: .* 65536 characters, and have 65537/)
    expect(message).not.toContain('xx')
    expect(parse(token('x'.repeat(MAX_BYTES))).auth?.token?.token).toHaveLength(MAX_BYTES)
  })

  test('counts escaped characters eight times', () => {
    expect(parse(token('"'.repeat(MAX_BYTES / 8))).auth).not.toBeNull()
    expect(refusal(token(`"${'-"'.repeat(MAX_BYTES / 8)}`)).message).toContain('auth.token.token')
  })

  test('applies to their sum; the largest is named', () => {
    const settings: Fields = { one: secret, two: secret, open: { type: 'string' } }
    const of = (one: number, two: number, length: number) => ({
      ...token('x'.repeat(length)),
      settings: { one: 'x'.repeat(one), two: 'x'.repeat(two), open: '"'.repeat(8000) },
    })
    expect(parse(of(8000, 8000, 40_000), { settings }).settings['one']).toHaveLength(8000)
    expect(refusal(of(8000, 8000, 50_000), { settings }).message).toContain('auth.token.token')
    const escaped = { ...token('x'), settings: { one: '"'.repeat(8000), two: '"'.repeat(200) } }
    const { code, message } = refusal(escaped, { settings })
    expect([code, message]).toEqual(['settings_invalid', expect.stringContaining('settings.one: ')])
  })

  test('names a secret by the id of its credential', () => {
    const credentials = [{ id: 'first', kind: 'token' }]
    const body = {
      request: good.request,
      credentials: [{ id: 'first', token: { token: 'x'.repeat(MAX_BYTES + 1) } }],
    }
    expect(refusal(body, { credentials }).message).toContain('credentials.first.token.token: ')
  })

  test('allows the key of a service account together with a large assertion', () => {
    const pem = `-----BEGIN PRIVATE KEY-----\n${`${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC+/'.repeat(2).slice(0, 64)}\n`.repeat(50)}-----END PRIVATE KEY-----\n`
    const saml = '<saml:Attribute Name="urn:oid:1.2.3">value of it</saml:Attribute>'.repeat(300)
    expect(parse(token(pem + saml)).auth?.token?.token).toHaveLength(pem.length + saml.length)
  })
})

describe('answers', () => {
  test('a success contains response, raw data and page', () => {
    const body = successBody(Buffer.from('[1]'), Buffer.from('{"a":2}'), { token: 't', size: 3 })
    expect(JSON.parse(`${body}`)).toEqual({
      response: [1],
      raw_data: { a: 2 },
      page: { token: 't', size: 3 },
    })
  })

  test('a success has null for missing parts', () => {
    expect(`${successBody(Buffer.from('{}'), Buffer.alloc(0), null)}`).toBe(
      '{"response":{},"raw_data":null,"page":null}',
    )
  })

  test('an error has every member, with defaults from the table of errors', () => {
    expect(errorBody(new RuntimeError('worker_died', 'gone'), 'acme')).toEqual({
      is_error: true,
      error: {
        message: 'gone',
        error_code: 'service_error',
        app_id: 'acme',
        status_code: null,
        app_error_code: null,
        raised_by: 'Keyway.Sandbox',
        raised_in: null,
      },
      raw_data: null,
      page: null,
    })
  })

  test('an error contains its details and the page', () => {
    const page = { token: 't', size: null }
    const error = new RuntimeError('connector_error', 'no', {
      wire: 'rate_limit',
      statusCode: 429,
      appErrorCode: 'slow',
      raisedBy: 'HTTPStatusError',
      raisedIn: 'acme:list_accounts',
      page,
    })
    expect(errorBody(error, 'acme')).toMatchObject({
      error: {
        error_code: 'rate_limit',
        status_code: 429,
        app_error_code: 'slow',
        raised_by: 'HTTPStatusError',
        raised_in: 'acme:list_accounts',
      },
      page,
    })
  })

  test('an error truncates an invalid id', () => {
    expect(errorBody(new RuntimeError('connector_unknown', ''), 'x'.repeat(999)).error.app_id).toBe(
      'x'.repeat(64),
    )
  })

  test.each(Object.keys(ERRORS) as (keyof typeof ERRORS)[])(
    '%s becomes one of the 25 codes',
    (code) => {
      const { error_code } = errorBody(new RuntimeError(code, 'x'), 'acme').error
      expect(ERROR_CODES).toContain(error_code)
      expect(isErrorCode(error_code)).toBe(true)
    },
  )

  test.each(['conflict', '', 'constructor', 'NOT_FOUND'])('%j is none of the 25 codes', (text) => {
    expect(isErrorCode(text)).toBe(false)
  })
})

test('a large body gets only its first finding, which bounds the memory', () => {
  const account_ids = Array.from({ length: 400_000 }, () => 1)
  const { message } = refusal(
    { request: { account_ids }, auth },
    { capability: 'get_last_activity' },
  )
  expect(message).toBe('request.account_ids[0]: write a string (found 1)')
})

describe('a credential sent flat', () => {
  test('is refused with the expected form, without its value', () => {
    const { message } = refusal({ request: { account_id: 'a' }, auth: { token: 'my-secret' } })
    expect(message).toContain('auth.token: expected an object')
    expect(message).toContain('write "token": { "token": … }')
    expect(message).not.toContain('my-secret')
  })

  test('is refused with the expected form among several credentials too', () => {
    const credentials = [{ id: 'api', kind: 'basic' }]
    const sent = { request: { account_id: 'a' }, credentials: [{ id: 'api', basic: 'u:p' }] }
    expect(refusal(sent, { credentials }).message).toContain(
      'write "basic": { "username": …, "password": … }',
    )
  })
})
