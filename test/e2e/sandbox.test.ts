/** Tests that a connector cannot harm the host, its neighbours or other tenants. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, greeter, variant, withToken } from '../fixtures/folders.ts'
import { bestMs } from '../kit/best-ms.ts'
import { type Answer, failure, startHost, success, type TestHost } from './host.ts'
import { isAlive, until } from './until.ts'

let host: TestHost

/** Long enough for a call that answers at once, also on a busy machine. */
const DEADLINE_MS = 2000

beforeAll(async () => {
  host = await startHost({
    connectors: {
      hazards: variant('hazards', {
        id: 'hazards',
        limits: { deadline_ms: DEADLINE_MS, memory_mb: 32 },
      }),
      roomy: variant('hazards', { id: 'roomy', limits: { deadline_ms: 20_000, memory_mb: 256 } }),
      // A small limit is filled quickly, also on a slow machine.
      cramped: variant('hazards', {
        id: 'cramped',
        limits: { deadline_ms: 60_000, memory_mb: 64 },
      }),
      narrow: variant('hazards', { id: 'narrow', limits: { deadline_ms: 1000, concurrency: 2 } }),
      neighbour: greeter('neighbour', 'hello'),
    },
  })
})
afterAll(async () => {
  await host?.stop()
})

const act = (hazard: string, id = 'hazards', token = 'token-of-the-first'): Promise<Answer> =>
  host.call(id, 'list_accounts', withToken({ custom_attributes: [hazard] }, token))
const idsOf = ({ body }: Answer): string[] =>
  success<{ integration_specific_id: string }[]>(body).map((one) => one.integration_specific_id)
const isFine = async (token?: string) =>
  expect(idsOf(await act('fine', 'hazards', token))).toEqual(['fine'])
const workerOf = async (id: string) => {
  const { digest } = await host.served(id, '1.0.0')
  return host.host.lanes.states().find(({ lane }) => lane === digest)
}

describe('a handler that does not end', () => {
  // The documented bound is the deadline plus 100 ms; the rest is slack for a busy machine.
  const PROMISE_MS = DEADLINE_MS + 100
  const SLACK_MS = 400

  test.each(['spin', 'spin after await', 'never settle'])(
    '%s: ends at its deadline',
    async (hazard) => {
      const tookMs = await bestMs(PROMISE_MS + SLACK_MS, async () => {
        const { error_code, raised_by, message } = failure(await act(hazard))
        expect({ error_code, raised_by }).toEqual({
          error_code: 'request_timeout',
          raised_by: 'Keyway',
        })
        expect(message).toMatch(/no answer within \d+ ms/)
      })
      expect(tookMs).toBeGreaterThanOrEqual(DEADLINE_MS - 5)
      expect(tookMs).toBeLessThan(PROMISE_MS + SLACK_MS)
      await isFine()
    },
  )

  test('does not block other connectors, nor other tenants of the same connector', async () => {
    await isFine('token-of-the-second')
    let over = false
    const spinning = act('spin').finally(() => {
      over = true
    })
    let answers = 0
    while (!over) {
      expect(idsOf(await host.call('neighbour', 'list_accounts', withToken()))).toEqual(['hello'])
      await isFine('token-of-the-second')
      answers += 1
    }
    expect(failure(await spinning).error_code).toBe('request_timeout')
    expect(answers).toBeGreaterThan(0)
  })

  test('is also ended while it runs microtasks, by time or by memory', async () => {
    expect(['request_timeout', 'service_error']).toContain(
      failure(await act('spin in microtasks')).error_code,
    )
    await isFine()
  })
})

test('a caller that hangs up ends its call', async () => {
  const calls = async () => (await workerOf('roomy'))?.calls
  const { hostname, port } = new URL(host.url)
  const outgoing = request({
    hostname,
    port,
    method: 'POST',
    path: '/connectors/roomy/list_accounts',
    headers: { 'content-type': 'application/json' },
  })
  outgoing.on('error', () => {})
  outgoing.end(JSON.stringify(withToken({ custom_attributes: ['never settle'] })))
  await until('the call is in the worker', async () => (await calls()) === 1)
  outgoing.destroy()
  await until('the call has ended', async () => (await calls()) === 0)
  expect(idsOf(await act('fine', 'roomy'))).toEqual(['fine'])
})

