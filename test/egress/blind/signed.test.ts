/** What the host signs when a request is sent, as a real upstream receives it. */
import { generateKeyPairSync } from 'node:crypto'
import { jwtVerify } from 'jose'
import { afterEach, expect, test } from 'vitest'
import { signPlaceholder } from '../../../runtime/contract/connector/placeholder.ts'
import { errorOf, get, openEgress, openedEgresses } from '../fixtures/open-egress.ts'
import { sealed } from '../fixtures/secrets.ts'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const private_key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
const key_pair = { key_identifier: 'k1', private_key }
const oauth1 = { consumer_key: 'ck', consumer_secret: 'cs', token_id: 'ti', token_secret: 'ts' }

/** A call with these credentials, a signing helper, and an upstream that echoes. */
async function scene(given: Parameters<typeof sealed>[0], fields = {}, egress = {}) {
  const { port, origin, seen } = await startUpstream((request, response) => {
    if (request.url === '/from') response.writeHead(307, { location: '/to?x=1' })
    response.end(JSON.stringify(request.headers))
  })
  const secrets = sealed(given, fields)
  const client = openEgress({
    egress: [{ url: origin, ...egress }],
    grants: `acme=127.0.0.1:${port}`,
    call: { secrets },
  })
  const sign = (name: string, options: object = {}) =>
    signPlaceholder(
      secrets.marks,
      secrets.call,
      Buffer.from(JSON.stringify({ do: name, options })).toString('hex'),
    )
  const send = (headers: [string, string][], path = '/', body: string | null = null) =>
    client.fetch(
      get(`${origin}${path}`, {
        method: 'POST',
        headers,
        body: body === null ? null : Buffer.from(body),
      }),
    )
  return { seen, secrets, sign, send }
}

test('a token is signed once, when it is first sent, and is echoed as its placeholder', async () => {
  const { seen, sign, send } = await scene({ auth: { key_pair } })
  const asked = sign('jwt', { claims: { sub: 'jo' } })
  const reply = await send([['authorization', `Bearer ${asked}`]])
  await send([['content-type', 'application/json']], '/', JSON.stringify({ assertion: asked }))
  const [, token = ''] = String(seen[0]?.headers['authorization']).split(' ')
  expect((await jwtVerify(token, publicKey)).payload.sub).toBe('jo')
  expect(JSON.parse(seen[1]?.body ?? '').assertion).toBe(token)
  expect(`${reply.body}`).toContain(asked)
  expect(`${reply.body}`).not.toContain(token)
})

test('a secret setting can sign, and so can one of several credentials, chosen by its id', async () => {
  const { seen, sign, send, secrets } = await scene(
    {
      credentials: { a: { key_pair }, b: { key_pair: { ...key_pair, key_identifier: 'k2' } } },
      settings: { shared: 'x'.repeat(40) },
    },
    { shared: { type: 'string', secret: true } },
  )
  await send([
    ['x-a', sign('jwt', { key: secrets.sealed.settings['shared'] })],
    ['x-b', sign('jwt', { credential: 'b' })],
  ])
  const head = (name: string) =>
    JSON.parse(
      Buffer.from(String(seen[0]?.headers[name]).split('.')[0] ?? '', 'base64url').toString(),
    )
  expect([head('x-a'), head('x-b')]).toMatchObject([{ alg: 'HS256' }, { alg: 'RS256', kid: 'k2' }])
  expect((await errorOf(send([['x', sign('jwt')]]))).message).toMatch(
    /several credentials that fit \(a, b\)/,
  )
})

test('a request is signed as it is sent, again at every hop', async () => {
  const { seen, sign, send } = await scene({ auth: { oauth1 } })
  await send([['authorization', sign('oauth1')]], '/from')
  const signatures = seen.map(
    ({ headers }) => /oauth_signature="([^"]+)"/.exec(String(headers['authorization']))?.[1],
  )
  expect(signatures.filter(Boolean)).toHaveLength(2)
  expect(signatures[0]).not.toBe(signatures[1])
})

test('a signature is echoed as its placeholder', async () => {
  const { seen, sign, send } = await scene({ auth: { key_pair } })
  const asked = sign('aws', { service: 's3', region: 'eu-west-1' })
  const reply = await send([['authorization', asked]])
  const signature =
    /Signature=([0-9a-f]{64})/.exec(String(seen[0]?.headers['authorization']))?.[1] ?? ''
  expect(seen[0]?.headers['x-amz-date']).toMatch(/^\d{8}T\d{6}Z$/)
  expect(`${reply.body}`).toContain(asked)
  expect(`${reply.body}`).not.toContain(signature)
})

test.each<[string, object, RegExp]>([
  ['jwt', { alg: 'none' }, /alg/],
  ['jwt', { surprise: 1 }, /surprise/],
  ['jwt', { credential: 'nobody' }, /nobody/],
  ['jwt', { key: 'plain text' }, /no secret of this call/],
  ['service_account', {}, /service_account/],
  ['oauth1', {}, /kind oauth1/],
  ['aws', { service: 'a b', region: 'x' }, /is not a name/],
  ['constructor', {}, /cannot be read/],
])('%s with %j is refused with a message', async (name, options, words) => {
  const { seen, sign, send } = await scene({ auth: { key_pair } })
  const error = await errorOf(send([['authorization', sign(name, options)]]))
  expect(error).toMatchObject({ code: 'egress_secret', message: expect.stringMatching(words) })
  expect(seen).toEqual([])
})

test('a secret cannot be a claim, a request signature stands alone, and the key’s egress limits apply', async () => {
  const { sign, send, secrets } = await scene({ auth: { key_pair } })
  const claims = { key: secrets.sealed.auth?.key_pair?.private_key }
  expect((await errorOf(send([['x', sign('jwt', { claims })]]))).message).toMatch(/can be read/)
  const aws = sign('aws', { service: 'a', region: 'b' })
  expect((await errorOf(send([['x', aws]]))).message).toMatch(/Authorization header/)
  expect((await errorOf(send([['authorization', `x ${aws}`]]))).message).toMatch(
    /Authorization header/,
  )
  const narrow = await scene({ auth: { key_pair } }, {}, { secrets: [] })
  for (const asked of [narrow.sign('jwt'), narrow.sign('aws', { service: 'a', region: 'b' })])
    expect((await errorOf(narrow.send([['authorization', asked]]))).message).toMatch(/may not go/)
  expect(narrow.seen).toEqual([])
})

test('a call is limited to 100 signatures', async () => {
  const { sign, send } = await scene({ auth: { oauth1 } })
  for (let turn = 0; turn < 100; turn += 1) await send([['authorization', sign('oauth1')]])
  expect((await errorOf(send([['authorization', sign('oauth1')]]))).message).toMatch(
    /100 signatures/,
  )
})
