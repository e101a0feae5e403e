import { afterEach, describe, expect, test } from 'vitest'
import { errorOf, get, manifestOf, openEgress, openedEgresses } from '../fixtures/open-egress.ts'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const SLACK = {
  when: { json: '/ok', equals: false },
  code: '/error',
  map: { invalid_auth: 'unauthenticated', ratelimited: 'rate_limit' },
}

async function ask(
  body: string,
  { type = 'application/json', status = 200, declared = SLACK as object | null } = {},
) {
  const { port, origin } = await startUpstream(
    (_request, response) => void response.writeHead(status, { 'content-type': type }).end(body),
  )
  const egress = [{ url: `http://127.0.0.1:${port}` }]
  const manifest = manifestOf(egress, declared ? { errors_in_body: declared } : {})
  const client = openEgress({ egress, grants: `acme=127.0.0.1:${port}`, call: { manifest } })
  return client.fetch(get(`${origin}/users.list?token=x`))
}

describe('an error in the body of a 200 is reported', () => {
  test('with its own code and the code of the table', async () => {
    expect(await errorOf(ask('{"ok":false,"error":"invalid_auth"}'))).toMatchObject({
      code: 'upstream_said',
      message: expect.stringMatching(
        /^\[200\]\[http:\/\/127.0.0.1:\d+\/users.list\] .*invalid_auth/,
      ),
      details: { wire: 'unauthenticated', statusCode: 200, appErrorCode: 'invalid_auth' },
    })
  })

  test.each([
    ['a code that is not in the table', '{"ok":false,"error":"odd"}', 'odd'],
    ['the name of a built-in member', '{"ok":false,"error":"constructor"}', 'constructor'],
    ['a number', '{"ok":false,"error":7}', '7'],
    ['no code', '{"ok":false}', undefined],
    ['a code that is an object', '{"ok":false,"error":{}}', undefined],
  ])('with %s', async (_what, body, appErrorCode) => {
    const { details } = await errorOf(ask(body))
    expect(details).toMatchObject({ wire: 'api_error' })
    expect(details.appErrorCode).toBe(appErrorCode)
  })

  test('when the declared value is a whole object', async () => {
    const declared = { ...SLACK, when: { json: '/a~1b/c', equals: { d: [1] } } }
    expect(await errorOf(ask('{"a/b":{"c":{"d":[1]}}}', { declared }))).toBeDefined()
  })
})

describe('a member whose presence decides', () => {
  const by = (exists: boolean) => ({ declared: { ...SLACK, when: { json: '/error', exists } } })

  test.each([
    [true, '{"error":"invalid_auth"}'],
    [true, '{"error":null}'],
    [true, '{"error":false}'],
    [false, '{"data":[]}'],
    [false, '[]'],
    [false, '{"__proto__":{"error":1}}'],
  ])('exists %s: %s is an error', async (exists, body) => {
    expect((await errorOf(ask(body, by(exists)))).code).toBe('upstream_said')
  })

  test.each([
    [true, '{"data":[]}'],
    [true, '[{"error":1}]'],
    [true, '7'],
    [false, '{"error":null}'],
    [false, '{broken'],
  ])('exists %s: %s is not an error', async (exists, body) => {
    expect((await ask(body, by(exists))).status).toBe(200)
  })
})

describe('an answer is returned unchanged', () => {
  test.each<[string, string, Parameters<typeof ask>[1]]>([
    ['that reports no error', '{"ok":true}', {}],
    ['that is not JSON', 'ok=false', { type: 'text/plain' }],
    ['with invalid JSON', '{"ok":fal', {}],
    ['whose member is inherited', '{"__proto__":{"ok":false}}', {}],
    ['without a body', '', {}],
    ['with a failing status', '{"ok":false,"error":"invalid_auth"}', { status: 401 }],
    ['of a connector without errors_in_body', '{"ok":false}', { declared: null }],
  ])('%s', async (_what, body, more) => {
    expect((await ask(body, more)).body.toString()).toBe(body)
  })
})
