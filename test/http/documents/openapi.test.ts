import * as v from 'valibot'
import { expect, test } from 'vitest'
import {
  CAPABILITIES,
  CAPABILITY_NAMES,
  type CapabilityName,
} from '../../../runtime/contract/capabilities/capabilities.ts'
import { errorBody, parseCall } from '../../../runtime/contract/envelope/envelope.ts'
import {
  anyCredentials,
  commonMembers,
  ErrorResponse,
} from '../../../runtime/contract/envelope/envelope-schemas.ts'
import { ERROR_CODES } from '../../../runtime/contract/errors/error-codes.ts'
import { ERRORS, type RuntimeCode, RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { operationsOf } from '../../../runtime/http/documents/document.ts'
import { connectorInterfaceDocument } from '../../../runtime/http/documents/openapi.ts'
import { envelopeStatus } from '../../../runtime/http/edge/statuses.ts'
import { compile, openApiFindings } from './judges.ts'

const document = connectorInterfaceDocument({ connectorsPath: '/connectors' })
const operations = operationsOf(document)
const at = (name: string) => document.paths[`/connectors/{connector_id}/${name}`]?.post
const json = (holder: unknown) =>
  (holder as { content: Record<string, { schema: object; example?: unknown }> }).content[
    'application/json'
  ]
const judgeRequest = (name: string) => compile(document, json(at(name)?.requestBody)?.schema ?? {})
const judgeAnswer = (name: string) =>
  compile(document, json(at(name)?.responses['200'])?.schema ?? {})

test('is a valid OpenAPI 3.1 document', async () => {
  expect(await openApiFindings(document)).toEqual([])
})

test.each(Object.entries(document.components.schemas))(
  'has a component %s that compiles strictly',
  (_, schema) => {
    expect(() => compile(document, schema)).not.toThrow()
  },
)

test('uses every component that it defines, and defines every component that it uses', () => {
  const text = JSON.stringify(document)
  const used = [...text.matchAll(/#\/components\/(\w+)\/([\w-]+)/g)].map(
    ([, kind, name]) => `${kind}/${name}`,
  )
  const { schemas, responses, headers } = document.components
  const present = Object.entries({ schemas, responses, headers }).flatMap(([kind, all]) =>
    Object.keys(all).map((name) => `${kind}/${name}`),
  )
  expect([...new Set(used)].sort()).toEqual(present.sort())
})

test('has an operation for every capability, with its level and group', () => {
  for (const name of CAPABILITY_NAMES) {
    const { level, summary, group } = CAPABILITIES[name]
    expect(at(name)).toMatchObject({
      operationId: name,
      summary,
      'x-capability-level': level,
      tags: [expect.stringMatching(new RegExp(`^${group}`))],
    })
  }
})

test('gives every operation a unique name', () => {
  const ids = operations.map(({ operation }) => operation.operationId)
  expect(ids).toEqual([...new Set(ids)])
})

test('has credentials in every envelope except the plain ones', () => {
  const plain = CAPABILITY_NAMES.filter((name) => {
    const schema = document.components.schemas[componentOf(name)] as { properties: object }
    return !('auth' in schema.properties) && !('credentials' in schema.properties)
  })
  expect(plain).toEqual(CAPABILITY_NAMES.filter((name) => 'plain' in CAPABILITIES[name]))
})

test('is generated identically every time', () => {
  const again = connectorInterfaceDocument({ connectorsPath: '/connectors' })
  expect(JSON.stringify(again)).toBe(JSON.stringify(document))
})

test('names the server only if its URL is given', () => {
  const serverUrl = 'https://keyway.example'
  const withServer = connectorInterfaceDocument({ connectorsPath: '/c', serverUrl })
  expect(withServer.servers).toEqual([{ url: serverUrl }])
  expect(document).not.toHaveProperty('servers')
})

test('documents every status that errors have outside the envelope', () => {
  const all = (Object.keys(ERRORS) as RuntimeCode[]).map(envelopeStatus)
  const statuses = [...new Set(all)].filter((status) => status !== 200)
  expect(Object.keys(document.components.responses).sort()).toEqual(
    statuses.map((status) => `Status${status}`).sort(),
  )
})

const tokenConnector = {
  authentication_schema: { kind: 'token' as const },
  settings: {},
}
const parse = (name: CapabilityName, body: unknown) => {
  const row: (typeof CAPABILITIES)[CapabilityName] & { plain?: true } = CAPABILITIES[name]
  return parseCall(JSON.stringify(body), {
    plain: row.plain === true,
    request: row.input,
    settings: v.object({}),
    manifest: tokenConnector,
  })
}

test.each(CAPABILITY_NAMES)('shows an example of %s that the parser accepts', (name) => {
  const example = json(at(name)?.requestBody)?.example
  expect(() => parse(name, example)).not.toThrow()
  const judge = judgeRequest(name)
  judge(example)
  expect(judge.errors).toBeNull()
})

test('documents exactly the members of the envelope that the parser validates', () => {
  const { properties } = document.components.schemas['ListAccountsRequest'] as {
    properties: object
  }
  const example = { auth: { token: { token: 't' } }, request: {} }
  expect(Object.keys(properties).sort()).toEqual(
    ['request', ...Object.keys({ ...commonMembers, ...anyCredentials })].sort(),
  )
  for (const member of Object.keys(properties)) {
    expect(() => parse('list_accounts', { ...example, [member]: 7 })).toThrow(member)
  }
  expect(() => parse('list_accounts', { ...example, unknown: 7 })).not.toThrow()
})

// connector-interface.md section 7: request bodies, with nulls and without them.
const nullCredential = { oauth: null, basic: null, token: { token: 't-1' }, jwt: null, id: null }
test.each<[CapabilityName, unknown]>([
  [
    'validate_credentials',
    { auth: { token: { token: 't-1' } }, request: {}, settings: { a: 'b' } },
  ],
  ['validate_credentials', { auth: nullCredential, credentials: null, request: {}, page: null }],
  ['list_accounts', { request: {}, page: { size: 2, token: null }, include_raw_data: null }],
  ['list_accounts', { request: { custom_attributes: ['department'] }, settings: null }],
  ['get_last_activity', { request: { account_ids: ['u1'] } }],
  ['create_account', { request: { email: 'jo@example.com', username: null, entitlements: [] } }],
  [
    'get_authorization_url',
    { request: { client_id: 'c', scopes: ['a'], redirect_uri: 'https://a.example', state: 's' } },
  ],
])('accepts the request of %s that the compatibility page shows (%#)', (name, body) => {
  const judge = judgeRequest(name)
  judge(body)
  expect(judge.errors).toBeNull()
})

test.each<[CapabilityName, unknown]>([
  ['get_last_activity', { request: {} }],
  ['create_account', { request: { email: 'jo@example.com' } }],
  ['list_accounts', {}],
  ['list_accounts', { request: {}, page: { size: '2' } }],
])('does not accept a request of %s that the parser refuses (%#)', (name, body) => {
  expect(() => parse(name, { auth: { token: { token: 't' } }, ...(body as object) })).toThrow()
  expect(judgeRequest(name)(body)).toBe(false)
})

// connector-interface.md section 7: responses, completed with nulls as the runtime writes them.
const ada = {
  integration_specific_id: 'u1',
  email: 'ada@example.com',
  given_name: 'Ada',
  user_status: 'ACTIVE',
  extra_data: null,
  custom_attributes: { department: 'R&D' },
  account_type: 'user',
}
const done = { success: true, reason: null }
const tokens = { access_token: 'at', refresh_token: 'rt', token_type: 'bearer', state: null }
const responses: [CapabilityName, unknown][] = [
  ['validate_credentials', { valid: true, unique_tenant_id: 'acme.example.com' }],
  ['list_accounts', [ada, { integration_specific_id: 'u2', user_status: 'SUSPENDED' }]],
  [
    'list_resources',
    [{ integration_specific_id: 'ws-1', label: 'R', resource_type: 'W', extra_data: null }],
  ],
  [
    'list_entitlements',
    [
      {
        entitlement_type: 'ROLE',
        integration_specific_id: 'r-9',
        integration_specific_resource_id: '',
        label: 'Admin',
        is_assignable: true,
      },
    ],
  ],
  [
    'find_entitlement_associations',
    [
      {
        account_id: 'u1',
        integration_specific_entitlement_id: 'r-9',
        integration_specific_resource_id: '',
      },
    ],
  ],
  [
    'get_last_activity',
    [{ account_id: 'u1', event_type: 'last_login', happened_at: '2024-07-01T20:43:09-10:00' }],
  ],
  [
    'list_custom_attributes_schema',
    [{ customized_type: 'ACCOUNT', name: 'department', attribute_type: 'STRING' }],
  ],
  ['create_account', { status: 'ACTIVE', created: true }],
  ['activate_account', { status: 'ACTIVE', activated: true }],
  ['deactivate_account', { status: 'SUSPENDED', deactivated: true }],
  ['delete_account', { status: 'DELETED', deleted: true }],
  ['assign_entitlement', { assigned: true }],
  ['unassign_entitlement', { unassigned: true }],
  ['assign_application', { assigned: true, provisioned: false }],
  ['transfer_data', done],
  ['downgrade_license', done],
  ['update_account', { id: 'u1' }],
  ['get_authorization_url', { authorization_url: 'https://idp.example/a', code_verifier: null }],
  ['handle_authorization_callback', tokens],
]

test.each(responses)('describes the answer of %s', (name, response) => {
  const written = v.parse(CAPABILITIES[name].output as v.GenericSchema, response)
  const judge = judgeAnswer(name)
  judge({ response: written, raw_data: null, page: { token: 'T', size: 2 } })
  expect(judge.errors).toBeNull()
})

test.each(responses)('refuses another object as the answer of %s', (name, response) => {
  const judge = judgeAnswer(name)
  const written = v.parse(CAPABILITIES[name].output as v.GenericSchema, response)
  const first = Array.isArray(written) ? written[0] : written
  // Some capabilities may be extended: the connector's own document lists the added fields.
  expect(judge({ response: { ...first, surprise: 1 }, raw_data: null, page: null })).toBe(
    'extensible' in CAPABILITIES[name],
  )
  expect(judge({ response: { surprise: 1 }, raw_data: null, page: null })).toBe(false)
  expect(judge({ is_error: false, response: written, raw_data: null, page: null })).toBe(false)
})

const upstream401 = {
  is_error: true,
  error: {
    message: "[401][https://api.example/users] {'error': 'bad token'}",
    status_code: 401,
    app_error_code: null,
    error_code: 'unauthorized',
    app_id: 'acme',
    raised_by: 'HTTPStatusError',
    raised_in: 'acme.capabilities:list_accounts',
  },
  raw_data: null,
  page: null,
}

test('describes the error answers of the compatibility page', () => {
  const judge = judgeAnswer('list_accounts')
  judge(upstream401)
  expect(judge.errors).toBeNull()
  const bare = { message: 'no such thing', error_code: 'not_implemented', app_id: 'acme' }
  judge(v.parse(ErrorResponse, { is_error: true, error: bare }))
  expect(judge.errors).toBeNull()
  expect(judge({ ...upstream401, error: { ...upstream401.error, error_code: 'oops' } })).toBe(false)
  expect(judge({ ...upstream401, is_error: false })).toBe(false)
})

test('describes what the runtime writes for every error', () => {
  const judge = compile(document, document.components.schemas['ErrorResponse'] ?? {})
  for (const code of Object.keys(ERRORS) as (keyof typeof ERRORS)[]) {
    judge(errorBody(new RuntimeError(code, 'm', { page: { token: null, size: 5 } }), 'acme'))
    expect(judge.errors).toBeNull()
  }
  expect(document.components.schemas['ErrorCode']?.['enum']).toEqual(ERROR_CODES)
})

/** `list_accounts` -> `ListAccountsRequest`. */
function componentOf(name: string): string {
  const words = name.split('_').map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  return `${words.join('')}Request`
}