test('a tenant that floods a connector waits only for itself, in a bounded queue', async () => {
  const flood = Array.from({ length: 600 }, () => act('never settle', 'narrow'))
  await until('two calls run', async () => (await workerOf('narrow'))?.calls === 2)
  // On a slow machine the others arrive later.
  await until('other calls wait', async () => {
    const { text: metrics } = await host.send('/metrics')
    return /^keyway_calls_waiting\{for="turn"\} [1-9]/m.test(metrics)
  })
  expect(idsOf(await act('fine', 'narrow', 'token-of-the-second'))).toEqual(['fine'])
  const codes = (await Promise.all(flood)).map((answer) => failure(answer).error_code)
  const count = (code: string) => codes.filter((one) => one === code).length
  // Two run, 256 wait, the others are refused; on a slow machine some arrive after others have ended.
  const [ended, refused] = [count('request_timeout'), count('rate_limit')]
  expect(ended + refused).toBe(600)
  expect(ended).toBeGreaterThanOrEqual(258)
  expect(refused).toBeGreaterThan(0)
  expect(idsOf(await act('fine', 'narrow'))).toEqual(['fine'])
})

test('the operator’s maximum deadline overrides that of a connector', async () => {
  const strict = await startHost({
    env: { KEYWAY_MAX_DEADLINE_MS: '200' },
    connectors: { hazards: fixture('hazards') },
  })
  const answer = await strict.call(
    'hazards',
    'list_accounts',
    withToken({ custom_attributes: ['never settle'] }),
  )
  expect(failure(answer)).toMatchObject({
    error_code: 'request_timeout',
    message: expect.stringMatching(/no answer within (200|1\d\d) ms/),
  })
  await strict.stop()
})

describe('a handler that takes memory', () => {
  test.each(['fill an array', 'fill a map'])(
    '%s: ends, and the answer gives the reason',
    async (hazard) => {
      const { error_code, raised_by, message } = failure(await act(hazard, 'cramped'))
      expect({ error_code, raised_by }).toEqual({
        error_code: 'service_error',
        raised_by: 'Keyway.Sandbox',
      })
      expect(message).toContain('out of memory')
      expect(idsOf(await act('fine', 'cramped'))).toEqual(['fine'])
    },
  )

  test('is also ended within native code, and the connector recovers', async () => {
    expect(['request_timeout', 'service_error']).toContain(
      failure(await act('split a text')).error_code,
    )
    // The worker may have to be killed, which ends its current calls.
    await until('the connector answers', async () => !(await act('fine')).body.is_error)
  })
})

describe('a worker that is killed', () => {
  test('does not lose read-only calls: they are retried within their deadline', async () => {
    const slow = () => act('a while', 'roomy')
    expect(idsOf(await slow())).toEqual(['a while'])
    const pid = (await workerOf('roomy'))?.pid as number
    const inFlight = slow()
    await until('the call is in the worker', async () => (await workerOf('roomy'))?.calls === 1)
    process.kill(pid, 'SIGKILL')
    expect(idsOf(await inFlight)).toEqual(['a while'])
    expect(isAlive(pid)).toBe(false)
    expect((await workerOf('roomy'))?.pid).not.toBe(pid)
  })

  test('does not extend the deadline of a call, and recovers for the next call', async () => {
    const fine = async () => expect(idsOf(await act('fine', 'narrow'))).toEqual(['fine'])
    await fine()
    const pid = (await workerOf('narrow'))?.pid as number
    const inFlight = act('never settle', 'narrow')
    await until('the call is in the worker', async () => (await workerOf('narrow'))?.calls === 1)
    process.kill(pid, 'SIGKILL')
    expect(failure(await inFlight).error_code).toBe('request_timeout')
    expect(isAlive(pid)).toBe(false)
    await fine()
  })
})

test('state that one tenant leaves is not visible to another', async () => {
  // The token selects the isolate of a tenant; the request selects the action.
  const remember = (who: string) =>
    host.call(
      'roomy',
      'list_accounts',
      withToken({ custom_attributes: ['remember', who] }, `token-of-tenant-${who}`),
    )
  for (const who of ['A', 'B', 'A', 'B']) await remember(who)
  for (const who of ['A', 'B']) {
    const seen = idsOf(await remember(who)).map((one) => one.at(-1))
    expect([...new Set(seen)]).toEqual([who])
  }
})

describe('a reply that breaks the contract', () => {
  test.each([
    ['text for a list', 'write an array'],
    ['wrong member', 'response[0].email'],
    ['missing member', 'integration_specific_id: missing'],
    ['extra member', 'response[0].nickname: there is no such field'],
    ['unknown status', 'user_status'],
    ['a bigint', 'BigInt'],
    ['a cycle', 'circular'],
    ['a getter that throws', 'trap'],
    ['more than 32 MiB', '33554432'],
    ['a cursor of 9 KiB', 'cursor'],
    ['nothing', 'returned nothing'],
  ])('%s: is refused, and the message names the fault', async (hazard, words) => {
    const { error_code, message } = failure(await act(hazard, 'roomy'))
    expect(error_code).toBe('invalid_response')
    expect(message).toContain(words)
    expect(idsOf(await act('fine', 'roomy'))).toEqual(['fine'])
  })

  test('is not caused by a handler that breaks the built-ins', async () => {
    const accounts = success((await act('break the built-ins', 'roomy', 'a-breaking-tenant')).body)
    expect(accounts).toMatchObject([{ integration_specific_id: 'broken', email: null }])
    expect(idsOf(await act('fine', 'roomy'))).toEqual(['fine'])
  })
})

