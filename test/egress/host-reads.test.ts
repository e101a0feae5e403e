/** The host itself parses only small replies: a large one would block all other calls. */
import { afterEach, expect, test } from 'vitest'
import { errorInBody } from '../../runtime/egress/call/body-errors.ts'
import { capture } from '../../runtime/egress/login/capture.ts'
import { errorOf, openedEgresses, thrownBy } from './fixtures/open-egress.ts'
import { startUpstream, stopAll } from './fixtures/upstream.ts'
import { CLIENT, declaring, open } from './oauth/fixtures.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const padding = ' '.repeat(300_000)
const reply = (body: string) => ({
  status: 200,
  url: 'https://acme.example/',
  redirected: false,
  headers: [['content-type', 'application/json']] as [string, string][],
  body: Buffer.from(body),
})

test('an error in the body of a large reply is left to the connector', () => {
  const declared = { when: { json: '/ok', equals: false }, code: '/error', map: {} }
  const body = '{"ok":false,"error":"wrong"}'
  expect(errorInBody(reply(body), declared)).toMatchObject({ code: 'upstream_said' })
  expect(errorInBody(reply(body + padding), declared)).toBe(null)
})

test('a large reply to a login is not searched for a token', async () => {
  const declared = { capture: { json: '/token' } } as never
  const body = '{"token":"a-token"}'
  expect(capture(reply(body), declared, 0, String).value).toBe('a-token')
  expect(await thrownBy(() => capture(reply(body + padding), declared, 0, String))).toMatchObject({
    code: 'exchange_empty',
  })
})

test('a large reply of a token endpoint is refused as garbled', async () => {
  const { origin } = await startUpstream((_request, response) =>
    response.end(`{"access_token":"a-token"}${padding}`),
  )
  const { ask, close } = open(declaring({ flow: 'CLIENT_CREDENTIALS' }), origin)
  const asked = ask('refresh_access_token', { ...CLIENT, refresh_token: 'r' })
  expect((await errorOf(asked)).code).toBe('oauth_garbled')
  await close()
})
