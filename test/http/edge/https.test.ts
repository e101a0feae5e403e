/** The public origin of the host: behind a proxy that terminates TLS, and without one. */
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { Env } from '../../../runtime/http/edge/env.ts'
import { originOf } from '../../../runtime/http/edge/https.ts'

const originOfHost = async (publicOrigin: string | null, headers: Record<string, string> = {}) => {
  const app = new Hono<Env>().get('/', (c) => c.text(originOf(c, publicOrigin)))
  return (await app.request('http://keyway.internal:8080/', { headers })).text()
}

test.each<[string, string | null, Record<string, string>, string]>([
  ['without a proxy', null, {}, 'http://keyway.internal:8080'],
  ['behind TLS', null, { 'x-forwarded-proto': 'https' }, 'https://keyway.internal:8080'],
  [
    'behind two proxies',
    null,
    { 'x-forwarded-proto': 'https, http' },
    'https://keyway.internal:8080',
  ],
  ['with a public address', 'https://keyway.acme.example', {}, 'https://keyway.acme.example'],
  [
    'with a public address, despite the header of the proxy',
    'https://keyway.acme.example',
    { 'x-forwarded-proto': 'http' },
    'https://keyway.acme.example',
  ],
])('the origin of a host %s is known', async (_, publicOrigin, headers, origin) => {
  expect(await originOfHost(publicOrigin, headers)).toBe(origin)
})
