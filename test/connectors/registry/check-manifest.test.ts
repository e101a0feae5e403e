import { describe, expect, test } from 'vitest'
import { checkManifest } from '../../../runtime/connectors/registry/check-manifest.ts'
import { checkRules } from '../../../runtime/egress/rules/url-template.ts'
import { manifestOf } from './fixtures/folders.ts'

const LOGIN = 'https://a.example/login'
const EXCHANGE = {
  request: { url: LOGIN, json: { token: '{auth.token.token}' } },
  capture: { json: '/token' },
  use: { header: 'x-token' },
}

const DATABASE = {
  sql: 'postgresql://db.example',
  dialect: 'postgresql',
  database: 'hr',
  login: { credential: 'auth' },
}

const check = (manifest: unknown) =>
  checkManifest(typeof manifest === 'string' ? manifest : JSON.stringify(manifest), checkRules)

const findings = (changes: object): string[] => {
  const checked = check(manifestOf(changes))
  return checked.ok ? [] : checked.findings
}

describe('accepts', () => {
  const good: [string, object][] = [
    ['the smallest manifest', {}],
    [
      'a manifest with every member',
      {
        $schema: './schema.json',
        name: 'Acme',
        description: 'People',
        vendor_domain: 'acme.example',
        logo: 'logo.svg',
        categories: ['COLLABORATION', 'IDENTITY_PROVIDER'],
        authentication_schema: { kind: 'token', fields: { token: { title: 'T', help: 'H' } } },
        settings: {
          base_url: { type: 'string', format: 'url', required: true, title: 'Base' },
          zone: { type: 'integer', min: 1, max: 5, default: 2 },
          strict: { type: 'boolean', default: false },
          region: { type: 'string', enum: ['eu', 'us'], default: 'eu' },
        },
        egress: [{ url: '{settings.base_url}/v1', methods: ['GET'] }],
        capabilities: {
          list_accounts: { reads_with: ['POST'], because: 'The search is a POST.' },
          create_account: {
            request_fields: { department: { type: 'string' } },
            response_fields: { desk: { type: 'string' } },
          },
          assign_entitlement: { egress: [{ url: 'https://api.acme.example', methods: ['PUT'] }] },
        },
        resource_types: [{ type_id: 'WORKSPACE', type_label: 'Workspace' }],
        entitlement_types: [
          { type_id: 'R', type_label: 'Role', resource_type_id: 'WORKSPACE', min: 0, max: 1 },
        ],
        limits: { requests_per_second: 10, deadline_ms: 1000, memory_mb: 32 },
        consistency_ms: 500,
      },
    ],
    [
      'several credentials',
      { authentication_schema: undefined, credentials: [{ id: 'api', kind: 'token' }] },
    ],
    [
      'handwritten OAuth capabilities with a clear secret',
      {
        capabilities: { handle_client_credentials_request: {}, get_authorization_url: {} },
        clear_secrets: [{ field: 'request.client_secret', because: 'it is signed' }],
      },
    ],
    ['a prerelease version', { version: '1.0.0-beta.1' }],
    ['a version with build metadata', { version: '1.0.0+build.5' }],
    ['an id of the maximum length', { id: `a${'b'.repeat(62)}` }],
  ]
  test.each(good)('%s', (_name, changes) => {
    expect(findings(changes)).toEqual([])
  })

  test('a manifest, and fills in its defaults', () => {
    const checked = check(manifestOf())
    expect(checked).toMatchObject({
      manifest: { limits: { concurrency: 32, deadline_ms: 30_000, memory_mb: 64 }, settings: {} },
    })
  })
})

const oauth = { token_url: 'https://acme.example/token' }
const ofOAuth = (more: object) => ({
  authentication_schema: { kind: 'oauth' },
  oauth: { ...oauth, authorization_url: 'https://acme.example/authorize', ...more },
})
const ownRefresh = {
  capabilities: { refresh_access_token: {} },
  clear_secrets: [{ field: 'request.client_secret', because: 'it is signed' }],
}
const manyOf = (more: object) => ({
  authentication_schema: undefined,
  credentials: [{ id: 'api', kind: 'token', ...more }],
})
const settings = (field: object) => ({ settings: { x: field } })
const create = (more: object) => ({ capabilities: { create_account: more } })

