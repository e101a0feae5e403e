/** /operator while the database is away. */
import { Hono } from 'hono'
import { beforeEach, expect, test } from 'vitest'
import { createTokenHasher } from '../../../runtime/core/kernel/identity/token-hasher.ts'
import { createOperatorStanding } from '../../../runtime/core/sign-in/operator-standing.ts'
import type { Env } from '../../../runtime/http/edge/env.ts'
import { createOnError } from '../../../runtime/http/edge/problem.ts'
import { operatorGuard } from '../../../runtime/http/operator/guard.ts'
import { createLog } from '../../../runtime/observe/log.ts'

const ADMIN = `lsk_${'a'.repeat(40)}`

const app = new Hono<Env>()
app.onError(createOnError(createLog('silent')))
const hasher = createTokenHasher(['x'])
let operator = createOperatorStanding(ADMIN, hasher, () => {})
app.use((c, next) => operatorGuard({ operator, db: () => null, hasher })(c, next))
beforeEach(() => {
  operator = createOperatorStanding(ADMIN, hasher, () => {})
})
app.get('/operator/look', (c) => c.text('seen'))
app.get('/operator/change', async (c) => c.json(await c.get('operator')()))

const ask = (at: string, token: string) =>
  app.request(at, { headers: { authorization: `Bearer ${token}` } })

test('the operator’s token is accepted if it was valid when the database went away', async () => {
  operator.heard('good')
  const answer = await ask('/operator/look', ADMIN)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([200, null])
})

test.each(['ended', 'another'] as const)(
  'an operator’s token in the state “%s” is not accepted',
  async (standing) => {
    operator.heard('good')
    operator.heard(standing)
    expect((await ask('/operator/look', ADMIN)).status).toBe(401)
  },
)

test('a host that has not reached the database yet answers 503 to the operator’s token', async () => {
  const answer = await ask('/operator/look', ADMIN)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
})

test('another token is answered 503, because only the database knows it', async () => {
  const answer = await ask('/operator/look', `lsk_${'b'.repeat(40)}`)
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('2')
  expect(await answer.json()).toMatchObject({ error: { error_code: 'service_error' } })
})

test('a malformed token is refused without the database', async () => {
  expect((await ask('/operator/look', 'abc')).status).toBe(401)
})

test('a change is answered 503, because it cannot be recorded', async () => {
  operator.heard('good')
  const answer = await ask('/operator/change', ADMIN)
  expect(answer.status).toBe(503)
  expect(answer.headers.get('retry-after')).toBe('2')
})
