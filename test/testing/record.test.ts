/** Cases that are recorded from real exchanges with a system that echoes every secret. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FolderHost, openFolderHost } from '../../runtime/cli/folder-host.ts'
import { type Recorded, recordedLine, recordInto } from '../../runtime/cli/recording.ts'
import { readConfig } from '../../runtime/config/config.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { type CheckBench, openCheckBench } from '../../runtime/testing/check-connector.ts'
import { temporaryFolder, write } from '../connectors/registry/fixtures/folders.ts'

const PASSWORD = 'p4ss w"örd/+of-jo'
const KEY = 'settings-key-0123456789'
const SESSION = 'session-of-the-login-42'
const SECRETS = [PASSWORD, KEY, SESSION, btoa(`jo:${encodeURIComponent(PASSWORD)}`)]

let folder: string
let upstream: Server
let origin: string
let opened: FolderHost
let bench: CheckBench
const recordings: Recorded[] = []
let idle: () => Promise<void>
/** Number of requests to each path. */
const asked = new Map<string, number>()

const CODE = `// @ts-nocheck
import { ConnectorError, defineConnector, paged } from 'keyway/sdk'
const ask = async (ctx, at, init = {}) => {
  const reply = await ctx.fetch(ctx.settings.base_url + at, { ...init, headers: { authorization: ctx.basic(), 'x-key': ctx.settings.key, ...init.headers } })
  if (!reply.ok) throw await ConnectorError.from(reply)
  return reply
}
export default defineConnector({
  async list_accounts(_request, ctx) {
    const reply = await ask(ctx, '/users?key=' + ctx.settings.key + '&page=' + (ctx.page.cursor ?? 1))
    const { users } = await reply.json()
    return paged(users.map(({ id, seen }) => ({ integration_specific_id: id, given_name: seen })), reply.headers.get('x-next'))
  },
  async get_account(request, ctx) {
    const reply = await ask(ctx, '/users/' + request.account_id, request.account_id === 'clock' ? { method: 'GET', headers: {} } : {})
    const { id, echo } = await reply.json()
    if (id === 'refused') throw new ConnectorError('client_call_error', 'it has no such call')
    if (id === 'undeclared') await ctx.fetch('https://elsewhere.example/users')
    if (id === 'thrown') throw new TypeError('undefined is not a function')
    return { integration_specific_id: id, given_name: typeof echo }
  },
  async create_account(request, ctx) {
    const reply = await ask(ctx, '/users', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ mail: request.email, password: ctx.auth.basic.password, nonce: Math.random() }) })
    const { id, session } = await reply.json()
    await ask(ctx, '/sessions/' + session, { method: 'DELETE' })
    return { status: 'ACTIVE', created: id !== '' }
  },
  async list_entitlements(_request, ctx) {
    await ask(ctx, '/since?time=' + Date.now())
    return []
  },
})`

async function answer(request: IncomingMessage) {
  let body = ''
  for await (const chunk of request) body += chunk
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
  const { authorization = '', 'x-key': key = '' } = request.headers
  const pair = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString()
  asked.set(pathname, (asked.get(pathname) ?? 0) + 1)
  const echo = {
    authorization,
    pair,
    key,
    body,
    query: encodeURIComponent(String(key)),
    html: pair.replaceAll('"', '&quot;'),
  }
  if (pathname === '/users/u9') return { status: 404, json: { error: `no u9 for ${pair}` } }
  if (pathname === '/users/once' && (asked.get(pathname) ?? 0) > 1)
    return { status: 404, json: { error: 'gone' } }
  if (pathname === '/users/short') return { json: { id: 'short', echo: 'tiny' } }
  if (pathname.startsWith('/users/'))
    return { json: { id: pathname.slice(7), echo: JSON.stringify(echo) } }
  if (request.method === 'POST')
    return {
      json: {
        id: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
        session: SESSION,
        request_id: crypto.randomUUID(),
        at: new Date().toISOString(),
      },
    }
  if (pathname.startsWith('/sessions/')) return { status: pathname.endsWith(SESSION) ? 204 : 404 }
  const page = Number(searchParams.get('page') ?? 1)
  return {
    headers: page < 3 ? { 'x-next': String(page + 1) } : {},
    json: { users: [{ id: `u${page}`, seen: new Date().toISOString() }], echo },
  }
}