const some = (count: number, one: unknown): unknown[] => Array.from({ length: count }, () => one)
const named = (count: number, one: unknown): object =>
  Object.fromEntries(some(count, one).map((value, n) => [`x${n}`, value]))
const rule = { url: 'https://api.acme.example' }
const type = { type_id: 'A', type_label: 'A' }

describe('limits the size of', () => {
  test.each([
    ['settings', { settings: named(101, { type: 'boolean' }) }, 'settings', 100],
    ['egress', { egress: some(101, rule) }, 'egress', 100],
    [
      "a capability's egress",
      { capabilities: { list_accounts: { egress: some(101, rule) } } },
      'capabilities.list_accounts.egress',
      100,
    ],
    [
      'request fields',
      create({ request_fields: named(101, { type: 'boolean' }) }),
      'capabilities.create_account.request_fields',
      100,
    ],
    [
      'response fields',
      create({ response_fields: named(101, { type: 'boolean' }) }),
      'capabilities.create_account.response_fields',
      100,
    ],
    ['capabilities', { capabilities: named(101, {}) }, 'capabilities', 100],
    ['resource types', { resource_types: some(501, type) }, 'resource_types', 500],
    [
      'entitlement types',
      { entitlement_types: some(501, { ...type, resource_type_id: '', min: 0 }) },
      'entitlement_types',
      500,
    ],
    ['categories', { categories: some(51, 'HR') }, 'categories', 50],
    [
      'credentials',
      { authentication_schema: undefined, credentials: some(21, { id: 'a', kind: 'token' }) },
      'credentials',
      20,
    ],
    [
      'readable secrets',
      { clear_secrets: some(101, { field: 'token.token', because: 'It wants it hashed.' }) },
      'clear_secrets',
      100,
    ],
  ])('%s', (_name, changes, at, most) => {
    expect(findings(changes)).toEqual([
      expect.stringMatching(new RegExp(`^${at}: at most ${most} are allowed`)),
    ])
  })

  test('the file, before it is parsed', () => {
    expect(check(`{${' '.repeat(256 * 1024)}`)).toMatchObject({
      ok: false,
      findings: [expect.stringMatching(/^connector\.json has 262145 bytes, at most 262144/)],
    })
  })

  test('all patterns together', () => {
    const fields = named(6, { type: 'string', pattern: 'a{900}' })
    expect(findings({ settings: fields })).toEqual([expect.stringContaining('at most 5000')])
  })
})

