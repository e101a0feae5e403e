import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { CACHES } from '../../../runtime/bounded/caches.ts'
import { createDispatchers } from '../../../runtime/egress/dial/dispatchers.ts'
import { parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'
import { DEFAULT_LIMITS } from '../../../runtime/egress/limits/limits.ts'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(stopAll)

const create = (grants = '') =>
  createDispatchers({ grants: parsePrivateGrants(grants), limits: DEFAULT_LIMITS })

test('gives each connector its own connections, shared by both spellings of its id', async () => {
  const dispatchers = create()
  expect(dispatchers.get('a-x', null)).toBe(dispatchers.get('a_x', null))
  expect(dispatchers.get('a', null)).not.toBe(dispatchers.get('b', null))
  expect(dispatchers.get('a', null)).not.toBe(dispatchers.get('a', 'http://proxy.example/'))
  await dispatchers.close()
})

test('evicts the least recently used connector, whose open request still completes', async () => {
  const asked = Promise.withResolvers<ServerResponse>()
  const { port, origin } = await startUpstream((_request, response) => asked.resolve(response))
  const dispatchers = create(`a=127.0.0.1:${port}`)
  const first = dispatchers.get('a', null)
  const open = first.request({ origin, path: '/', method: 'GET' })
  const second = dispatchers.get('b', null)
  for (let index = 1; index < CACHES.connections.maxEntries; index += 1)
    dispatchers.get(`c${index}`, null)
  expect(dispatchers.get('b', null)).toBe(second)
  const response = await asked.promise
  response.end('late')
  expect(await (await open).body.text()).toBe('late')
  expect(dispatchers.get('a', null)).not.toBe(first)
  await dispatchers.close()
})