beforeAll(async () => {
  upstream = createServer(async (request, reply) => {
    const {
      status = 200,
      headers = {},
      json,
    } = (await answer(request)) as { status?: number; headers?: object; json?: object }
    reply.writeHead(status, {
      'content-type': 'application/json',
      'x-request-id': crypto.randomUUID(),
      'x-odd': 'y',
      ...headers,
    })
    reply.end(json && JSON.stringify(json))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  folder = path.join(temporaryFolder(), 'acme')
  await mkdir(folder, { recursive: true })
  await write(folder, {
    'connector.json': JSON.stringify({
      id: 'acme',
      version: '1.0.0',
      runtime: '^1.0.0',
      authentication_schema: { kind: 'basic' },
      settings: {
        base_url: { type: 'string', format: 'url', required: true },
        key: { type: 'string', secret: true, required: true },
      },
      egress: [{ url: '{settings.base_url}', methods: ['GET', 'POST', 'DELETE'] }],
      capabilities: {
        list_accounts: {},
        get_account: {},
        create_account: {},
        list_entitlements: {},
      },
      entitlement_types: [{ type_id: 'ROLE', type_label: 'Role', resource_type_id: '', min: 0 }],
    }),
    'connector.ts': CODE,
  })
  const config = readConfig({
    KEYWAY_DATA_DIR: temporaryFolder(),
    KEYWAY_PRIVATE_EGRESS: `acme=${origin.slice(7)}`,
    KEYWAY_LOG_LEVEL: 'silent',
    PORT: '0',
  })
  const recording = recordInto(folder, (one) => recordings.push(one))
  idle = recording.idle
  opened = await openFolderHost(folder, config, createLog('silent'), {}, recording)
  recording.use(opened.host)
  await opened.host.settled
  bench = await openCheckBench()
})
afterAll(async () => {
  await opened.host.stop()
  await opened.leave()
  await bench.close()
  upstream.close()
})

/** Calls a capability; returns the answer, the outcome of the recording, and the cases of the file. */
async function called(capability: string, request: object, more: object = {}) {
  const answered = await opened.host
    .invoke({
      connectorId: 'acme',
      capability,
      text: JSON.stringify({
        auth: { basic: { username: 'jo', password: PASSWORD } },
        settings: { base_url: origin, key: KEY },
        request,
        ...more,
      }),
      requestId: 'r',
      signal: new AbortController().signal,
    })
    .then(
      ({ body }) => JSON.parse(String(body)),
      (error: Error) => error,
    )
  await idle()
  const text = await readFile(path.join(folder, 'connector.cases.json'), 'utf8').catch(() => '[]')
  for (const secret of SECRETS) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain(encodeURIComponent(secret))
    expect(text).not.toContain(JSON.stringify(JSON.stringify(secret)).slice(1, -1))
    expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, -4))
  }
  const file = JSON.parse(text)
  return { answered, recordings: recordings.at(-1), cases: file.cases ?? file, text }
}

test('a call is recorded as a case that passes, with invented secrets in place of echoed ones', async () => {
  const { cases, recordings: last } = await called('get_account', { account_id: 'u1' })
  expect(last).toEqual({
    capability: 'get_account',
    written: {
      name: 'recorded get_account: u1',
      capability: 'get_account',
      line: 3,
      replaces: false,
      error: null,
    },
  })
  expect(cases).toHaveLength(1)
  const [one] = cases
  expect(one).toMatchObject({
    request: { account_id: 'u1' },
    auth: { basic: { username: 'jo', password: 'invented-secret-password' } },
    settings: { base_url: origin, key: 'invented-secret-key' },
    upstream: [
      {
        request: 'GET /users/u1',
        headers: { authorization: `Basic ${btoa('jo:invented-secret-password')}` },
      },
    ],
  })
  expect(one.upstream[0].reply.headers).toBeUndefined()
  const { findings, passed } = await bench.check(folder)
  expect(passed).toEqual(['recorded get_account: u1'])
  expect(findings.filter(({ where }) => where.startsWith('recorded'))).toEqual([])
})

