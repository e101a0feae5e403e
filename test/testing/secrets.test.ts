/** Cases of connectors that never see a secret. They are compared with the requests that would be sent. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CheckBench, openCheckBench } from '../../runtime/testing/check-connector.ts'
import { manifestOf, temporaryFolder, write } from '../connectors/registry/fixtures/folders.ts'

let bench: CheckBench
beforeAll(async () => {
  bench = await openCheckBench()
})
afterAll(() => bench.close())

const EGRESS = [{ url: 'https://api.acme.example', methods: ['GET', 'POST'] }]

/** The errors that a check finds for a connector with this handler and one case. */
async function errors(handler: string, one: object, changes: object): Promise<string[]> {
  const directory = temporaryFolder()
  const manifest = manifestOf({
    egress: EGRESS,
    capabilities: { list_accounts: {} },
    ...changes,
  })
  const connector = `// @ts-nocheck
import { defineConnector, paged } from 'keyway/sdk'
export default defineConnector({ async list_accounts(_request, ctx) { ${handler} } })`
  const cases = [{ name: 'lists', capability: 'list_accounts', response: [], ...one }]
  await write(directory, {
    'connector.json': JSON.stringify(manifest),
    'connector.ts': connector,
    'connector.cases.json': JSON.stringify(cases),
  })
  const { findings } = await bench.check(directory)
  return findings.filter(({ severity }) => severity === 'error').map(({ message }) => message)
}

const BASIC = { authentication_schema: { kind: 'basic' } }
const basic = { auth: { basic: { username: 'jo', password: 'p w"d' } } }
const body = { status: 200, body: {} }

test('a case contains the secrets that are sent', async () => {
  const handler = `
    await ctx.fetch('https://api.acme.example/a?key=' + ctx.auth.basic.password, {
      method: 'POST',
      headers: { authorization: ctx.basic(), 'content-type': 'application/json' },
      body: JSON.stringify({ password: ctx.auth.basic.password }),
    })
    return []`
  const upstream = [
    {
      request: 'POST /a?key=p%20w%22d',
      headers: { authorization: `Basic ${btoa('jo:p w"d')}` },
      body: { password: 'p w"d' },
      reply: body,
    },
  ]
  expect(await errors(handler, { ...basic, upstream }, BASIC)).toEqual([])
})

test('a secret in the wrong place fails the case with a message', async () => {
  const handler = `await ctx.fetch('https://api.acme.example/' + ctx.auth.basic.password); return []`
  const [told] = await errors(handler, { ...basic, upstream: [] }, BASIC)
  expect(told).toMatch(/Keyway\.EgressPolicy|permission_denied/)
  expect(told).toMatch(/in the path/)
})

test('a login is one of the requests of a case, once for all its pages', async () => {
  const manifest = {
    ...BASIC,
    exchange: {
      request: {
        url: 'https://api.acme.example/login',
        json: { user: '{auth.basic.username}', password: '{auth.basic.password}' },
      },
      capture: { json: '/token' },
      use: { header: 'x-token' },
    },
  }
  const handler = `
    await ctx.fetch('https://api.acme.example/a')
    return paged([], ctx.page.cursor === null ? 2 : null)`
  const asked = { request: 'GET /a', headers: { 'x-token': 'the-captured-token' }, reply: body }
  const login = {
    request: 'POST /login',
    body: { user: 'jo', password: 'p w"d' },
    reply: { status: 200, body: { token: 'the-captured-token' } },
  }
  const pages = [
    { upstream: [login, asked], response: [] },
    { upstream: [asked], response: [] },
  ]
  expect(await errors(handler, { ...basic, response: undefined, pages }, manifest)).toEqual([])
})

test('a secret in clear_secrets is visible to the connector', async () => {
  const clear_secrets = [{ field: 'basic.password', because: 'The system wants it hashed.' }]
  const handler = `return [{ integration_specific_id: ctx.auth.basic.password }]`
  const response = [{ integration_specific_id: 'p w"d' }]
  expect(await errors(handler, { ...basic, response }, { ...BASIC, clear_secrets })).toEqual([])
})
