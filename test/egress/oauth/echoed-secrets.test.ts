/** Authorization servers that echo a secret in an error: no message contains it or a part of it. */
import { afterAll, expect, test } from 'vitest'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'
import { CLIENT, declaring, open } from './fixtures.ts'

afterAll(stopAll)

const REFRESH = { ...CLIENT, refresh_token: 'the-refresh-token' }

async function refusedWith(page: (authorization: string) => string) {
  const { origin } = await startUpstream(({ headers }, response) =>
    response.writeHead(400).end(page(String(headers.authorization))),
  )
  const declared = { flow: 'CLIENT_CREDENTIALS', client_authentication: 'CLIENT_SECRET_BASIC' }
  const { refusal, close } = open(declaring(declared), origin)
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