/** What is wrong, the field that the finding must name, and the words that it must contain. */
const BAD: [string, object, string, string][] = [
  ['no id', { id: undefined }, 'id', 'missing; write "id"'],
  ['an id in uppercase', { id: 'Acme' }, 'id', 'must look like `acme`'],
  ['an id that is too long', { id: 'a'.repeat(64) }, 'id', 'at most 63'],
  ['an id that is a number', { id: 5 }, 'id', 'write a string (found 5)'],
  ['an id that contains ..', { id: '../x' }, 'id', 'must look like'],
  ['a reserved id', { id: 'list_connector_app_ids' }, 'id', 'is reserved'],
  ['a reserved id with the other separator', { id: 'list-connector-app-ids' }, 'id', 'is reserved'],
  ['a reserved id with mixed separators', { id: 'list-connector_app-ids' }, 'id', 'is reserved'],
  ['no version', { version: undefined }, 'version', 'missing; write "version"'],
  [
    'a version that is not semantic',
    { version: '1.0' },
    'version',
    'write a semantic version such as 1.0.0',
  ],
  ['a version with a leading v', { version: 'v1.0.0' }, 'version', 'such as 1.0.0'],
  ['no runtime', { runtime: undefined }, 'runtime', 'missing; write "runtime"'],
  [
    'a runtime that is not a range',
    { runtime: 'latest' },
    'runtime',
    'write a range such as ^1.0.0',
  ],
  [
    'a range that excludes this runtime',
    { runtime: '^2.0.0' },
    'runtime',
    'this runtime speaks 1.0.0',
  ],
  ['an empty name', { name: '' }, 'name', '>=1'],
  ['a description that is too long', { description: 'x'.repeat(2001) }, 'description', '2000'],
  ['a vendor that is not text', { vendor_domain: 1 }, 'vendor_domain', 'write a string (found 1)'],
  ['a logo outside the package', { logo: '../logo.svg' }, 'logo', 'beside connector.json'],
  ['a logo of another file type', { logo: 'logo.exe' }, 'logo', '.svg or .png'],
  ['a category in lowercase', { categories: ['hr'] }, 'categories[0]', 'COLLABORATION'],
  [
    'no authentication',
    { authentication_schema: undefined },
    'authentication_schema',
    'missing; write { "kind": "token" }',
  ],
  [
    'both authentication_schema and credentials',
    { credentials: [{ id: 'api', kind: 'token' }] },
    'authentication_schema, credentials',
    'found both; write one of them',
  ],
  [
    'an unknown kind',
    { authentication_schema: { kind: 'password' } },
    'authentication_schema.kind',
    '"basic"',
  ],
  [
    'a field help that is not text',
    { authentication_schema: { kind: 'token', fields: { token: { help: 1 } } } },
    'authentication_schema.fields.token.help',
    'write a string (found 1)',
  ],
  [
    'a field that the kind does not have',
    { authentication_schema: { kind: 'token', fields: { tokn: { help: 'x' } } } },
    'authentication_schema.fields.tokn',
    'token',
  ],
  ['no credentials in the list', { ...manyOf({}), credentials: [] }, 'credentials', '>=1'],
  ['a credential without an id', manyOf({ id: undefined }), 'credentials[0].id', 'missing'],
  [
    'a credential with an invalid id',
    manyOf({ id: 'a b' }),
    'credentials[0].id',
    'look like `api`',
  ],
  ['a credential without a kind', manyOf({ kind: undefined }), 'credentials[0].kind', 'missing'],
  [
    'a credential whose optional is not boolean',
    manyOf({ optional: 'yes' }),
    'credentials[0].optional',
    'write true or false (found "yes")',
  ],
  [
    'two credentials with the same id',
    {
      authentication_schema: undefined,
      credentials: [
        { id: 'api', kind: 'token' },
        { id: 'api', kind: 'basic' },
      ],
    },
    'credentials',
    'the id "api" stands twice',
  ],
  ['OAuth without a token address', { oauth: {} }, 'oauth.token_url', 'missing'],
  [
    'OAuth for a credential of kind token',
    { oauth },
    'oauth',
    'write oauth or oauth_client_credentials',
  ],
  [
    'OAuth next to several credentials',
    { ...manyOf({ kind: 'oauth' }), oauth },
    'oauth',
    'write it in the entry',
  ],
  [
    'OAuth of a credential of another kind',
    manyOf({ oauth }),
    'credentials (api).oauth',
    'kind token',
  ],
  [
    'a consent flow without an authorization URL',
    ofOAuth({ authorization_url: undefined }),
    'oauth.authorization_url',
    'missing',
  ],
  [
    'an address with a wildcard',
    ofOAuth({ token_url: 'https://*.x.example/t' }),
    'oauth.token_url',
    'has a *',
  ],
  [
    'a setting in a query',
    ofOAuth({ token_url: 'https://x.example/t?z={settings.x}' }),
    'oauth.token_url',
    'in its query',
  ],
  [
    'an address with a fragment',
    ofOAuth({ token_url: 'https://x.example/t?z#y' }),
    'oauth.token_url',
    'a # in its query',
  ],
  [
    'an address of an undeclared setting',
    ofOAuth({ token_url: '{settings.y}/t' }),
    'oauth.token_url',
    'not declared',
  ],
  [
    'scopes of an undeclared capability',
    ofOAuth({ scopes: { get_account: 'a' } }),
    'oauth.scopes.get_account',
    'is no declared capability',
  ],
  [
    'a flow by an undeclared setting',
    ofOAuth({ flow: { setting: 'flow' } }),
    'oauth.flow',
    'no declared string',
  ],
  [
    'a flow by a setting without an enum',
    { ...ofOAuth({ flow: { setting: 'x' } }), ...settings({ type: 'string' }) },
    'oauth.flow',
    '"enum"',
  ],
  [
    'a capability that the flow does not have',
    ofOAuth({ capabilities: { handle_client_credentials_request: false } }),
    'oauth.capabilities.handle_client_credentials_request',
    'no such capability',
  ],
  [
    'a capability that is declared twice',
    { ...ofOAuth({}), capabilities: { refresh_access_token: {} } },
    'capabilities.refresh_access_token',
    'the host performs it',
  ],
  [
    'a handwritten OAuth capability without clear secrets',
    { ...ofOAuth({ capabilities: { refresh_access_token: false } }), ...ownRefresh },
    'capabilities.refresh_access_token',
    '"clear_secrets": [{"field":"request.refresh_token"',
  ],
  [
    'a handwritten OAuth capability without an oauth declaration',
    ownRefresh,
    'capabilities.refresh_access_token',
    'declare "oauth"',
  ],
  ['a GET with a body', ofOAuth({ request: { method: 'GET' } }), 'oauth.request', '"QUERY"'],
  ...[
    [{ request: { url: 'https://x.example/t' } }, 'exchange.request.url', 'no egress entry'],
    [{ request: { url: 'https://a.examples/t' } }, 'exchange.request.url', 'no egress entry'],
    [{ request: { url: 'https://a.example/t?x' } }, 'exchange.request.url', 'has a query'],
    [{ request: { url: '{settings.no}' } }, 'exchange.request.url', 'not declared'],
    [{ request: { url: `${LOGIN}/*/tokens` } }, 'exchange.request.url', 'has a *'],
    [{ request: { url: LOGIN, method: 'PUT' } }, 'exchange.request.method', 'has PUT'],
    [{ request: { url: LOGIN, method: 'GET', json: {} } }, 'exchange.request.method', 'no body'],
    [{ request: { url: LOGIN, json: {}, form: {} } }, 'exchange.request', 'found both'],
    [{ request: { url: LOGIN, json: ['{what}'] } }, 'exchange.request.json', 'stands for nothing'],
    [
      { request: { url: LOGIN, form: { a: '{auth.basic.password}' } } },
      'exchange.request.form',
      'another kind',
    ],
    [
      { request: { url: LOGIN, form: { a: '{auth.token.tokens}' } } },
      'exchange.request.form',
      'none of token',
    ],
    [
      { request: { url: LOGIN, form: { a: '{credentials.x.token.token}' } } },
      'exchange.request.form',
      'no declared credential',
    ],
    [
      { request: { url: LOGIN, headers: { a: '{basic}' } } },
      'exchange.request.headers',
      'kind basic',
    ],
    [
      { request: { url: LOGIN, json: '{sign.jwt}' } },
      'exchange.request.json',
      'kind jwt or key_pair',
    ],
    [
      { request: { url: LOGIN, json: '{sign.oauth1}' } },
      'exchange.request.json',
      'none of sign.jwt',
    ],
    [{ request: { url: LOGIN, json: '{settings.no}' } }, 'exchange.request.json', 'not declared'],
    [{ capture: { json: 't' } }, 'exchange.capture.json', 'JSON Pointer'],
    [{ capture: { header: 'a b' } }, 'exchange.capture.header', 'not a header name'],
    [{ use: { header: 'a:' } }, 'exchange.use.header', 'not a header name'],
    [{ use: { header: 'Cookie' } }, 'exchange.use.header', 'no request may carry'],
    [{ use: { header: 'X-Forwarded-User' } }, 'exchange.use.header', 'no request may carry'],
    [{ capture: { header: 'Set-Cookie' } }, 'exchange.capture.header', 'cookies of answers'],
    [{ use: { header: 'a', value: 'Bearer' } }, 'exchange.use.value', 'hold {exchange}'],
    [{ use: { header: 'a', value: 'x{exchange}' } }, 'exchange.use.value', 'beside it'],
    [{ use: { header: 'a', value: '{exchange}{exchange}' } }, 'exchange.use.value', 'beside it'],
  ].map(([exchange, field, words]): [string, object, string, string] => [
    `an exchange with ${JSON.stringify(exchange)}`,
    {
      egress: [{ url: 'https://a.example', methods: ['GET', 'POST'] }],
      exchange: { ...EXCHANGE, ...(exchange as object) },
    },
    field as string,
    words as string,
  ]),
  ['an incomplete exchange', { exchange: { request: {} } }, 'exchange.request.url', 'missing'],
  [
    'errors in bodies with an invalid pointer',
    { errors_in_body: { when: { json: 'ok', equals: false }, code: '/e', map: {} } },
    'errors_in_body.when.json',
    'JSON Pointer',
  ],
  [
    'errors in bodies without a condition',
    { errors_in_body: { when: { json: '/ok' }, code: '/e', map: {} } },
    'errors_in_body.when',
    'equals',
  ],
  [
    'errors in bodies with two conditions',
    { errors_in_body: { when: { json: '/ok', equals: 1, exists: true }, code: '/e', map: {} } },
    'errors_in_body.when',
    '"exists": true',
  ],
  [
    'errors in bodies with an unknown code',
    {
      errors_in_body: { when: { json: '/ok', equals: false }, code: '/e', map: { x: 'conflict' } },
    },
    'errors_in_body.map.x',
    '"not_found"',
  ],
  [
    'a setting with a dash',
    { settings: { 'base-url': { type: 'string' } } },
    'settings.base-url',
    'base_url',
  ],
  ['a setting of an unknown type', settings({ type: 'number' }), 'settings.x.type', '"integer"'],
  [
    'a setting with an unknown member',
    settings({ type: 'string', min: 1 }),
    'settings.x.min',
    'no such field',
  ],
  [
    'a setting with an invalid pattern',
    settings({ type: 'string', pattern: '(' }),
    'settings.x.pattern',
    'RE2',
  ],
  [
    'a setting that is required and has a default',
    settings({ type: 'string', required: true, default: 'a' }),
    'settings.x',
    'exclude each other',
  ],
  [
    'a setting whose min is above its max',
    settings({ type: 'integer', min: 5, max: 1 }),
    'settings.x',
    'min is above max',
  ],
  [
    'a default outside its bounds',
    settings({ type: 'integer', max: 1, default: 2 }),
    'settings.x.default',
    '<=1',
  ],
  [
    'a default outside its enum',
    settings({ type: 'string', enum: ['a'], default: 'b' }),
    'settings.x.default',
    'must be one of "a"',
  ],
  ['no capabilities', { capabilities: undefined }, 'capabilities', 'missing; write "capabilities"'],
  [
    'a misspelled sql',
    { egress: [{ ...DATABASE, sql: undefined, sqll: 'postgresql://db.example' }] },
    'egress[0].sqll',
    'there is no such field; did you mean sql?',
  ],
  [
    'a misspelled limit',
    { limits: { request_per_second: 3 } },
    'limits.request_per_second',
    'there is no such field; did you mean requests_per_second?',
  ],
  [
    'a misspelled field of a statement',
    { statements: { people: { text: 'select 1', read: true } } },
    'statements.people.read',
    'there is no such field; did you mean reads?',
  ],
  [
    'a misspelled method',
    { egress: [{ url: 'https://a.example', method: ['GET'] }] },
    'egress[0].method',
    'there is no such field; did you mean methods?',
  ],
  ['limits as a list', { limits: [] }, 'limits', 'found a list; write an object'],
  ['settings as a list', { settings: [] }, 'settings', 'found a list; write an object'],
  [
    'capabilities as a list',
    { capabilities: ['list_accounts'] },
    'capabilities.0',
    'write an object',
  ],
  [
    'a misspelled capability',
    { capabilities: { list_account: {} } },
    'capabilities.list_account',
    'did you mean list_accounts?',
  ],
  [
    'a capability that the contract does not have',
    { capabilities: { fly: {} } },
    'capabilities.fly',
    'no such capability',
  ],
  [
    'a capability that every connector has',
    { capabilities: { info: {} } },
    'capabilities.info',
    'leave it out',
  ],
  [
    'a capability whose value is true',
    { capabilities: { list_accounts: true } },
    'capabilities.list_accounts',
    'write an object (found true)',
  ],
  [
    'a read with an extra request field',
    { capabilities: { list_accounts: { request_fields: { x: { type: 'string' } } } } },
    'capabilities.list_accounts.request_fields',
    'only create_account and update_account',
  ],
  [
    'a read with an extra response field',
    { capabilities: { list_accounts: { response_fields: { x: { type: 'string' } } } } },
    'capabilities.list_accounts.response_fields',
    'only create_account and update_account',
  ],
  [
    'an extra field with the name of a standard field',
    create({ request_fields: { email: { type: 'string' } } }),
    'capabilities.create_account',
    'email is a standard field',
  ],
  [
    'an extra field whose min is above its max',
    create({ request_fields: { x: { type: 'integer', min: 2, max: 1 } } }),
    'capabilities.create_account.request_fields.x',
    'min is above max',
  ],
  [
    'reads_with on a write',
    create({ reads_with: ['POST'], because: 'It is a reason.' }),
    'capabilities.create_account.reads_with',
    'this one writes',
  ],
  [
    'reads_with without a reason',
    { capabilities: { list_accounts: { reads_with: ['POST'] } } },
    'capabilities.list_accounts.because',
    'say why this read sends POST',
  ],
  [
    'a reason that is too short',
    { capabilities: { list_accounts: { reads_with: ['POST'], because: 'x' } } },
    'capabilities.list_accounts.because',
    'say why in a sentence',
  ],
  ['an entry without an address', { egress: [{}] }, 'egress[0].url', 'missing'],
  [
    'an entry with an unknown method',
    { egress: [{ url: 'https://a.example', methods: ['get'] }] },
    'egress[0].methods[0]',
    '"GET"',
  ],
  [
    'an entry with an empty list of methods',
    { egress: [{ url: 'https://a.example', methods: [] }] },
    'egress[0].methods',
    '>=1',
  ],
  [
    'an entry of another scheme',
    { egress: [{ url: 'ftp://a.example' }] },
    'egress[0].url',
    'only https:// and http://',
  ],
  [
    'an entry with an undeclared setting',
    { egress: [{ url: 'https://{settings.zone}.a.example' }] },
    'egress[0].url',
    'settings.zone',
  ],
  [
    'a capability’s entry of another scheme',
    { capabilities: { list_accounts: { egress: [{ url: 'file:///etc/passwd' }] } } },
    'capabilities.list_accounts.egress[0].url',
    'only https:// and http://',
  ],
  [
    'a database of another scheme',
    { egress: [{ ...DATABASE, sql: 'https://db.example' }] },
    'egress[0].sql',
    'write postgresql://host',
  ],
  [
    'a database with a path',
    { egress: [{ ...DATABASE, sql: 'postgresql://db.example/hr' }] },
    'egress[0].sql',
    'without a path',
  ],
  [
    'a database without a login',
    { egress: [{ ...DATABASE, login: undefined }] },
    'egress[0].login',
    'missing: write { "credential": "auth" }',
  ],
  [
    'a database without a dialect',
    { egress: [{ ...DATABASE, dialect: undefined }] },
    'egress[0].dialect',
    'missing: write postgresql or mysql',
  ],
  [
    'a login that is not an object',
    { egress: [{ ...DATABASE, login: 'auth' }] },
    'egress[0].login',
    'write an object (found "auth")',
  ],
  [
    'a database with an unknown field',
    { egress: [{ ...DATABASE, user: 'x' }] },
    'egress[0].user',
    'there is no such field',
  ],
  [
    'a database by a setting of format url',
    {
      settings: { url: { type: 'string', format: 'url' } },
      egress: [{ ...DATABASE, sql: '{settings.url}' }],
    },
    'egress[0].sql',
    'the format url, which takes http and https alone: write a "pattern" there instead, such as "^postgresql://.+$"',
  ],
  [
    'a login by a credential of another kind',
    { egress: [DATABASE] },
    'egress[0].login.credential',
    'of the kind basic',
  ],
  [
    'an undeclared statement',
    { egress: [{ ...DATABASE, statements: ['people'] }] },
    'egress[0].statements',
    '"people" is none of',
  ],
  [
    'two statements in one',
    { statements: { people: { text: 'select 1; select 2' } } },
    'statements.people.text',
    'semicolon',
  ],
  [
    'a statement with an invalid name',
    { statements: { 'List people': { text: 'select 1' } } },
    'statements.List people',
    'must look like',
  ],
  [
    'an unknown secret',
    { egress: [{ url: 'https://a.example', secrets: ['api'] }] },
    'egress[0].secrets',
    '"api" is none of auth, request',
  ],
  [
    'a clear secret of an unknown field',
    { clear_secrets: [{ field: 'token.tokens', because: 'It has to be hashed.' }] },
    'clear_secrets[0].field',
    'it has token.token',
  ],
  [
    'a resource type without a label',
    { resource_types: [{ type_id: 'W' }] },
    'resource_types[0].type_label',
    'missing',
  ],
  [
    'an entitlement of an undeclared resource type',
    {
      entitlement_types: [{ type_id: 'R', type_label: 'R', resource_type_id: 'W', min: 0 }],
    },
    'entitlement_types[0].resource_type_id',
    'declare it under resource_types',
  ],
  [
    'an entitlement type whose min is above its max',
    {
      entitlement_types: [{ type_id: 'R', type_label: 'R', resource_type_id: '', min: 2, max: 1 }],
    },
    'entitlement_types[0]',
    'max 1 is below min 2',
  ],
  ['a limit of zero', { limits: { concurrency: 0 } }, 'limits.concurrency', '>=1'],
  ['a deadline that is too short', { limits: { deadline_ms: 5 } }, 'limits.deadline_ms', '>=100'],
  ['too little memory', { limits: { memory_mb: 8 } }, 'limits.memory_mb', '>=16'],
  [
    'a fractional limit',
    { limits: { requests_per_second: 0.5 } },
    'limits.requests_per_second',
    'safe integer',
  ],
  ['an unknown limit', { limits: { memory: 8 } }, 'limits.memory', 'no such field'],
  ['a consistency window that is too long', { consistency_ms: 1e9 }, 'consistency_ms', '<=3600000'],
  [
    'a clear secret without a reason',
    { clear_secrets: [{ field: 'token.token' }] },
    'clear_secrets[0].because',
    'missing',
  ],
  [
    'an unknown member',
    { capabillities: {} },
    'capabillities',
    'there is no such field; did you mean capabilities?',
  ],
]