test('only active and suspended accounts, and those without a status, are listed', async () => {
  expect(idsOf(await act('statuses'))).toEqual(['ACTIVE', 'SUSPENDED', 'none'])
})

describe('an error of a handler', () => {
  test.each<[string, object]>([
    ['throw a text', { error_code: 'unexpected_error', message: /just a text/ }],
    ['throw nothing', { error_code: 'unexpected_error', message: /undefined/ }],
    [
      'throw an error',
      {
        error_code: 'unexpected_error',
        raised_by: 'TypeError',
        message: /something is not a function/,
      },
    ],
    [
      'throw a ConnectorError',
      {
        error_code: 'creds_revoked',
        raised_by: 'ConnectorError',
        app_error_code: 'revoked',
        status_code: 418,
        message: /The grant is gone/,
      },
    ],
    ['throw an unknown code', { error_code: 'unexpected_error', message: /No such code/ }],
  ])('%s: is returned with a documented error code', async (hazard, { ...expected }) => {
    const { message, ...rest } = expected as { message: RegExp }
    const error = failure(await act(hazard))
    expect(error).toMatchObject({ ...rest, app_id: 'hazards' })
    const { raised_in, raised_by } = error
    expect(raised_in).toMatch(
      raised_by === 'TypeError'
        ? /^hazards:list_accounts \(connector\.ts:\d+:\d+\)$/
        : /^hazards:list_accounts$/,
    )
    expect(error.message).toMatch(message)
  })

  test('cannot pose as an error of the runtime', async () => {
    const { error_code, raised_by } = failure(await act('pose as Keyway'))
    expect({ error_code, raised_by }).toEqual({
      error_code: 'permission_denied',
      raised_by: 'ConnectorError',
    })
  })

  test('does not leak the credential, neither plain nor encoded', async () => {
    const { message } = failure(await act('throw the token', 'hazards', 'a secret/of+tenant'))
    expect(message).toBe('[secret] is wrong; [secret] too')
  })
})

describe('the log of a connector', () => {
  // Excludes the host's own line about the end of the call.
  const linesOf = (requestId: unknown) =>
    host.lines
      .map((line) => JSON.parse(line))
      .filter((line) => line.requestId === requestId && line.msg !== 'a call ended')

  test('is written with its call, without the credential', async () => {
    const { headers } = await act('log the token', 'hazards', 'a secret/of+tenant')
    const lines = linesOf(headers['x-request-id'])
    expect(lines.map(({ msg }) => msg)).toEqual([
      'using [secret]',
      '[secret]',
      'console says [secret]',
    ])
    expect(lines[0]).toMatchObject({
      connector: 'hazards',
      capability: 'list_accounts',
      fields: { header: 'Bearer [secret]', basic: '[secret]' },
    })
    const all = host.lines.join('')
    for (const form of [
      'a secret/of+tenant',
      'a%20secret%2Fof%2Btenant',
      btoa('a secret/of+tenant'),
    ])
      expect(all).not.toContain(form)
  })

  test.each([
    ['leave a rejection', 'astray with [secret]'],
    ['leave a rejection later', 'astray later with [secret]'],
  ])(
    '%s: is logged with its call, without the credential, and fails nothing',
    async (hazard, words) => {
      const answer = await act(hazard, 'hazards', 'a secret/of+tenant')
      expect(idsOf(answer)).toEqual(['fine'])
      const lines = linesOf(answer.headers['x-request-id'])
      expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
        [40, `a promise was rejected and nothing handled it: TypeError: ${words}`],
      ])
      expect(lines[0]).toMatchObject({ connector: 'hazards', capability: 'list_accounts' })
    },
  )

  test('is bounded for unhandled rejections', async () => {
    const answer = await act('leave rejections in turn after turn', 'roomy')
    expect(idsOf(answer)).toEqual(['fine'])
    const lines = linesOf(answer.headers['x-request-id'])
    expect(lines).toHaveLength(201)
    expect(lines.at(-1)?.msg).toMatch(/dropped/)
  })

  test('is bounded for messages', async () => {
    const { headers } = await act('flood the log')
    const lines = linesOf(headers['x-request-id'])
    expect(lines).toHaveLength(201)
    expect(lines.at(-1)?.msg).toMatch(/dropped/)
  })
})
