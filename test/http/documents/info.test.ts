import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { flatSchema } from '../../../runtime/contract/connector/settings.ts'
import { operationsOf } from '../../../runtime/http/documents/document.ts'
import { infoOf } from '../../../runtime/http/documents/info.ts'
import { Info } from '../../../runtime/http/documents/info-schema.ts'
import { connectorInterfaceDocument } from '../../../runtime/http/documents/openapi.ts'
import { compile, createAjv } from './judges.ts'
import { manifestOf, rich, several } from './manifests.ts'

const logoUrl = 'https://keyway.example/logo.svg'
const all = [
  ['rich', rich],
  ['several', several],
  ['plugins/scim', manifestOf('plugins/scim')],
  ['plugin-template', manifestOf('plugin-template')],
] as const

describe.each(all)('info of %s', (_, manifest) => {
  const info = infoOf(manifest, { logoUrl })

  test('matches its schema in code and in the document', () => {
    expect(v.safeParse(Info, info).issues).toBeUndefined()
    const document = connectorInterfaceDocument({ connectorsPath: '/connectors' })
    const judge = compile(document, document.components.schemas['InfoResponse'] ?? {})
    judge({ response: info, raw_data: null, page: null })
    expect(judge.errors).toBeNull()
  })

  test('lists the capabilities in order, each with its schemas', () => {
    expect(info.capabilities).toEqual([...info.capabilities].sort())
    expect(info.capabilities).toContain('app_info')
    expect(info.capabilities).not.toContain('info')
    expect(Object.keys(info.capability_schema)).toEqual(info.capabilities)
  })

  test('contains self-contained schemas that compile strictly', () => {
    const schemas = [
      ...Object.values(info.capability_schema).flatMap(({ argument, output }) => [
        argument,
        output,
      ]),
      info.authentication_schema,
      info.request_settings_schema,
      ...info.credentials_schema.map(({ id, ...schema }) => schema),
    ]
    for (const schema of schemas) {
      expect(() => createAjv().compile(schema)).not.toThrow()
      expect(JSON.stringify(schema)).not.toContain('$ref')
    }
  })
})

describe('one credential', () => {
  const info = infoOf(rich, { logoUrl: null })

  test('is shown with the texts of the manifest and the annotations of the contract', () => {
    expect(info.authentication_schema).toMatchObject({
      'x-credential-type': 'oauth_client_credentials',
      required: ['access_token', 'client_id', 'client_secret', 'scopes'],
      field_order: ['access_token', 'client_id', 'client_secret', 'scopes'],
      properties: {
        access_token: { 'x-secret': true, 'x-field_type': 'HIDDEN' },
        client_secret: { 'x-secret': true, 'x-field_type': 'SECRET' },
        scopes: { title: 'Rights', description: 'What may be done', default: ['users:read'] },
      },
    })
    expect(info.credentials_schema).toEqual([])
  })

  test('adds the OAuth capabilities that the declaration switches on, and no others', () => {
    expect(info.capabilities).toEqual([
      'app_info',
      'create_account',
      'handle_client_credentials_request',
      'list_accounts',
      'validate_credentials',
    ])
    expect(info.oauth_scopes).toEqual({ list_accounts: 'users:read' })
  })
})

test('lists several credentials separately', () => {
  const info = infoOf(several, { logoUrl: null })
  expect(info.authentication_schema).toEqual({})
  expect(info.credentials_schema).toMatchObject([
    { id: 'api', title: 'API token', 'x-optional': false, 'x-credential-type': 'token' },
    { id: 'admin', 'x-optional': false, 'x-credential-type': 'basic' },
    {
      id: 'scim',
      description: 'For provisioning',
      'x-optional': true,
      'x-credential-type': 'oauth',
      oauth_settings: { oauth_type: 'CODE_FLOW', scopes: null, pkce_enabled: true },
    },
  ])
  expect(info.capabilities).toContain('get_authorization_url')
})

test('shows an extended capability with its own fields and the standard ones', () => {
  const { argument, output, display_name } =
    infoOf(rich, { logoUrl: null }).capability_schema['create_account'] ?? {}
  expect(argument).toMatchObject({
    required: ['department', 'entitlements'],
    properties: { department: { type: 'string', title: 'Department' }, email: {} },
  })
  expect(output).toMatchObject({ required: ['department', 'status', 'created', 'id'] })
  expect(display_name).toBe('Create Account')
})

describe('the settings', () => {
  const { request_settings_schema: schema } = infoOf(rich, { logoUrl: null })

  test('are shown as a form', () => {
    expect(schema).toMatchObject({
      required: ['base_url'],
      field_order: ['base_url', 'region', 'team', 'odd', 'passphrase', 'retries', 'guests'],
      properties: {
        base_url: { type: 'string', format: 'uri', title: 'Address', description: 'Of Acme' },
        region: { enum: ['eu', 'us'], default: 'eu' },
        passphrase: { 'x-secret': true, 'x-field_type': 'SECRET' },
        retries: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
        guests: { type: 'boolean' },
      },
    })
  })

  const base = { base_url: 'https://a.example' }
  test.each([
    [base, true],
    [{ ...base, region: 'us', team: 'abc', retries: 9, guests: false }, true],
    [{}, false],
    [{ base_url: 'nowhere' }, false],
    [{ ...base, region: 'mars' }, false],
    [{ ...base, team: 'abc1' }, false],
    [{ ...base, team: 'main' }, true],
    [{ ...base, retries: 10 }, false],
    [{ ...base, guests: 'no' }, false],
  ])('are validated alike by the published schema and by the runtime: %j', (settings, accepted) => {
    expect(createAjv().compile(schema)(settings)).toBe(accepted)
    expect(v.safeParse(flatSchema(rich.settings), settings).success).toBe(accepted)
  })
})

test('writes null for what a manifest leaves out', () => {
  expect(infoOf(several, { logoUrl: null })).toMatchObject({
    oauth_scopes: null,
    app_vendor_domain: null,
    logo_url: null,
    user_friendly_name: null,
    description: null,
    categories: null,
  })
  const [role] = infoOf(rich, { logoUrl: null }).entitlement_types
  expect(role).toEqual({
    type_id: 'ROLE',
    type_label: 'Role',
    resource_type_id: '',
    min: 0,
    max: null,
  })
})

test('names only capabilities that the whole interface has an operation for', () => {
  const document = connectorInterfaceDocument({ connectorsPath: '/c' })
  const names = operationsOf(document).map(({ operation }) => operation.operationId)
  for (const [, manifest] of all) {
    expect(names).toEqual(expect.arrayContaining(infoOf(manifest, { logoUrl }).capabilities))
  }
})
