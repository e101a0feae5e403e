import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CheckBench, openCheckBench } from '../../runtime/testing/check-connector.ts'
import { CASES_FILE } from '../../runtime/testing/read-cases.ts'
import { manifestOf, temporaryFolder, write } from '../connectors/registry/fixtures/folders.ts'
import { compileOnce } from '../kit/compiled.ts'

let bench: CheckBench
beforeAll(async () => {
  // Most tests share the same code and differ in their cases, which are not compiled.
  bench = await openCheckBench((folder, options) => {
    const files = new Map([...folder.files].filter(([name]) => name !== CASES_FILE))
    return compileOnce({ ...folder, files }, options)
  })
})
afterAll(() => bench.close())

const LIST = `const reply = await ctx.fetch('https://api.acme.example/users?after=' + (ctx.page.cursor ?? ''), { headers: { authorization: ctx.auth.token.token } })
    if (!reply.ok) throw await ConnectorError.from(reply)
    const { users, next } = await reply.json()
    return paged(users.map((id) => ({ integration_specific_id: id })), next)`

const codeOf = (body: string) => `// @ts-nocheck
import { ConnectorError, defineConnector, paged } from 'keyway/sdk'
export default defineConnector({
  async list_accounts(request, ctx) {
    ${body}
  },
})`

const exchange = (users: string[], next?: string, after = '') => ({
  request: `GET /users?after=${after}`,
  reply: { status: 200, body: { users, next } },
})

const good = {
  name: 'lists',
  capability: 'list_accounts',
  auth: { token: { token: 'a-token' } },
  upstream: [exchange(['a'])],
  response: [{ integration_specific_id: 'a' }],
  more: false,
}

async function check(cases: unknown, body = LIST, changes: object = {}) {
  const directory = temporaryFolder()
  await write(directory, {
    'connector.json': JSON.stringify(
      manifestOf({ capabilities: { list_accounts: {} }, ...changes }),
    ),
    'connector.ts': codeOf(body),
    ...(cases === undefined
      ? {}
      : { 'connector.cases.json': typeof cases === 'string' ? cases : JSON.stringify(cases) }),
  })
  return bench.check(directory)
}

const errors = async (...given: Parameters<typeof check>) =>
  (await check(...given)).findings
    .filter(({ severity }) => severity === 'error')
    .map(({ where, message }) => `${where}: ${message}`)

describe('a good connector', () => {
  test('passes, with a warning when validate_credentials is missing', async () => {
    expect(await check([good])).toEqual({
      ok: true,
      id: 'acme',
      version: '1.0.0',
      passed: ['lists'],
      findings: [
        {
          severity: 'warning',
          where: 'connector.json',
          message: expect.stringContaining('validate_credentials is missing'),
        },
      ],
    })
  })

  test.each([
    [
      'several pages, each in its own isolate',
      {
        upstream: undefined,
        response: undefined,
        more: undefined,
        pages: [
          {
            upstream: [exchange(['a'], 'p2')],
            response: [{ integration_specific_id: 'a' }],
            more: true,
          },
          {
            upstream: [exchange(['b'], undefined, 'p2')],
            response: [{ integration_specific_id: 'b' }],
          },
        ],
      },
    ],
    [
      'an error of its upstream',
      {
        upstream: [{ request: 'GET /users?after=', reply: { status: 429, body: 'slow down' } }],
        response: undefined,
        more: undefined,
        error: { error_code: 'rate_limit', status_code: 429, message: 'slow down' },
      },
    ],
    [
      'the headers of a request',
      { upstream: [{ ...exchange(['a']), headers: { Authorization: 'a-token' } }] },
    ],
  ])('passes with a case for %s', async (_name, change) => {
    expect(await errors([{ ...good, ...change }])).toEqual([])
  })

  test('passes with one warning for an entitlement type that is not declared', async () => {
    const one = {
      ...{ name: 'rights', capability: 'list_entitlements', upstream: [], more: false },
      auth: { token: { token: 'a-token' } },
    }
    const body = `return []
  },
  async list_entitlements() {
    return [{ entitlement_type: 'GROUP', integration_specific_id: 'g', integration_specific_resource_id: '', label: 'G' }]`
    const lists = { ...good, upstream: [], response: [] }
    const { ok, findings } = await check([lists, one, { ...one, name: 'again' }], body, {
      capabilities: { list_accounts: {}, list_entitlements: {} },
    })
    expect(ok).toBe(true)
    const warned = findings.filter(({ where }) => where !== 'connector.json')
    expect(warned).toMatchObject([
      { severity: 'warning', where: 'rights', message: expect.stringContaining('"GROUP"') },
    ])
  })

  test('may have settings that cannot be invented, if its cases supply them', async () => {
    const settings = { region: { type: 'string', pattern: '(eu|us)-[0-9]{2}', required: true } }
    expect(await errors([{ ...good, settings: { region: 'eu-01' } }], LIST, { settings })).toEqual(
      [],
    )
  })
})