test('a repeated call replaces its case with the same text', async () => {
  const first = await called('get_account', { account_id: 'u1' })
  const second = await called('get_account', { account_id: 'u1' })
  expect(second.text).toBe(first.text)
  expect(recordings.at(-1)).toMatchObject({ written: { replaces: true } })
})

test('calls that differ only in what their names leave out become separate cases', async () => {
  const entitlement = { entitlement_type: 'ROLE', integration_specific_resource_id: '' }
  for (const id of ['r1', 'r2'])
    await called('create_account', {
      email: 'jo@example.com',
      entitlements: [{ ...entitlement, integration_specific_id: id }],
    })
  const names = recordings.slice(-2).map((one) => 'written' in one && one.written.name)
  expect(new Set(names).size).toBe(2)
  for (const name of names) expect(name).toMatch(/^recorded create_account: .*\.\.\. [0-9a-f]{8}$/)
})

test('calls whose names begin alike become separate cases, and so does a call that fails', async () => {
  const letters = 'x'.repeat(50)
  for (const id of [`u1?${letters.repeat(4)}1`, `u1?${letters.repeat(4)}2`, 'once', 'once'])
    await called('get_account', { account_id: id })
  const { cases } = await called('get_account', { account_id: 'once' })
  const names: string[] = cases.map(({ name }: { name: string }) => name)
  const long = names.filter((name) => name.includes('u1?xxx'))
  expect(long).toHaveLength(2)
  for (const name of long) expect(name.length).toBeLessThanOrEqual(80)
  expect(names.filter((name) => name.includes('once'))).toEqual([
    'recorded get_account: once',
    'recorded get_account: once (not_found)',
  ])
  // The warning matters: a recorded mistake is a case that passes for ever.
  const ofError = recordings.find(
    (one) => 'written' in one && one.written.name.endsWith('(not_found)'),
  )
  expect(ofError && recordedLine(ofError)).toContain('from now on it expects not_found: delete it')
})

test('calls whose values are those of different fields become separate cases', async () => {
  const requests = [{ given_name: 'Jo' }, { family_name: 'Jo' }, { given_name: 'Jo' }]
  for (const request of requests)
    await called('create_account', { email: 'x@y.example', entitlements: [], ...request })
  const written = recordings.slice(-3).map((one) => 'written' in one && one.written)
  expect(written.map((one) => one && [one.name, one.replaces])).toEqual([
    ['recorded create_account: x@y.example, Jo', false],
    [expect.stringMatching(/^recorded create_account: x@y\.example, Jo\.\.\. [0-9a-f]{8}$/), false],
    ['recorded create_account: x@y.example, Jo', true],
  ])
})

test('a case recorded by an earlier version keeps its name when its call is repeated', async () => {
  const { text } = await called('get_account', { account_id: 'former' })
  const former = 'recorded get_account: account_id former'
  await writeFile(
    path.join(folder, 'connector.cases.json'),
    text.replace('recorded get_account: former', former),
  )
  await called('get_account', { account_id: 'former' })
  expect(recordings.at(-1)).toMatchObject({ written: { name: former, replaces: true } })
})

test('pages of one sequence become one case, with stable times and only the headers that matter', async () => {
  const first = await called('list_accounts', {}, { page: { size: 1 } })
  const { cases } = await called(
    'list_accounts',
    {},
    { page: { token: first.answered.page.token } },
  )
  const one = cases.find(({ name }: { name: string }) => name === 'recorded list_accounts')
  expect(one.page).toEqual({ size: 1 })
  expect(one.pages).toHaveLength(2)
  expect(one.pages[0]).toMatchObject({
    upstream: [
      {
        request: 'GET /users?key=invented-secret-key&page=1',
        reply: {
          headers: { 'x-next': '2' },
          body: { users: [{ id: 'u1', seen: '2026-01-01T00:00:00.000Z' }] },
        },
      },
    ],
    more: true,
  })
  const text = (await called('list_accounts', {}, { page: { size: 1 } })).text
  expect(text).toContain('"request": "GET /users?key=invented-secret-key&page=1"')
})

