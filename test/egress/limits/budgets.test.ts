import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import type { EgressCall } from '../../../runtime/egress/call/call.ts'
import { createEgress } from '../../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'
import type { EgressLimits } from '../../../runtime/egress/limits/limits.ts'
import { errorOf, get, manifestOf, openedEgresses } from '../fixtures/open-egress.ts'
import { startTcp, startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

/** An egress for several calls to one upstream. */
function egressTo(port: number, limits: Partial<EgressLimits>) {
  const origin = `http://127.0.0.1:${port}`
  const client = createEgress({
    privateGrants: parsePrivateGrants(`a=127.0.0.1:${port} b=127.0.0.1:${port}`),
    proxy: null,
    userAgent: 'keyway/test',
    limits,
  })
  openedEgresses.push(client)
  return (connectorId = 'a', more: Partial<EgressCall> = {}) => {
    const call = client.open({
      connectorId,
      manifest: manifestOf([{ url: origin }]),
      capability: 'list_accounts',
      level: 'write',
      settings: {},
      signal: new AbortController().signal,
      secrets: null,
      ...more,
    })
    const post = (bytes: number, signal?: AbortSignal) =>
      call.fetch(
        get(origin, {
          method: 'POST',
          body: new Uint8Array(bytes),
          ...(signal === undefined ? {} : { signal }),
        }),
      )
    return { ...call, post }
  }
}

/** An upstream that accepts connections and reads nothing. */
const startNonReader = () => startTcp((socket) => void socket.pause())

/** Ignores how a request that is left open ends, so that no rejection is unhandled. */
const ignoreOutcome = (work: Promise<unknown>): void => void work.catch(() => {})

describe('request bodies that an upstream does not read', () => {
  test('are bounded for one call', async () => {
    const call = egressTo(await startNonReader(), { maxOpenRequestBytes: 1000 })()
    ignoreOutcome(call.post(600))
    const error = await errorOf(call.post(401))
    expect(error).toMatchObject({ code: 'egress_concurrency' })
    expect(error.message).toContain('1000 bytes of request bodies open')
    expect(call.records).toHaveLength(1)
    ignoreOutcome(call.post(400))
    await wait(10)
    expect(call.records).toHaveLength(2)
  })

  test('are bounded across all calls of a connector, without affecting another connector', async () => {
    const open = egressTo(await startNonReader(), { maxConnectorOpenBytes: 1000 })
    ignoreOutcome(open('a').post(600))
    const error = await errorOf(open('a').post(600))
    expect(error).toMatchObject({ code: 'egress_concurrency' })
    expect(error.message).toContain('connector')
    const other = open('b')
    ignoreOutcome(other.post(600))
    await wait(10)
    expect(other.records).toMatchObject([{ sent: true, error: null }])
  })

  test('are bounded for the process', async () => {
    const open = egressTo(await startNonReader(), { maxProcessOpenBytes: 1000 })
    ignoreOutcome(open('a').post(600))
    expect(await errorOf(open('b').post(600))).toMatchObject({ code: 'egress_concurrency' })
  })

  test('are bounded by default', async () => {
    const open = egressTo(await startNonReader(), {})
    const bytes = 16 * 1024 * 1024
    for (let time = 0; time < 4; time += 1) {
      const call = open()
      ignoreOutcome(call.post(bytes))
      ignoreOutcome(call.post(bytes))
      expect(await errorOf(call.post(1))).toMatchObject({ code: 'egress_concurrency' })
    }
    expect((await errorOf(open().post(1))).message).toContain(`${128 * 1024 * 1024} bytes`)
  })

  test('are no longer counted when their request or call has ended', async () => {
    const open = egressTo(await startNonReader(), { maxConnectorOpenBytes: 1000 })
    const over = new AbortController()
    const gone = new AbortController()
    const reason = new RuntimeError('caller_gone', 'gone')
    const call = open('a', { signal: over.signal })
    const [first, second] = [errorOf(call.post(500, gone.signal)), errorOf(call.post(500))]
    expect(await errorOf(call.post(1))).toMatchObject({ code: 'egress_concurrency' })
    gone.abort(reason)
    over.abort(reason)
    expect(await Promise.all([first, second])).toEqual([reason, reason])
    const next = open()
    ignoreOutcome(next.post(1000))
    await wait(10)
    expect(next.records).toMatchObject([{ sent: true, error: null }])
  })

  test('are not counted when they were refused', async () => {
    const open = egressTo(await startNonReader(), {
      maxOpenRequestBytes: 1000,
      maxConnectorOpenBytes: 900,
    })
    const call = open()
    for (let time = 0; time < 3; time += 1)
      expect(await errorOf(call.post(950))).toMatchObject({ code: 'egress_concurrency' })
    ignoreOutcome(call.post(900))
    await wait(10)
    expect(call.records).toHaveLength(1)
  })
})

test('a body over the limit of one body is reported as egress_body, not as egress_concurrency', async () => {
  const { port } = await startUpstream((_request, response) => response.end())
  const call = egressTo(port, { maxRequestBytes: 100, maxOpenRequestBytes: 100 })()
  expect(await errorOf(call.post(101))).toMatchObject({ code: 'egress_body' })
})

test('a body stays counted while redirects are followed', async () => {
  const { port } = await startUpstream((request, response) => {
    if (request.url === '/') response.writeHead(307, { location: '/to' }).end()
  })
  const call = egressTo(port, { maxOpenRequestBytes: 100 })()
  ignoreOutcome(call.post(100))
  while (call.records.length < 2) await wait(5)
  expect(await errorOf(call.post(1))).toMatchObject({ code: 'egress_concurrency' })
})

test('replies count towards the limit of a connector, like bodies, until they are delivered', async () => {
  const { port } = await startUpstream((_request, response) => response.end('x'.repeat(800)))
  const open = egressTo(port, { maxConnectorOpenBytes: 1000 })
  for (let time = 0; time < 3; time += 1) expect((await open().post(200)).body).toHaveLength(800)
  expect(await errorOf(open().post(201))).toMatchObject({ code: 'egress_concurrency' })
  expect((await open().post(200)).body).toHaveLength(800)
})

describe('open requests', () => {
  test('are bounded across all calls of a connector, without affecting another connector', async () => {
    const open = egressTo(await startNonReader(), { maxConnectorOpenFetches: 3 })
    const hangUp = new AbortController()
    const [first, second] = [open(), open('a')]
    const leaving = first.post(1, hangUp.signal)
    ignoreOutcome(leaving)
    ignoreOutcome(first.post(1))
    ignoreOutcome(second.post(1))
    const error = await errorOf(second.post(1))
    expect(error).toMatchObject({ code: 'egress_concurrency' })
    expect(error.message).toContain('All calls of this connector together have 3 requests open')
    ignoreOutcome(open('b').post(1))
    hangUp.abort()
    await errorOf(leaving)
    // Its slot is free again: the next request is sent and waits for its response.
    const next = second.post(1)
    ignoreOutcome(next)
    await expect(Promise.race([next, wait(100, 'waits')])).resolves.toBe('waits')
  })
})

describe('shares of the limits', () => {
  const open = async (limits: Partial<EgressLimits>) => egressTo(await startNonReader(), limits)
  const of = (tenant: string) => ({ tenant, governorKey: () => tenant })

  test('a tenant gets at most three quarters of the requests of a connector', async () => {
    const client = await open({ maxConnectorOpenFetches: 16 })
    const flood = client('a', of('flood'))
    for (let n = 0; n < 12; n += 1) ignoreOutcome(flood.post(1))
    const error = await errorOf(client('a', of('flood')).post(1))
    expect(error).toMatchObject({ code: 'egress_concurrency' })
    expect(error.message).toContain('with these credentials together have 12 requests open')
    const other = client('a', of('other'))
    ignoreOutcome(other.post(1))
    await wait(10)
    expect(other.records).toMatchObject([{ sent: true, error: null }])
  })

  test('a tenant gets at most three quarters of the bytes of a connector', async () => {
    const client = await open({ maxConnectorOpenBytes: 1000 })
    ignoreOutcome(client('a', of('flood')).post(700))
    expect((await errorOf(client('a', of('flood')).post(100))).message).toContain('700 bytes')
    const other = client('a', of('other'))
    ignoreOutcome(other.post(100))
    await wait(10)
    expect(other.records).toMatchObject([{ sent: true, error: null }])
  })

  test('a connector gets at most three quarters of the bytes of the process', async () => {
    const client = await open({ maxProcessOpenBytes: 1000 })
    ignoreOutcome(client('a', of('one')).post(400))
    ignoreOutcome(client('a', of('two')).post(300))
    const error = await errorOf(client('a', of('three')).post(100))
    expect(error.message).toContain('the rest is for other connectors')
    const other = client('b', of('one'))
    ignoreOutcome(other.post(100))
    await wait(10)
    expect(other.records).toMatchObject([{ sent: true, error: null }])
  })

  test('a tenant has its whole share again when its requests have ended', async () => {
    const client = await open({ maxConnectorOpenFetches: 4 })
    const over = new AbortController()
    const flood = client('a', { tenant: 'flood', signal: over.signal })
    const ended = [1, 2, 3].map(() => errorOf(flood.post(1)))
    expect(await errorOf(flood.post(1))).toMatchObject({ code: 'egress_concurrency' })
    over.abort(new RuntimeError('caller_gone', 'gone'))
    await Promise.all(ended)
    const next = client('a', of('flood'))
    for (let n = 0; n < 3; n += 1) ignoreOutcome(next.post(1))
    await wait(10)
    expect(next.records).toHaveLength(3)
  })
})

test('onRefused is called with the connector of a refused request', async () => {
  const port = await startNonReader()
  const refused: string[] = []
  const client = createEgress({
    privateGrants: parsePrivateGrants(`a-b=127.0.0.1:${port}`),
    proxy: null,
    userAgent: 'keyway/test',
    limits: { maxConnectorOpenFetches: 0 },
    onRefused: (connectorId) => void refused.push(connectorId),
  })
  openedEgresses.push(client)
  const call = client.open({
    connectorId: 'a-b',
    manifest: manifestOf([]),
    capability: 'list_accounts',
    level: 'read',
    settings: {},
    signal: new AbortController().signal,
    secrets: null,
  })
  await errorOf(call.fetch(get(`http://127.0.0.1:${port}`)))
  expect(refused).toEqual(['a-b'])
})
