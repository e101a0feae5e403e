import { expect, test } from 'vitest'
import type { OutgoingRequest } from '../../../runtime/egress/exchange/exchange.ts'
import { nextRequest, redirectTarget } from '../../../runtime/egress/exchange/redirects.ts'
import { thrownBy } from '../fixtures/open-egress.ts'

const FROM = new URL('https://a.example/v1/x')
const BODY = new Uint8Array([1])
const request = (method: string): OutgoingRequest => ({
  url: FROM.href,
  method,
  headers: [
    ['authorization', 'Bearer t'],
    ['content-type', 'text/plain'],
    ['accept', '*/*'],
  ],
  body: BODY,
})

test.each([
  [301, 'POST', 'GET'],
  [302, 'POST', 'GET'],
  [303, 'POST', 'GET'],
  [303, 'PUT', 'GET'],
  [303, 'HEAD', 'HEAD'],
  [301, 'PUT', 'PUT'],
  [302, 'DELETE', 'DELETE'],
  [307, 'POST', 'POST'],
  [308, 'POST', 'POST'],
])('%s after %s becomes %s', (status, method, expected) => {
  const next = nextRequest(request(method), FROM, status, '/y')
  expect(next.method).toBe(expected)
  expect(next.body === null).toBe(method !== expected)
  expect(next.headers.some(([name]) => name === 'content-type')).toBe(method === expected)
})

test.each([
  ['/y', true],
  ['y?z', true],
  ['https://a.example:443/y', true],
  ['//b.example/y', false],
  ['https://b.example/y', false],
  ['http://a.example/y', false],
  ['https://a.example:8443/y', false],
])('a redirect to %s keeps the credentials: %s', (location, kept) => {
  const names = nextRequest(request('GET'), FROM, 307, location).headers.map(([name]) => name)
  expect(names.includes('authorization')).toBe(kept)
  expect(names).toContain('accept')
})

test('reads a Location only from the statuses that redirect', () => {
  expect(redirectTarget(302, [['Location', '/y']])).toBe('/y')
  expect(redirectTarget(302, [])).toBe(null)
  expect(redirectTarget(201, [['location', '/y']])).toBe(null)
  expect(redirectTarget(304, [['location', '/y']])).toBe(null)
})

test('refuses a Location that cannot be read', async () => {
  expect(await thrownBy(() => nextRequest(request('GET'), FROM, 302, 'https://['))).toMatchObject({
    code: 'upstream_garbled',
  })
})