describe('a case fails for', () => {
  const cases: [string, object, string][] = [
    [
      'another response',
      { response: [] },
      'lists: response[0] should be absent, is {"integration_specific_id":"a"',
    ],
    [
      'a request that it does not expect',
      { upstream: [] },
      'lists: unexpected request GET /users?after=; expected none',
    ],
    [
      'a request with another query',
      { upstream: [exchange(['a'], undefined, 'x')] },
      'lists: unexpected request GET /users?after=; expected GET /users?after=x',
    ],
    [
      'a request that is never made',
      { upstream: [exchange(['a']), { ...exchange([]), request: 'GET /more' }] },
      'lists: expected request GET /more was not made',
    ],
    [
      'another header',
      { upstream: [{ ...exchange(['a']), headers: { authorization: 'other' } }] },
      'lists: GET /users?after=: header authorization should be other, is a-token',
    ],
    [
      'a header that is missing',
      { upstream: [{ ...exchange(['a']), headers: { 'x-own': 'y' } }] },
      'header x-own should be y, is missing',
    ],
    [
      'another body',
      { upstream: [{ ...exchange(['a']), body: { q: 1 } }] },
      'lists: GET /users?after=: body should be {"q":1}, is ""',
    ],
    [
      'an answer where an error is expected',
      { response: undefined, more: undefined, error: { error_code: 'not_found' } },
      'lists: expected the error not_found, got the answer [',
    ],
    [
      'an error where an answer is expected',
      { upstream: [{ request: 'GET /users?after=', reply: { status: 500 } }] },
      'lists: expected an answer, got the error api_error: [500][https://api.acme.example/users]',
    ],
    [
      'another error',
      {
        upstream: [{ request: 'GET /users?after=', reply: { status: 500 } }],
        response: undefined,
        more: undefined,
        error: { error_code: 'not_found', message: 'gone' },
      },
      'lists: error.error_code should be not_found, is api_error: [500]',
    ],
    [
      'an additional page',
      { upstream: [exchange(['a'], 'p2')] },
      'lists: expected no further page',
    ],
    ['a missing page', { more: true }, 'lists: expected another page'],
    [
      'pages that end early',
      {
        upstream: undefined,
        response: undefined,
        more: undefined,
        pages: [{ upstream: [exchange(['a'])] }, { upstream: [] }],
      },
      'lists: page 1: another page is expected, but there is no token',
    ],
    [
      'missing raw data',
      { include_raw_data: true, raw_data: { a: 1 } },
      'lists: raw_data should be {"a":1}, is null',
    ],
    [
      'a request that does not fit its schema',
      { request: { custom_attributes: 5 } },
      'request.custom_attributes: ',
    ],
    ['missing credentials', { auth: undefined }, 'auth: missing; send auth.token'],
    [
      'an undeclared capability',
      { capability: 'get_account' },
      'lists: get_account is not declared',
    ],
    [
      'an invalid address',
      { upstream: [{ ...exchange(['a']), request: 'GET //' }] },
      'unexpected request',
    ],
  ]
  test.each(cases)('%s', async (_name, change, words) => {
    expect((await errors([{ ...good, ...change }])).join('\n')).toContain(words)
  })
})