describe('suggests', () => {
  test.each([
    ['list_acounts', 'list_accounts'],
    ['list_account', 'list_accounts'],
    ['get_accounts', 'get_account'],
    ['list-accounts', 'list_accounts'],
    ['createAccount', 'create_account'],
    ['assign_entitlments', 'assign_entitlement'],
    ['validate_credential', 'validate_credentials'],
  ])('for %s: %s', (misspelt, name) => {
    expect(findings({ capabilities: { [misspelt]: {} } })).toEqual([
      `capabilities.${misspelt}: there is no such capability; did you mean ${name}?`,
    ])
  })
})

describe('refuses', () => {
  test.each(BAD)('%s', (_name, changes, field, words) => {
    const all = findings(changes)
    const mine = all.filter(
      (finding) => finding.startsWith(`${field}: `) || finding.startsWith(`${field} `),
    )
    expect({ all, mine: mine.some((finding) => finding.includes(words)) }).toEqual({
      all,
      mine: true,
    })
  })

  test.each([
    ['', 'connector.json is not JSON'],
    ['{', 'connector.json is not JSON'],
    ['{"id": "acme",}', 'connector.json is not JSON'],
    ['null', 'connector.json: found null; write an object'],
    ['[]', 'connector.json: found []; write an object'],
    ['7', 'connector.json: found 7; write an object'],
  ])('the text %j', (text, words) => {
    const checked = check(text)
    expect(checked).toMatchObject({ ok: false, id: null, version: null })
    expect((checked as { findings: string[] }).findings[0]).toContain(words)
  })

  test('a manifest with all its findings at once, and with its id', () => {
    const checked = check(
      manifestOf({ version: '1', runtime: 'latest', capabilities: { fly: {} } }),
    )
    expect(checked).toMatchObject({ ok: false, id: 'acme', version: '1' })
    expect((checked as { findings: string[] }).findings).toHaveLength(3)
  })

  test('a manifest of many faults with a short message', () => {
    const capabilities = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`x${index}`, { y: 1 }]),
    )
    const checked = check(manifestOf({ id: 'X'.repeat(1e6), capabilities }))
    expect(JSON.stringify(checked).length).toBeLessThan(100_000)
  })
})
