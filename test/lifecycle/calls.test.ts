/** `GET /operator/calls`: what was called, and what each call sent where. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../core/host.ts'
import { operator } from './operator.ts'
import { casesFor, LISTING, packaged } from './packaging.ts'

// A closed port of loopback: a request that is sent, and not answered.
const NOWHERE = '127.0.0.1:9'
const CODE = LISTING('1.0.0').replace(
  'const start =',
  `await context.fetch('http://${NOWHERE}/people?token=no').catch(() => context.log.warn('no answer'))
    const start =`,
)

let core: CoreHost
let op: ReturnType<typeof operator>

beforeAll(async () => {
  core = await startCore({ KEYWAY_PRIVATE_EGRESS: `acme=${NOWHERE}` })
  op = operator(core)
  const capabilities = { validate_credentials: {}, list_accounts: {} }
  const upstream = [{ request: 'GET /people?token=no', reply: { status: 200 } }]
  const cases = casesFor(capabilities, { list_accounts: { upstream } })
  const egress = [{ url: `http://${NOWHERE}` }]
  await op.install(await packaged({ egress, capabilities }, CODE, cases))
})
afterAll(() => core.stop())

test('a call is listed with the requests that it made and what it logged', async () => {
  await op.ask('acme', 'list_accounts')
  const { status, body } = await op.call('GET', '/calls?connector_id=acme')
  expect(status).toBe(200)
  expect(body.items).toEqual([
    expect.objectContaining({
      capability: 'list_accounts',
      outcome: 'ok',
      upstream: [
        {
          method: 'GET',
          host: NOWHERE,
          path: '/people',
          status: null,
          error: expect.any(String),
          sent_bytes: 0,
          received_bytes: 0,
          ms: expect.any(Number),
        },
      ],
      log: [{ level: 'warn', message: 'no answer' }],
    }),
  ])
})