describe('a file of cases', () => {
  const { auth, ...bare } = good
  const asks = { request: 'GET /users?after=' }
  const answers = { users: ['a'] }

  test('declares once what its cases share', async () => {
    const file = {
      defaults: {
        auth,
        upstream: { headers: { authorization: 'a-token' }, reply: { status: 200 } },
      },
      exchanges: { all: { ...asks, reply: { body: answers } } },
      cases: [
        { ...bare, upstream: ['all'] },
        {
          ...bare,
          name: 'own',
          auth: { token: { token: 'other' } },
          upstream: [{ ...asks, headers: {}, reply: { status: 500 } }],
          response: undefined,
          more: undefined,
          error: { error_code: 'api_error' },
        },
      ],
    }
    expect(await check(file)).toMatchObject({ ok: true, passed: ['lists', 'own'] })
    file.defaults.upstream.headers.authorization = 'another'
    expect(await errors(file)).toEqual([
      'lists: GET /users?after=: header authorization should be another, is a-token',
    ])
  })

  test('applies its defaults to a shared exchange too', async () => {
    const file = {
      defaults: { auth, upstream: { reply: { status: 503, headers: { 'retry-after': '7' } } } },
      exchanges: { busy: { ...asks, reply: {} } },
      cases: [
        {
          name: 'lists',
          capability: 'list_accounts',
          upstream: ['busy'],
          error: { error_code: 'service_error', message: 'after 7' },
        },
      ],
    }
    const code = LIST.replace(
      'if (!reply.ok)',
      "if (!reply.ok) throw new ConnectorError('service_error', 'after ' + reply.headers.get('retry-after'))\n if (!reply.ok)",
    )
    expect(await errors(file, code)).toEqual([])
  })

  test('shares exchanges with pages, and a case can unset a default', async () => {
    const two = [
      { upstream: [exchange(['a'], 'p2')], response: [{ integration_specific_id: 'a' }] },
      { upstream: ['last'], response: [{ integration_specific_id: 'b' }], more: false },
    ]
    const file = {
      $schema: 'http://127.0.0.1:8080/schemas/connector.cases.json',
      defaults: { auth, page: { size: 1 } },
      exchanges: { last: exchange(['b'], undefined, 'p2') },
      cases: [{ name: 'lists', capability: 'list_accounts', page: null, pages: two }],
    }
    expect(await errors(file)).toEqual([])
  })

  test.each([
    [
      { cases: [{ ...good, upstream: ['al'] }], exchanges: { all: exchange([]) } },
      'lists: upstream: there is no exchange "al"; `exchanges` has all',
    ],
    [{ cases: [good], default: {} }, 'default: there is no such field; did you mean defaults?'],
    [{ cases: [good], defaults: { setings: {} } }, 'defaults.setings: there is no such field'],
    [
      { cases: [{ ...good, upstream: [{ ...asks, reply: {} }] }] },
      'upstream[0].reply.status: missing',
    ],
    [{ defaults: { auth: null }, cases: [bare] }, 'auth: missing; send auth.token'],
  ])('that is wrong is reported with the reason: %j', async (file, words) => {
    expect((await errors(file)).join('\n')).toContain(words)
  })
})

describe('reports a fault only once:', () => {
  test('an unexpected request, without what follows from it', async () => {
    expect(await errors([{ ...good, upstream: [exchange(['a'], undefined, 'x')] }])).toEqual([
      'lists: unexpected request GET /users?after=; expected GET /users?after=x',
    ])
  })

  test('an unexpected error, without what follows from it', async () => {
    const pages = [
      { upstream: [exchange(['a'], 'p2')], response: [{ integration_specific_id: 'a' }] },
      { upstream: [exchange(['b'], undefined, 'p2')] },
    ]
    const code = `if (ctx.page.cursor) throw new ConnectorError('service_error', 'down')\n${LIST}`
    expect(
      await errors([{ name: 'lists', capability: 'list_accounts', auth: good.auth, pages }], code),
    ).toEqual([
      'lists: page 2: expected an answer, got the error service_error: down, raised in acme:list_accounts',
    ])
  })

  test.each([
    ['cases that cannot be read', '[{', 1],
    ['a case that cannot be read', [{ ...good, reponse: 1 }], 1],
  ])('%s, without a finding that the capability has no case', async (_name, cases, count) => {
    const found = await errors(cases)
    expect(found).toHaveLength(count)
    expect(found.join()).not.toContain('no case calls')
  })

  test('a case that cannot be read, and runs the others', async () => {
    const { passed } = await check([{ ...good, name: 'broken', reponse: 1 }, good])
    expect(passed).toEqual(['lists'])
  })
})

