import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { closedLoad, openLoad } from './loads.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A server that answers after `afterMs`, and the number of calls that it got. */
async function serve(afterMs: number, text = '{"response":{}}') {
  const got = { calls: 0, url: '' }
  const server = createServer((_request, response) => {
    got.calls += 1
    setTimeout(() => response.end(text), afterMs)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  got.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return got
}

const { signal } = new AbortController()
const targets = [{ path: '/a', body: '{}' }]

test('a closed load counts measured calls separately from warm-up calls', async () => {
  const server = await serve(0)
  const figures = await closedLoad({ url: server.url, targets, callers: 4, calls: 100 }, signal)
  expect(figures).toMatchObject({ calls: 100, failed: 0, sent: server.calls })
  expect(server.calls).toBeGreaterThan(100)
})

test('an error answer counts as a failed call', async () => {
  const { url } = await serve(0, '{"is_error":true}')
  const figures = await closedLoad({ url, targets, callers: 1, calls: 10 }, signal)
  expect(figures.failed).toBe(figures.sent)
})

test('an open load sends calls on time even if others are waiting, and includes the waiting in latency', async () => {
  const server = await serve(400)
  const load = { url: server.url, targets, perSecond: 50, seconds: 1 }
  const figures = await openLoad(load, signal)
  // Sequentially, two or three would have been sent.
  expect(server.calls).toBe(50)
  expect(figures).toMatchObject({ calls: 50, failed: 0 })
  expect(figures.p50).toBeGreaterThanOrEqual(399)
})
