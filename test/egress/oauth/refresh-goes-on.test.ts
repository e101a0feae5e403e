/** A started refresh uses up its token, so it completes for waiting callers even if its caller hangs up. */
import { afterAll, expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { createSingleFlight } from '../../../runtime/core/kernel/single-flight.ts'
import { createSealer } from '../../../runtime/secrets/seal.ts'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'
import { CLIENT, declaring, open } from './fixtures.ts'

afterAll(stopAll)

const REFRESH = { ...CLIENT, refresh_token: 'the-refresh-token' }

/** One host without a database, and a server that answers on demand. */
async function scene() {
  const asked = Promise.withResolvers<void>()
  const answers: (() => void)[] = []
  const { origin, seen } = await startUpstream((_request, response) => {
    answers.push(() =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ access_token: 'a-token', refresh_token: 'the-next' })),
    )
    asked.resolve()
  })
  const sealer = createSealer(['a secret of this test, long enough'], 'answers')
  const once = createSingleFlight({ db: () => null, sealer, onError: () => {} })
  const opened = open(declaring({ flow: 'CLIENT_CREDENTIALS' }), origin, once)
  const answer = () => {
    for (const one of answers) one()
  }
  return { ...opened, seen, asked: asked.promise, answer }
}

test('a caller that hangs up does not cancel the refresh for another caller that waits for it', async () => {
  const { ask, refusal, close, seen, asked, answer } = await scene()
  const caller = new AbortController()
  const first = refusal('refresh_access_token', REFRESH, { signal: caller.signal })
  const second = ask('refresh_access_token', REFRESH)
  await asked
  caller.abort(new RuntimeError('caller_gone', 'the caller hung up'))
  expect((await first).code).toBe('caller_gone')
  answer()
  expect((await second).response).toMatchObject({ access_token: 'a-token' })
  expect(seen).toHaveLength(1)
  await close()
})

test('a caller that waits for another’s refresh waits no longer than its own deadline', async () => {
  const { ask, refusal, close, asked, answer } = await scene()
  const first = ask('refresh_access_token', REFRESH)
  await asked
  const late = new AbortController()
  const second = refusal('refresh_access_token', REFRESH, { signal: late.signal })
  late.abort(new RuntimeError('deadline_passed', 'no answer within 10 ms'))
  expect((await second).code).toBe('deadline_passed')
  answer()
  expect((await first).response).toMatchObject({ refresh_token: 'the-next' })
  await close()
})