describe('a connector fails for', () => {
  test('no cases at all', async () => {
    expect(await errors(undefined)).toEqual([
      'connector.cases.json: no case calls list_accounts; write one, or record a real call: keyway dev DIRECTORY --record',
    ])
  })

  test.each([
    ['cases that are not JSON', '[', 'connector.cases.json: is not JSON'],
    ['cases that are not a list', '{}', 'connector.cases.json: must be a list of cases'],
    ['a case without a name', [{ ...good, name: undefined }], 'case 1: name: missing'],
    [
      'a case with an unknown member',
      [{ ...good, reponse: 1 }],
      'lists: reponse: there is no such field; did you mean response?',
    ],
    [
      'a case with an invalid request',
      [{ ...good, upstream: [{ request: 'users', reply: { status: 200 } }] }],
      'must look like `GET /v1/users',
    ],
    ['a case that is a list', [[good]], 'case 1: found a list; write an object'],
    ...(
      [
        ['request', { request: [] }],
        ['settings', { settings: ['x'] }],
        ['page', { page: [1] }],
        ['error', { error: [], response: undefined }],
        ['upstream[0]', { upstream: [[]] }],
        ['upstream[0].headers', { upstream: [{ ...exchange(['a']), headers: ['x'] }] }],
        ['upstream[0].reply', { upstream: [{ ...exchange(['a']), reply: [] }] }],
        [
          'pages[0].upstream[0].reply.headers',
          {
            upstream: [],
            pages: [{ upstream: [{ request: 'GET /', reply: { status: 200, headers: [] } }] }],
          },
        ],
      ] as const
    ).map(([at, changes]): [string, unknown, string] => [
      `a list in place of the object ${at}`,
      [{ ...good, ...changes }],
      `lists: ${at}: found a list; write an object`,
    ]),
    ...(
      [
        ['defaults', { defaults: [] }],
        ['defaults.settings', { defaults: { settings: [] } }],
        ['defaults.upstream.headers', { defaults: { upstream: { headers: [] } } }],
        ['exchanges', { exchanges: [] }],
        ['exchanges.login.reply', { exchanges: { login: { request: 'GET /', reply: [] } } }],
      ] as const
    ).map(([at, head]): [string, unknown, string] => [
      `a list in place of the shared object ${at}`,
      { ...head, cases: [good] },
      `connector.cases.json: ${at}: found a list; write an object`,
    ]),
  ])('%s', async (_name, cases, words) => {
    expect((await errors(cases)).join('\n')).toContain(words)
  })

  test.each([
    [
      'an error that is not a ConnectorError',
      'throw new TypeError("x")',
      'connector_threw: x (connector.ts:5:11); throw a ConnectorError',
    ],
    ['a reply of the wrong form', 'return [{ id: 1 }]', 'reply_invalid'],
    ['an endless loop', 'for (;;) {}', 'deadline_passed'],
    [
      'a request that its manifest does not allow',
      "await ctx.fetch('https://evil.example/')",
      'sends a request that its manifest does not allow',
    ],
    [
      'a method that its manifest does not allow',
      "await ctx.fetch('https://api.acme.example/', { method: 'DELETE' })",
      'sends a request that its manifest does not allow',
    ],
  ])('%s, found without any case', async (_name, body, words) => {
    expect((await errors([], body)).join('\n')).toContain(words)
  })

  test('settings that cannot be invented and that no case supplies', async () => {
    const settings = { region: { type: 'string', pattern: '(eu|us)-[0-9]{2}', required: true } }
    expect((await errors([], LIST, { settings })).join('\n')).toContain(
      'write a case with a valid request and valid settings',
    )
  })

  test('settings that cannot be invented, with one finding for all capabilities', async () => {
    const more = {
      settings: { region: { type: 'string', pattern: '(eu|us)-[0-9]{2}', required: true } },
      capabilities: { list_accounts: {}, list_resources: {} },
    }
    const found = await errors([], `${LIST}\n  },\n  list_resources() {\n    return []`, more)
    expect(found.filter((one) => one.includes('settings_invalid'))).toHaveLength(1)
  })

  test.each([
    ['a missing folder', '/nowhere/at/all', 'no such folder: /nowhere/at/all'],
    ['a folder without a manifest', '/etc/skel', 'there is no connector.json'],
  ])('%s', async (_name, directory, words) => {
    expect(await bench.check(directory)).toMatchObject({
      ok: false,
      findings: [{ severity: 'error', message: expect.stringContaining(words) }],
    })
  })

  test('a manifest that is wrong, with its id', async () => {
    expect(await check([good], LIST, { version: 'x' })).toMatchObject({
      ok: false,
      id: 'acme',
      version: 'x',
    })
  })

  test('code that kills its sandbox when it loads', async () => {
    const directory = temporaryFolder()
    await write(directory, {
      'connector.json': JSON.stringify(manifestOf({ capabilities: { list_accounts: {} } })),
      'connector.ts': `"x".repeat(2 ** 28).split("")\nexport default {}`,
    })
    expect((await bench.check(directory)).ok).toBe(false)
  })
})
