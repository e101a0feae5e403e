import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import type { CapabilityName } from '../../../runtime/contract/capabilities/capabilities.ts'
import {
  AUTHENTICATION,
  type AuthCredential,
  CREDENTIAL_KINDS,
} from '../../../runtime/contract/connector/authentication.ts'
import { requestSchema } from '../../../runtime/contract/connector/payload.ts'
import { createMarks } from '../../../runtime/contract/connector/placeholder.ts'
import { sealCall, secretsOf } from '../../../runtime/contract/connector/secrets.ts'
import { type Fields, flatSchema } from '../../../runtime/contract/connector/settings.ts'
import { type AnySchema, metadataOf, shapeOf } from '../../../runtime/contract/schema/shape.ts'

type Given = {
  auth?: object
  credentials?: Record<string, object>
  settings?: Record<string, unknown>
  request?: unknown
}

const secrets = (given: Given, fields: Fields = {}, capability: CapabilityName = 'get_account') =>
  secretsOf(
    {
      auth: (given.auth ?? null) as AuthCredential | null,
      credentials: (given.credentials ?? null) as Record<string, AuthCredential> | null,
      settings: given.settings ?? {},
      request: given.request ?? {},
    },
    { settings: flatSchema(fields), request: requestSchema(capability) },
  ).sort()

const jwt = { headers: { alg: 'HS256' }, claims: { iss: 'me' }, secret: 'S' }
const key = {
  type: 'service_account',
  client_email: 'a@b',
  private_key: 'K1',
  nested: { more: ['K2', { deep: 'K3' }] },
  count: 7,
}
const KINDS: Record<keyof typeof AUTHENTICATION, [object, string[]]> = {
  oauth: [{ access_token: 'A' }, ['A']],
  oauth_client_credentials: [
    { access_token: 'A', client_id: 'c', client_secret: 'S', scopes: ['x'] },
    ['A', 'S'],
  ],
  oauth1: [
    { consumer_key: 'k', consumer_secret: 'S', token_id: 't', token_secret: 'T' },
    ['S', 'T'],
  ],
  basic: [{ username: 'u', password: 'P' }, ['P', 'u:P']],
  token: [{ token: 'T' }, ['T']],
  jwt: [jwt, ['S']],
  service_account: [
    { key, impersonation_email: 'e', tenant_id: 't', scopes: [], service_type: 'aws' },
    ['K1', 'K2', 'K3'],
  ],
  key_pair: [{ key_identifier: 'i', private_key: 'P' }, ['P']],
}

test.each(CREDENTIAL_KINDS)(
  'a credential of the kind %s has its secret fields and no others',
  (kind) => {
    const [value, expected] = KINDS[kind]
    expect(secrets({ auth: { [kind]: value } })).toEqual(expected)
  },
)

test.each(CREDENTIAL_KINDS)(
  'a credential of the kind %s has no nested secrets that the search would miss',
  (kind) => {
    expect(secretsBelow(AUTHENTICATION[kind], 0)).toEqual([])
  },
)

/** Paths of secret members below the first level of a schema. */
function secretsBelow(schema: AnySchema, depth: number): string[] {
  const { entries = {}, item, value, wrapped } = shapeOf(schema)
  const inside = [item, value].flatMap((one) => (one ? secretsBelow(one, depth + 1) : []))
  const marked = depth > 1 && metadataOf(schema)['secret'] === true ? ['itself'] : []
  return [
    ...[...marked, ...inside, ...(wrapped ? secretsBelow(wrapped, depth) : [])],
    ...Object.entries(entries).flatMap(([name, member]) =>
      secretsBelow(member, depth + 1).map((below) => `${name}.${below}`),
    ),
  ]
}

test('every text within a secret list or object is a secret', () => {
  const held = { list: ['A', { deep: 'B' }], empty: null }
  const schemas = { settings: flatSchema({}), request: v.object({ list: marked, empty: marked }) }
  const parts = { auth: null, credentials: null, settings: {}, request: held }
  expect(secretsOf(parts, schemas)).toEqual(['A', 'B'])
  const { sealed, secrets } = sealCall(parts, schemas, createMarks(), new Set())
  expect(secrets.map(({ value }) => value)).toEqual(['A', 'B'])
  expect(JSON.stringify(sealed)).not.toMatch(/"[AB]"/)
})

const marked = v.pipe(v.unknown(), v.metadata({ secret: true }))

test('the secrets of several credentials are merged without duplicates', () => {
  const credentials = {
    a: { token: { token: 'T' } },
    b: { basic: { username: 'u', password: 'P' } },
    c: { token: { token: 'T' } },
  }
  expect(secrets({ credentials })).toEqual(['P', 'T', 'u:P'])
})

test('the secrets of settings are the secret settings that are present', () => {
  const fields: Fields = {
    key: { type: 'string', secret: true },
    other: { type: 'string', secret: true },
    url: { type: 'string' },
    zone: { type: 'integer' },
  }
  expect(secrets({ settings: { key: 'K', url: 'u', zone: 5 } }, fields)).toEqual(['K'])
})

describe('the secrets of a request', () => {
  test.each([
    [
      'refresh_access_token',
      { client_id: 'c', client_secret: 'S', refresh_token: 'R', state: 's' },
      ['R', 'S'],
    ],
    [
      'handle_authorization_callback',
      {
        client_id: 'c',
        client_secret: 'S',
        redirect_uri_with_code: 'https://x?code=C',
        code_verifier: 'V',
      },
      ['S', 'V', 'https://x?code=C'],
    ],
    [
      'handle_client_credentials_request',
      { client_id: 'c', client_secret: 'S', scopes: [] },
      ['S'],
    ],
    ['get_account', { account_id: 'a' }, []],
  ] as [CapabilityName, object, string[]][])(
    'to %s are those that the contract marks',
    (name, request, all) => {
      expect(secrets({ request }, {}, name)).toEqual(all)
    },
  )

  test('include a secret field of the connector', () => {
    const fields: Fields = { initial_password: { type: 'string', secret: true } }
    const request = { entitlements: [], initial_password: 'P' }
    const schemas = { settings: flatSchema({}), request: requestSchema('create_account', fields) }
    const parts = { auth: null, credentials: null, settings: {}, request }
    expect(secretsOf(parts, schemas)).toEqual(['P'])
  })
})
