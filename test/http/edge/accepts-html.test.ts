/** Unknown addresses answer browsers with a page, and programs that also accept HTML with JSON. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CoreHost, startCore } from '../../core/host.ts'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

const FIREFOX = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const JAVA = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'

/** The client, its headers, and whether it gets a page. */
const CLIENTS: [string, Record<string, string>, boolean][] = [
  ['a browser', { accept: FIREFOX }, true],
  ['an old browser', { accept: 'text/html, text/plain, application/xhtml+xml, */*;q=0.01' }, true],
  ['a client that accepts only HTML', { accept: 'text/html' }, true],
  ['a client that prefers HTML', { accept: 'text/html, text/*;q=0.5, image/*;q=0.4' }, true],
  ['Java', { accept: JAVA }, false],
  ['a client that prefers JSON', { accept: 'application/json, text/html;q=0.1' }, false],
  ['curl', { accept: '*/*' }, false],
  ['a client that accepts only JSON', { accept: 'application/json' }, false],
  ['a client that refuses HTML', { accept: 'text/html;q=0, application/xhtml+xml' }, false],
  ['a client without an Accept header', {}, false],
]

describe('an unknown address', () => {
  test.each(CLIENTS)(
    'is answered to %s with the headers %j as a page: %s',
    async (_, headers, isPage) => {
      const reply = await core.host.app.request('/nothing-here', {
        headers: { host: 'localhost', ...headers },
      })
      expect(reply.status).toBe(404)
      expect(reply.headers.get('vary')).toBe('accept')
      expect(reply.headers.get('content-type')).toMatch(
        isPage ? /^text\/html/ : /^application\/json/,
      )
    },
  )
})

test.each([FIREFOX, JAVA, 'text/html'])(
  'the root redirects clients that accept HTML: %s',
  async (accept) => {
    const headers = { host: 'localhost', accept }
    const { status } = await core.host.app.request('/', { headers })
    expect(status).toBe(303)
  },
)
