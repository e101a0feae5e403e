/**
 * There is one governor for each tenant and origin. Their number is bounded, regardless of what upstreams
 * answer.
 */
import { afterEach, expect, test } from 'vitest'
import { createGovernors } from '../../runtime/egress/exchange/throttle.ts'
import { errorOf, get, openEgress, openedEgresses } from './fixtures/open-egress.ts'
import { startUpstream, stopAll } from './fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const PACE = { requestsPerSecond: 50, concurrentRequests: 4 }

test('governors paused for an hour are also evicted when there are too many', () => {
  const governors = createGovernors()
  const first = governors('first', PACE)
  first.pause(3_600_000)
  for (let index = 0; index < 10_000; index += 1)
    governors(`tenant ${index}`, PACE).pause(3_600_000)
  expect(governors('first', PACE)).not.toBe(first)
})

test('refused requests evict no governor', async () => {
  const { port, origin } = await startUpstream((_request, response) =>
    response.writeHead(429, { 'retry-after': '3600' }).end(),
  )
  const { fetch } = openEgress({
    egress: [{ url: origin }],
    grants: `acme=127.0.0.1:${port}`,
    call: { endMs: Date.now() + 20_000 },
  })
  expect((await fetch(get(origin))).status).toBe(429)
  for (let index = 0; index < 10_001; index += 1)
    await errorOf(fetch(get(`https://x${index}.evil.example/`)))
  expect((await errorOf(fetch(get(origin)))).code).toBe('upstream_paced')
})
