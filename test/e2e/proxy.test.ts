/** Tests connectors behind the operator's outbound proxy: HTTPS_PROXY, HTTP_PROXY, NO_PROXY. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startProxy } from '../egress/fixtures/proxy.ts'
import { startUpstream, stopAll } from '../egress/fixtures/upstream.ts'
import { fixture } from '../fixtures/folders.ts'
import { failure, startHost, type TestHost } from './host.ts'
import { readThrough, refusal, seenBy } from './probe.ts'

type Proxy = Awaited<ReturnType<typeof startProxy>>

let near: Awaited<ReturnType<typeof startUpstream>>

beforeEach(async () => {
  near = await startUpstream((_request, response) => response.end('from near by'))
})
afterEach(stopAll)

async function withProxy(status: number, act: (host: TestHost, proxy: Proxy) => Promise<void>) {
  const port = new URL(near.origin).port
  const proxy = await startProxy(Number(port), status)
  const host = await startHost({
    env: {
      HTTPS_PROXY: proxy.url,
      HTTP_PROXY: proxy.url,
      NO_PROXY: '127.0.0.1',
      KEYWAY_PRIVATE_EGRESS: `probe=127.0.0.1:${port}`,
    },
    connectors: { probe: fixture('probe') },
  })
  try {
    await act(host, proxy)
  } finally {
    await host.stop()
  }
  expect(host.lines.join('')).not.toMatch(/p@ss|p%40ss/)
}

test('plain HTTP requests are sent to the proxy, which resolves names', async () => {
  await withProxy(200, async (host, proxy) => {
    const seen = seenBy(await readThrough(host, { url: 'http://plain.probe.example/x' }, {}))
    expect(seen).toMatchObject({ status: 200, text: 'from the proxy' })
    expect(proxy.seen).toEqual([
      { line: 'GET http://plain.probe.example/x', authorization: `Basic ${btoa('user:p@ss')}` },
    ])
  })
})

test('requests to hosts in NO_PROXY are sent directly', async () => {
  await withProxy(200, async (host, proxy) => {
    const seen = seenBy(await readThrough(host, { url: near.origin }, { base_url: near.origin }))
    expect(seen.text).toBe('from near by')
    expect(proxy.seen).toEqual([])
  })
})

test('HTTPS requests use a tunnel of the proxy, and its refusal is reported', async () => {
  await withProxy(403, async (host, proxy) => {
    const answer = await readThrough(host, { url: 'https://secure.probe.example/' }, {})
    expect(failure(answer)).toMatchObject({
      error_code: 'connection_rejected',
      message: expect.stringContaining('403'),
    })
    expect(proxy.seen[0]?.line).toBe('CONNECT secure.probe.example:443')
  })
})

test('an answer without TLS in the tunnel is reported as a rejected connection', async () => {
  await withProxy(200, async (host, proxy) => {
    const answer = await readThrough(host, { url: 'https://secure.probe.example/' }, {})
    expect(failure(answer).error_code).toBe('connection_rejected')
    expect(proxy.seen[0]?.line).toBe('CONNECT secure.probe.example:443')
  })
})

test('egress rules for addresses also apply behind a proxy', async () => {
  await withProxy(200, async (host, proxy) => {
    for (const at of ['http://169.254.169.254', 'http://localhost:9'])
      expect(refusal(await readThrough(host, { url: at }, { base_url: at }))).toContain(
        'KEYWAY_PRIVATE_EGRESS',
      )
    expect(proxy.seen).toEqual([])
  })
})
