/** The limits on what one call may ask of its worker and of the host, and the errors for exceeding them. */
import { describe, expect, test, vi } from 'vitest'
import { callOf, connectorOf, outcome, say } from './fixtures/connectors.ts'
import { openLanes } from './fixtures/lanes.ts'

const empty = async () => ({
  status: 200,
  url: 'https://a.example/',
  redirected: false,
  headers: [],
  body: Buffer.alloc(0),
})
const fetchOf = (init: string) => `await ctx.fetch('https://a.example/', ${init})`

/** Runs a handler beside another tenant's call in the same worker, and asserts that that call succeeds. */
async function runNextToOther(body: string, top = '', memoryMb = 32) {
  const { lanes, ends } = openLanes()
  const asks = connectorOf(body, top, memoryMb)
  const waits = connectorOf(`await new Promise((go) => setTimeout(go, 1000)); ${say("'unharmed'")}`)
  const innocent = outcome(lanes.run('a', callOf(waits, { isolateKey: 'innocent' })))
  const fetch = vi.fn(empty)
  const answer = await outcome(lanes.run('a', callOf(asks, { fetch })))
  expect({ innocent: await innocent, ends }).toEqual({ innocent: 'unharmed', ends: [] })
  return { answer, fetch }
}

describe('a request over a limit is not sent and fails with the reason:', () => {
  const forged = (pairs: string) =>
    `let times = 0; Headers.prototype[Symbol.iterator] = function* () { times += 1; if (times > 1) yield* ${pairs} }`

  test.each([
    ['a header', fetchOf("{ headers: { x: 'é'.repeat(20e6) } }"), '', /the header x is too long/],
    [
      'a header that bypasses the prelude',
      fetchOf('{}'),
      forged("[['x', 'é'.repeat(16e6)]]"),
      /address and headers/,
    ],
    [
      'many headers that are each small enough',
      fetchOf('{}'),
      forged("Array.from({ length: 10 }, (_, one) => ['x' + one, 'y'.repeat(60_000)])"),
      /address and headers/,
    ],
    ['a body', fetchOf("{ method: 'POST', body: 'x'.repeat(17 * 1024 * 1024) }"), '', /body/],
    [
      'a binary body',
      fetchOf("{ method: 'POST', body: new Uint8Array(17 * 1024 * 1024) }"),
      '',
      /body/,
    ],
  ])('%s', async (_name, body, top, words) => {
    const { answer, fetch } = await runNextToOther(body, top, 128)
    expect(answer).toMatch(/^permission_denied: /)
    expect(answer).toMatch(words)
    expect(fetch).not.toHaveBeenCalled()
  })

  test('many bodies at once, whose failures are all rate_limit', async () => {
    const { answer } = await runNextToOther(
      `const body = 'x'.repeat(15e6), codes = new Set()
       for (let round = 0; round < 30; round += 1) {
         ctx.fetch('https://a.example/', { method: 'POST', body }).catch((error) => codes.add(error.error_code))
         await new Promise((go) => setTimeout(go, 1))
       }
       ${say('[...codes].join()')}`,
      '',
      256,
    )
    expect(answer).toBe('rate_limit')
  })
})

test('a call may make 2000 requests in sequence, and the next one fails with rate_limit', async () => {
  const { lanes } = openLanes()
  const fetch = vi.fn(empty)
  const asks = connectorOf(`for (;;) ${fetchOf('{}')}`)
  expect(await outcome(lanes.run('a', callOf(asks, { fetch })))).toBe(
    'rate_limit: more than 2000 requests in one call',
  )
  expect(fetch).toHaveBeenCalledTimes(2000)
})

test('many large replies at once all arrive', async () => {
  const { lanes, ends } = openLanes()
  const large = connectorOf(say("'x'.repeat(16e6)"), '', 128)
  const running = Array.from({ length: 6 }, (_, tenant) =>
    lanes.run('a', callOf(large, { isolateKey: `${tenant}`, deadlineMs: 60_000 })),
  )
  const lengths = (await Promise.all(running)).map(({ body }) => body.length)
  expect(lengths.every((length) => length > 16e6)).toBe(true)
  expect(ends).toEqual([])
})

test.each([
  ['text', 'x'],
  ['bytes', '\xff'],
])('many large bodies of %s at once all arrive in the sandbox', async (_kind, byte) => {
  const { lanes, ends } = openLanes()
  const body = Buffer.alloc(16e6, byte, 'latin1')
  const fetch = async () => ({ ...(await empty()), body })
  const asks = connectorOf(
    `const reply = ${fetchOf('{}')}; ${say('(await reply.arrayBuffer()).byteLength')}`,
    '',
    128,
  )
  const running = Array.from({ length: 6 }, (_, tenant) =>
    lanes.run('a', callOf(asks, { isolateKey: `${tenant}`, deadlineMs: 60_000, fetch })),
  )
  expect(await Promise.all(running.map(outcome))).toEqual(Array(6).fill('16000000'))
  expect(ends).toEqual([])
})

test('a call that gets more large bodies at once than its worker can take does not harm another tenant', async () => {
  const { lanes, ends } = openLanes()
  const body = Buffer.alloc(16e6, 'x')
  const fetch = async () => ({ ...(await empty()), body })
  const asks = connectorOf(
    `const codes = await Promise.all(Array.from({ length: 40 }, () =>
       ctx.fetch('https://a.example/').then(() => 'arrived', (error) => error.error_code)))
     ${say("[...new Set(codes)].sort().join(' ')")}`,
    '',
    1024,
  )
  const quiet = connectorOf(`await new Promise((go) => setTimeout(go, 100)); ${say("'unharmed'")}`)
  const asking = outcome(lanes.run('a', callOf(asks, { deadlineMs: 60_000, fetch })))
  const beside = outcome(lanes.run('a', callOf(quiet, { isolateKey: 'beside' })))
  expect([await asking, await beside]).toEqual(['arrived rate_limit', 'unharmed'])
  expect(ends).toEqual([])
})

test('many large bodies that are sent at once all reach the host', async () => {
  const { lanes, ends } = openLanes()
  const sizes: number[] = []
  const fetch = async ({ body }: { body: Uint8Array | null }) => {
    sizes.push(body?.length ?? 0)
    return empty()
  }
  const send = fetchOf("{ method: 'POST', body: 'é'.repeat(5e6) }")
  const asks = connectorOf(
    `const send = async () => (${send}).status; ${say('await Promise.all([send(), send()])')}`,
    '',
    256,
  )
  const running = Array.from({ length: 4 }, (_, tenant) =>
    lanes.run('a', callOf(asks, { isolateKey: `${tenant}`, deadlineMs: 60_000, fetch })),
  )
  expect(await Promise.all(running.map(outcome))).toEqual(Array(4).fill('200,200'))
  expect({ sizes, ends }).toEqual({ sizes: Array(8).fill(10e6), ends: [] })
})