test('the last page of a recorded list says that no page follows', async () => {
  let page: object = { size: 1 }
  for (;;) {
    const { answered, cases } = await called('list_accounts', {}, { page })
    if (answered.page !== null) {
      page = { token: answered.page.token }
      continue
    }
    const one = cases.find(({ name }: { name: string }) => name === 'recorded list_accounts')
    expect(one.pages.length).toBeGreaterThan(1)
    expect(one.pages.map(({ more }: { more: boolean }) => more)).toEqual([
      ...one.pages.slice(1).map(() => true),
      false,
    ])
    return
  }
})

test('a secret from the system is replaced where it is used, and random values are not compared', async () => {
  const { cases } = await called('create_account', { email: 'jo@example.com', entitlements: [] })
  expect(recordings.at(-1)).toMatchObject({ written: { capability: 'create_account' } })
  const one = cases.find(
    ({ capability }: { capability: string }) => capability === 'create_account',
  )
  expect(one.upstream.map(({ request }: { request: string }) => request)).toEqual([
    'POST /users',
    'DELETE /sessions/invented-secret-session',
  ])
  expect(one.upstream[0].body).toBeUndefined()
  expect(one.upstream[0].reply.body).toMatchObject({
    id: '00000000-0000-4000-8000-000000000001',
    request_id: '00000000-0000-4000-8000-000000000002',
    at: '2026-01-01T00:00:00.000Z',
  })
})

test('an error of the system is recorded as a case', async () => {
  const { cases } = await called('get_account', { account_id: 'u9' })
  expect(cases.find(({ name }: { name: string }) => name.includes('u9'))).toMatchObject({
    error: { error_code: 'not_found', status_code: 404 },
  })
})

test('defaults of the file replace the secrets of a case, and are not repeated in it', async () => {
  const file = path.join(folder, 'connector.cases.json')
  const auth = { basic: { username: 'jo', password: 'of-the-defaults' } }
  const settings = { base_url: origin, key: 'key-of-the-defaults' }
  await writeFile(
    file,
    JSON.stringify({
      defaults: { auth, settings, upstream: { reply: { status: 200 } } },
      cases: [],
    }),
  )
  const { cases } = await called('get_account', { account_id: 'u1' })
  expect(Object.keys(cases[0])).toEqual(['name', 'capability', 'request', 'upstream', 'response'])
  expect(cases[0].upstream[0].headers.authorization).toBe(`Basic ${btoa('jo:of-the-defaults')}`)
})

test.each([
  ['its requests depend on the clock', 'list_entitlements', {}, {}, 'which was not recorded'],
  [
    'a secret is too short to be recordings from other text',
    'get_account',
    { account_id: 'short' },
    { auth: { basic: { username: 'jo', password: 'tiny' } } },
    'it would contain a secret',
  ],
  [
    'its upstream does not answer',
    'get_account',
    { account_id: 'u1' },
    { settings: { base_url: 'https://127.0.0.1:1', key: KEY } },
    'did not answer',
  ],
  [
    'the connector makes an unknown call',
    'get_account',
    { account_id: 'refused' },
    {},
    'the connector has a defect, client_call_error: it has no such call',
  ],
  [
    'the connector sends what its manifest does not declare',
    'get_account',
    { account_id: 'undeclared' },
    {},
    'the connector has a defect, permission_denied: ',
  ],
  [
    'the code of the connector throws',
    'get_account',
    { account_id: 'thrown' },
    {},
    'the connector has a defect, unexpected_error: ',
  ],
])('nothing is recorded when %s', async (_name, capability, request, more, words) => {
  const before = await readFile(path.join(folder, 'connector.cases.json'), 'utf8')
  const { recordings: last, text } = await called(capability, request, more)
  expect(last).toEqual({ capability, refused: expect.stringContaining(words) })
  expect(text).toBe(before)
})
