import { afterEach, describe, expect, test } from 'vitest'
import { createChooseProxy, judgeProxied } from '../../../runtime/egress/dial/proxy.ts'
import { errorOf, get, openEgress, openedEgresses, thrownBy } from '../fixtures/open-egress.ts'
import { startProxy } from '../fixtures/proxy.ts'
import { startTcp, startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const choose = (noProxy: string) =>
  createChooseProxy({
    httpsProxy: 'proxy.example:3128',
    httpProxy: 'http://plain.example:8080',
    noProxy,
  })

describe('the choice of a proxy', () => {
  test('follows the scheme; a scheme without a proxy goes directly', () => {
    expect(choose('')(new URL('https://a.example'))).toBe('http://proxy.example:3128/')
    expect(choose('')(new URL('http://a.example'))).toBe('http://plain.example:8080/')
    const only = createChooseProxy({ httpsProxy: 'http://p', httpProxy: '', noProxy: null })
    expect(only(new URL('http://a.example'))).toBe(null)
    expect(createChooseProxy(null)(new URL('https://a.example'))).toBe(null)
  })

  test.each([
    ['*', 'https://a.example', true],
    ['a.example', 'https://a.example', true],
    ['A.example', 'https://a.example', true],
    ['a.example', 'https://b.a.example', true],
    ['.a.example', 'https://b.a.example', true],
    ['.a.example', 'https://a.example', true],
    ['*.a.example', 'https://b.a.example', true],
    ['a.example', 'https://ba.example', false],
    ['a.example', 'https://a.example.evil.example', false],
    ['x, b.example a.example', 'https://a.example', true],
    ['a.example:443', 'https://a.example', true],
    ['a.example:8443', 'https://a.example', false],
    ['10.0.0.1', 'http://10.0.0.1', true],
    ['0.0.1', 'http://10.0.0.1', false],
    ['::1', 'http://[::1]:8', true],
    ['[::1]:8', 'http://[::1]:8', true],
    ['', 'https://a.example', false],
  ])('NO_PROXY %j for %s goes directly: %s', (noProxy, url, direct) => {
    expect(choose(noProxy)(new URL(url)) === null).toBe(direct)
  })

  test.each(['socks5://p:1', 'http://', 'http://u:hush@:1'])(
    'refuses %s as a proxy',
    (httpsProxy) => {
      const run = () => createChooseProxy({ httpsProxy, httpProxy: null, noProxy: null })
      expect(run).toThrow('HTTPS_PROXY')
      expect(run).not.toThrow('hush')
    },
  )
})

test.each([
  ['https://10.0.0.1/', true],
  ['https://[::1]/', true],
  ['http://0x7f.1/', true],
  ['http://localhost:8080/', true],
  ['http://x.localhost/', true],
  ['https://8.8.8.8/', false],
  ['https://a.example/', false],
  ['https://granted.localhost/', false],
])('through a proxy %s is refused as private: %s', async (url, refused) => {
  const grants = new Map([['acme', new Set(['granted.localhost:443'])]])
  const run = () => judgeProxied(grants, 'acme', new URL(url))
  if (refused) expect(await thrownBy(run)).toMatchObject({ code: 'egress_private' })
  else run()
})

const BASIC = `Basic ${Buffer.from('user:p@ss').toString('base64')}`

describe('through a proxy', () => {
  test('https uses CONNECT with the name, which the host does not look up', async () => {
    const target = await startTcp((socket) => socket.once('data', () => socket.end('no TLS here')))
    const proxy = await startProxy(target)
    const client = openEgress({
      egress: [{ url: 'https://a.example' }],
      proxy: { httpsProxy: proxy.url, httpProxy: null, noProxy: null },
      resolve: async () => {
        throw new Error('looked up')
      },
    })
    const error = await errorOf(client.fetch(get('https://a.example/x')))
    expect(error).toMatchObject({ code: 'upstream_rejected' })
    expect(error.message).toContain('a.example:443 was not reached: TLS was refused')
    expect(proxy.seen).toEqual([{ line: 'CONNECT a.example:443', authorization: BASIC }])
  })

  test('http is sent with its whole URL', async () => {
    const proxy = await startProxy(0)
    const client = openEgress({
      egress: [{ url: 'http://a.example' }],
      proxy: { httpsProxy: null, httpProxy: proxy.url, noProxy: null },
    })
    const reply = await client.fetch(get('http://a.example/x?y'))
    expect(reply.body.toString()).toBe('from the proxy')
    expect(proxy.seen).toEqual([{ line: 'GET http://a.example/x?y', authorization: BASIC }])
  })

  test('the egress rules still apply', async () => {
    const proxy = await startProxy(0)
    const client = openEgress({
      egress: [{ url: 'https://a.example' }, { url: 'https://10.0.0.1' }],
      proxy: { httpsProxy: proxy.url, httpProxy: null, noProxy: null },
    })
    const undeclared = await errorOf(client.fetch(get('https://b.example/')))
    expect(undeclared).toMatchObject({ code: 'egress_undeclared' })
    const literal = await errorOf(client.fetch(get('https://10.0.0.1/')))
    expect(literal).toMatchObject({ code: 'egress_private' })
    expect(proxy.seen).toEqual([])
  })

  test.each([
    [407, 'the outbound proxy wants credentials (407)'],
    [503, 'the outbound proxy answered CONNECT with 503'],
  ])('a refusal with %s is reported', async (status, words) => {
    const proxy = await startProxy(0, status)
    const client = openEgress({
      egress: [{ url: 'https://a.example' }],
      proxy: { httpsProxy: proxy.url, httpProxy: null, noProxy: null },
    })
    const error = await errorOf(client.fetch(get('https://a.example/')))
    expect(error).toMatchObject({ code: 'upstream_rejected' })
    expect(error.message).toContain(words)
    expect(error.message).not.toContain('p@ss')
  })

  test('a proxy that is not running is reported', async () => {
    const proxy = await startProxy(0)
    await stopAll()
    const client = openEgress({
      egress: [{ url: 'https://a.example' }],
      proxy: { httpsProxy: proxy.url, httpProxy: null, noProxy: null },
    })
    const error = await errorOf(client.fetch(get('https://a.example/')))
    expect(error).toMatchObject({ code: 'upstream_rejected' })
    expect(error.message).toContain('the outbound proxy was not reached')
  })

  test('a proxy that never answers CONNECT times out', async () => {
    const port = await startTcp(() => {})
    const client = openEgress({
      egress: [{ url: 'https://a.example' }],
      proxy: { httpsProxy: `http://127.0.0.1:${port}`, httpProxy: null, noProxy: null },
      limits: { connectTimeoutMs: 50 },
    })
    expect(await errorOf(client.fetch(get('https://a.example/')))).toMatchObject({
      code: 'upstream_connect_timeout',
    })
  })

  test('a host in NO_PROXY is reached directly and its addresses are checked', async () => {
    const proxy = await startProxy(0)
    const { port, origin } = await startUpstream((_request, response) => response.end('direct'))
    const settings = { httpsProxy: proxy.url, httpProxy: proxy.url, noProxy: '127.0.0.1' }
    const egress = [{ url: origin }]
    const granted = openEgress({ egress, grants: `acme=127.0.0.1:${port}`, proxy: settings })
    expect((await granted.fetch(get(origin))).body.toString()).toBe('direct')
    const ungranted = openEgress({ egress, proxy: settings })
    expect(await errorOf(ungranted.fetch(get(origin)))).toMatchObject({ code: 'egress_private' })
    expect(proxy.seen).toEqual([])
  })
})
