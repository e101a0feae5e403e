/** A login that the operator revokes while one of its requests waits. */
import { afterAll, expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { until } from '../../e2e/until.ts'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'
import { CLIENT, declaring, open } from './fixtures.ts'

afterAll(stopAll)

test('a request whose turn comes after its login was revoked sends no secret', async () => {
  const held = Promise.withResolvers<void>()
  const { origin, seen } = await startUpstream((_request, response) => {
    void held.promise.then(() =>
      response.setHeader('content-type', 'application/json').end('{"access_token":"a-token"}'),
    )
  })
  const manifest = declaring({ flow: 'CLIENT_CREDENTIALS' }, { limits: { concurrent_requests: 1 } })
  let mayBeWithdrawn = false
  const { ask, refusal, close } = open(manifest, origin, undefined, () => {
    if (mayBeWithdrawn) throw new RuntimeError('egress_undeclared', 'taken away')
    return manifest
  })
  const request = { ...CLIENT, scopes: [] }
  const first = ask('handle_client_credentials_request', request)
  await until('the first request has arrived', () => seen.length === 1)
  const second = refusal('handle_client_credentials_request', request)
  mayBeWithdrawn = true
  held.resolve()
  await first
  expect((await second).code).toBe('egress_undeclared')
  expect(seen).toHaveLength(1)
  await close()
})

test('a refresh that waits for its turn ends at once when it is revoked; one already sent goes on', async () => {
  const held = Promise.withResolvers<void>()
  const { origin, seen } = await startUpstream((_request, response) => {
    void held.promise.then(() =>
      response.setHeader('content-type', 'application/json').end('{"access_token":"a-token"}'),
    )
  })
  const manifest = declaring({ flow: 'CODE_FLOW' }, { limits: { concurrent_requests: 1 } })
  let mayBeWithdrawn = false
  const { ask, refusal, close, judgeAgain } = open(manifest, origin, undefined, () => {
    if (mayBeWithdrawn) throw new RuntimeError('egress_undeclared', 'taken away')
    return manifest
  })
  const request = (token: string) => ({ ...CLIENT, refresh_token: token })
  const first = ask('refresh_access_token', request('the-first-refresh-token'))
  await until('the first request has arrived', () => seen.length === 1)
  const second = refusal('refresh_access_token', request('the-second-refresh-token'))
  // By then it waits for its turn.
  await new Promise((resolve) => setTimeout(resolve, 50))
  mayBeWithdrawn = true
  judgeAgain()
  expect((await second).code).toBe('egress_undeclared')
  held.resolve()
  expect((await first).response).toMatchObject({ access_token: 'a-token' })
  expect(seen).toHaveLength(1)
  await close()
})
