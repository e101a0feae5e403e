/** Authorization servers that echo a secret: neither a message nor raw data contains it or a part of it. */
import { afterAll, expect, test } from 'vitest'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'
import { CLIENT, declaring, open } from './fixtures.ts'

afterAll(stopAll)

const REFRESH = { ...CLIENT, refresh_token: 'the-refresh-token' }

async function refreshAgainst(status: number, page: (authorization: string) => string) {
  const { origin } = await startUpstream(({ headers }, response) =>
    response.writeHead(status).end(page(String(headers.authorization))),
  )
  const declared = { flow: 'CLIENT_CREDENTIALS', client_authentication: 'CLIENT_SECRET_BASIC' }
  return open(declaring(declared), origin)
}

async function refusedWith(page: (authorization: string) => string) {
  const { refusal, close } = await refreshAgainst(400, page)
  return (await refusal('refresh_access_token', REFRESH).finally(close)).message
}

test('a secret within which the message is truncated is removed', async () => {
  const message = await refusedWith(() => `${'x'.repeat(790)} ${CLIENT.client_secret}`)
  expect(message).toContain('xxx')
  expect(message).not.toContain('the-secr')
})

test('the encoded pair of the Authorization header is removed', async () => {
  const message = await refusedWith((authorization) => `you sent ${authorization}`)
  expect(message).toContain('you sent Basic [secret]')
})

test('the encoded pair of the Authorization header is removed from raw data', async () => {
  const { ask, close } = await refreshAgainst(200, (authorization) =>
    JSON.stringify({ access_token: 'at', debug: { [authorization]: [authorization] } }),
  )
  const { raw } = await ask('refresh_access_token', REFRESH).finally(close)
  expect(raw).toEqual({ access_token: 'at', debug: { 'Basic [secret]': ['Basic [secret]'] } })
})
