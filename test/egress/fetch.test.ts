import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { errorOf, get, manifestOf, openEgress, openedEgresses } from './fixtures/open-egress.ts'
import { startTcp, startUpstream, stopAll } from './fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const local = (port: number, ...more: number[]) => ({
  egress: [port, ...more].map((one) => ({ url: `http://127.0.0.1:${one}` })),
  grants: [port, ...more].map((one) => `acme=127.0.0.1:${one}`).join(' '),
})

describe('one request', () => {
  test('reaches the upstream and comes back whole', async () => {
    const { port, origin, seen } = await startUpstream((_request, response) => {
      response.writeHead(201, { 'x-a': ['1', '2'], 'set-cookie': 'a=b', etag: '"7"' })
      response.end('body')
    })
    const client = openEgress(local(port))
    const reply = await client.fetch(
      get(`${origin}/v1/x?y=z#frag`, {
        method: 'post',
        headers: [
          ['Content-Type', 'text/plain'],
          ['X-Twice', '1'],
          ['X-Twice', '2'],
        ],
        body: Buffer.from('hello'),
      }),
    )
    expect(reply).toMatchObject({ status: 201, url: `${origin}/v1/x?y=z`, redirected: false })
    expect(reply.body.toString()).toBe('body')
    expect(reply.headers).toContainEqual(['etag', '"7"'])
    expect(reply.headers.filter(([name]) => name === 'x-a')).toEqual([
      ['x-a', '1'],
      ['x-a', '2'],
    ])
    expect(reply.headers.some(([name]) => name === 'set-cookie')).toBe(false)
    expect(seen).toMatchObject([{ method: 'POST', path: '/v1/x?y=z', body: 'hello' }])
    expect(seen[0]!.headers).toMatchObject({
      'user-agent': 'keyway/test',
      'accept-encoding': 'gzip, br, deflate',
      'x-twice': '1, 2',
      'content-length': '5',
    })
  })

  test('is recorded with the names of its query, and without its query values and bodies', async () => {
    const { port, origin } = await startUpstream((_request, response) => response.end('12345678'))
    const client = openEgress(local(port))
    await client.fetch(
      get(`${origin}/v1/${'x'.repeat(300)}?hush=hush`, { method: 'PUT', body: Buffer.from('abc') }),
    )
    expect(client.records).toEqual([
      {
        method: 'PUT',
        host: `127.0.0.1:${port}`,
        path: `/v1/${'x'.repeat(196)}`,
        sent: true,
        status: 200,
        error: null,
        askedUntilMs: 0,
        sentBytes: 3,
        query: '?hush=…',
        receivedBytes: 8,
        beganAtMs: expect.any(Number),
        ms: expect.any(Number),
      },
    ])
    expect(client.hasWritten()).toBe(true)
  })

  test('is recorded without the secrets of its call', async () => {
    const { port, origin } = await startUpstream((_request, response) => response.end())
    const redact = (text: string) => text.replaceAll('hush-hush', '[secret]')
    const client = openEgress({ ...local(port), call: { redact } })
    await client.fetch(get(`${origin}/v1/hush-hush/x`))
    await client.fetch(get(`${origin}/${'x'.repeat(195)}hush-hush`))
    await errorOf(client.fetch(get('https://evil.example/hush%2Dhush')))
    expect(client.records.map(({ path }) => path)).toEqual([
      '/v1/[secret]/x',
      `/${'x'.repeat(195)}[sec`,
      '/[secret]',
    ])
  })

  test('answers HEAD without a body', async () => {
    const { port, origin } = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-length': '99999999', 'content-encoding': 'gzip' }).end()
    })
    const client = openEgress(local(port))
    const reply = await client.fetch(get(origin, { method: 'HEAD' }))
    expect(reply.body).toHaveLength(0)
    expect(reply.headers).toContainEqual(['content-length', '99999999'])
    expect(client.hasWritten()).toBe(false)
  })

  test('uses the entries of its own capability instead of the manifest’s', async () => {
    const { port, origin } = await startUpstream((_request, response) => response.end('ok'))
    const own = { egress: [{ url: `${origin}/own`, methods: ['GET'] }] }
    const manifest = manifestOf([{ url: origin }], {
      capabilities: { get_account: own, list_accounts: {} },
    })
    const { grants } = local(port)
    const client = openEgress({ egress: [], grants, call: { manifest, capability: 'get_account' } })
    expect(await client.fetch(get(`${origin}/own/1`))).toMatchObject({ status: 200 })
    const error = await errorOf(client.fetch(get(`${origin}/other`)))
    expect(error).toMatchObject({ code: 'egress_undeclared' })
    const other = openEgress({ egress: [], grants, call: { manifest } })
    expect(await other.fetch(get(`${origin}/other`))).toMatchObject({ status: 200 })
  })

  test('may POST in a read capability with reads_with, and not without', async () => {
    const { port, origin } = await startUpstream((_request, response) => response.end('ok'))
    const manifest = manifestOf([{ url: origin }], {
      capabilities: { search: { reads_with: ['POST'] }, list_accounts: {} },
    })
    const { grants } = local(port)
    const call = { manifest, level: 'read' as const }
    const search = openEgress({ egress: [], grants, call: { ...call, capability: 'search' } })
    expect(await search.fetch(get(origin, { method: 'POST' }))).toMatchObject({ status: 200 })
    const list = openEgress({ egress: [], grants, call })
    expect(await errorOf(list.fetch(get(origin, { method: 'POST' })))).toMatchObject({
      code: 'egress_undeclared',
    })
    expect(list.hasWritten()).toBe(false)
  })
})

describe('refuses before anything is sent', () => {
  test.each([
    ['an address that is not declared', 'https://evil.example/', {}, 'egress_undeclared'],
    ['an address with user info', 'http://u:p@127.0.0.1/', {}, 'egress_url'],
    [
      'a connection header',
      null,
      { headers: [['Host', 'evil.example']] as [string, string][] },
      'egress_header',
    ],
    ['a body over the limit', null, { method: 'POST', body: new Uint8Array(101) }, 'egress_body'],
  ])('%s', async (_what, url, more, code) => {
    const { port, origin, seen } = await startUpstream((_request, response) => response.end())
    const client = openEgress({ ...local(port), limits: { maxRequestBytes: 100 } })
    expect(await errorOf(client.fetch(get(url ?? origin, more)))).toMatchObject({ code })
    expect(seen).toEqual([])
    expect(client.hasWritten()).toBe(false)
    expect(client.records.every((record) => !record.sent && record.status === null)).toBe(true)
  })

  test('a declared private address without the operator’s grant', async () => {
    const { port, origin, seen } = await startUpstream((_request, response) => response.end())
    const { egress } = local(port)
    const client = openEgress({ egress, grants: `other=127.0.0.1:${port} acme=127.0.0.1:1` })
    const error = await errorOf(client.fetch(get(origin)))
    expect(error).toMatchObject({ code: 'egress_private' })
    expect(error.message).toContain(`KEYWAY_PRIVATE_EGRESS=acme=127.0.0.1:${port}`)
    expect(client.records).toMatchObject([{ error: 'egress_private', status: null }])
    expect(seen).toEqual([])
  })

  test('a name with one public and one private address', async () => {
    const { port } = await startUpstream((_request, response) => response.end())
    const client = openEgress({
      egress: [{ url: `http://mixed.example:${port}` }],
      resolve: async () => ['8.8.8.8', '127.0.0.1'],
    })
    expect(await errorOf(client.fetch(get(`http://mixed.example:${port}/`)))).toMatchObject({
      code: 'egress_private',
    })
  })

  test('a setting that does not fit its place', async () => {
    const manifest = manifestOf([{ url: 'https://{settings.sub}.acme.example' }], {
      settings: { sub: { type: 'string' } },
    })
    const client = openEgress({
      egress: [],
      call: { manifest, settings: { sub: 'evil.example#' } },
    })
    expect(await errorOf(client.fetch(get('https://evil.example/')))).toMatchObject({
      code: 'egress_setting',
    })
  })

  test('a request over the open connection of another connector', async () => {
    const { port, origin } = await startUpstream((_request, response) => response.end('ok'))
    const client = openEgress(local(port))
    expect(await client.fetch(get(origin))).toMatchObject({ status: 200 })
    const { egress } = local(port)
    const other = openEgress({ egress, grants: '', call: { connectorId: 'other' } })
    expect(await errorOf(other.fetch(get(origin)))).toMatchObject({ code: 'egress_private' })
  })
})

test('resolves a granted name once and reuses the checked connection', async () => {
  let lookups = 0
  const { port, seen } = await startUpstream((_request, response) => response.end('ok'))
  const client = openEgress({
    egress: [{ url: `http://in.example:${port}` }],
    grants: `acme=in.example:${port}`,
    resolve: async () => [['127.0.0.1'], ['127.0.0.2']][lookups++] ?? [],
  })
  await client.fetch(get(`http://in.example:${port}/1`))
  // undici waits one turn of the event loop before it uses a connection again.
  await wait(20)
  await client.fetch(get(`http://IN.example.:${port}/2`))
  expect(seen.map(({ path, headers }) => [path, headers['host']])).toEqual([
    ['/1', `in.example:${port}`],
    ['/2', `in.example:${port}`],
  ])
  expect(lookups).toBe(1)
})

describe('a redirect', () => {
  test('is followed to an allowed address, with credentials on the same origin', async () => {
    const { port, origin, seen } = await startUpstream((request, response) => {
      if (request.url === '/from') response.writeHead(302, { location: '/to?x' }).end('moved')
      else response.end('there')
    })
    const client = openEgress(local(port))
    const headers: [string, string][] = [['authorization', 'Bearer t']]
    const reply = await client.fetch(get(`${origin}/from`, { headers }))
    expect(reply).toMatchObject({ status: 200, url: `${origin}/to?x`, redirected: true })
    expect(seen[1]!.headers['authorization']).toBe('Bearer t')
    expect(client.records.map(({ path, status }) => [path, status])).toEqual([
      ['/from', 302],
      ['/to', 200],
    ])
  })

  test('to another origin loses Authorization and unknown headers', async () => {
    const target = await startUpstream((_request, response) => response.end('there'))
    const { port, origin } = await startUpstream((_request, response) => {
      response.writeHead(307, { location: `${target.origin}/x` }).end()
    })
    const client = openEgress(local(port, target.port))
    const headers: [string, string][] = [
      ['Authorization', 'Bearer t'],
      ['X-Api-Key', 'k'],
      ['Accept', 'text/x'],
    ]
    await client.fetch(get(origin, { method: 'POST', headers, body: Buffer.from('b') }))
    expect(target.seen).toMatchObject([
      { method: 'POST', body: 'b', headers: { accept: 'text/x' } },
    ])
    expect(target.seen[0]!.headers).not.toHaveProperty('authorization')
    expect(target.seen[0]!.headers).not.toHaveProperty('x-api-key')
  })

  test.each([
    ['a host that is not declared', 'https://evil.example/', 'egress_undeclared'],
    ['a method that is not declared', '/post-only', 'egress_undeclared'],
    ['another scheme', 'file:///etc/passwd', 'egress_url'],
    ['an address with user info', 'http://u:p@127.0.0.1/', 'egress_url'],
    ['a declared private address without a grant', 'http://169.254.169.254/meta', 'egress_private'],
    ['a mapped loopback address', 'http://[::ffff:127.0.0.1]/', 'egress_private'],
  ])('is denied to %s', async (_what, location, code) => {
    const { origin, port, seen } = await startUpstream((_request, response) => {
      response.writeHead(302, { location }).end()
    })
    const { grants } = local(port)
    const egress = [
      { url: `${origin}/from` },
      { url: `${origin}/post-only`, methods: ['POST'] },
      { url: 'http://169.254.169.254' },
      { url: 'http://[::ffff:7f00:1]' },
    ]
    const client = openEgress({ egress, grants })
    expect(await errorOf(client.fetch(get(`${origin}/from`)))).toMatchObject({ code })
    expect(seen).toHaveLength(1)
  })

  test('is followed five times and not six', async () => {
    const { port, origin, seen } = await startUpstream((request, response) => {
      const left = Number(request.url!.slice(1))
      if (left === 0) response.end('there')
      else response.writeHead(301, { location: `/${left - 1}` }).end()
    })
    const client = openEgress(local(port))
    expect(await client.fetch(get(`${origin}/5`))).toMatchObject({ status: 200, redirected: true })
    expect(await errorOf(client.fetch(get(`${origin}/6`)))).toMatchObject({
      code: 'egress_redirects',
    })
    expect(seen).toHaveLength(12)
  })

  test('is returned unchanged with manual, and is an error with error', async () => {
    const { port, origin } = await startUpstream((_request, response) => {
      response.writeHead(302, { location: 'https://evil.example/?hush' }).end('moved')
    })
    const client = openEgress(local(port))
    const reply = await client.fetch(get(origin, { redirect: 'manual' }))
    expect(reply).toMatchObject({ status: 302, redirected: false })
    expect(reply.headers).toContainEqual(['location', 'https://evil.example/?hush'])
    const error = await errorOf(client.fetch(get(origin, { redirect: 'error' })))
    expect(error).toMatchObject({ code: 'egress_redirects' })
    expect(error.message).not.toContain('hush')
  })
})

describe('one call', () => {
  test('has at most 64 requests open', async () => {
    const { port, origin } = await startUpstream(() => {})
    const stop = new AbortController()
    const client = openEgress({ ...local(port), call: { signal: stop.signal } })
    const open = Array.from({ length: 64 }, () => errorOf(client.fetch(get(origin))))
    expect(await errorOf(client.fetch(get(origin)))).toMatchObject({ code: 'egress_concurrency' })
    stop.abort()
    expect(new Set((await Promise.all(open)).map(({ code }) => code))).toEqual(
      new Set(['upstream_timeout']),
    )
  })

  test('can send again when one of its requests has ended', async () => {
    const { port, origin } = await startUpstream((_request, response) => response.end())
    const client = openEgress({ ...local(port), limits: { maxOpenFetches: 1 } })
    for (let time = 0; time < 3; time += 1) await client.fetch(get(origin))
    expect(client.records).toHaveLength(3)
  })

  test('ends with the signal’s own error, before and after sending', async () => {
    const { port, origin } = await startUpstream(() => stop.abort(reason))
    const stop = new AbortController()
    const reason = new RuntimeError('caller_gone', 'gone')
    const client = openEgress({ ...local(port), call: { signal: stop.signal } })
    expect(await errorOf(client.fetch(get(origin)))).toBe(reason)
    expect(await errorOf(client.fetch(get(origin)))).toBe(reason)
    expect(client.records).toMatchObject([
      { sent: true, error: 'caller_gone' },
      { sent: false, error: 'caller_gone' },
    ])
  })

  test('keeps at most maxRecords records and still knows of later writes', async () => {
    const { port, origin } = await startUpstream((_request, response) => response.end())
    const client = openEgress({ ...local(port), limits: { maxRecords: 2 } })
    for (let time = 0; time < 3; time += 1) await client.fetch(get(origin))
    expect(client.hasWritten()).toBe(false)
    await client.fetch(get(origin, { method: 'DELETE' }))
    expect(client.records).toHaveLength(2)
    expect(client.hasWritten()).toBe(true)
  })
})

describe('an upstream that cannot be reached', () => {
  test('is rejected when it refuses the connection', async () => {
    const port = await startTcp(() => {})
    await stopAll()
    const client = openEgress(local(port))
    const error = await errorOf(client.fetch(get(`http://127.0.0.1:${port}/x?hush`)))
    expect(error).toMatchObject({ code: 'upstream_rejected' })
    expect(error.message).toBe(
      `127.0.0.1:${port} was not reached: the connection was refused: nothing listens there, or a firewall is between`,
    )
  })

  test('is rejected when its name is not found', async () => {
    const resolve = async () => {
      throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })
    }
    const client = openEgress({ egress: [{ url: 'https://gone.example' }], resolve })
    const error = await errorOf(client.fetch(get('https://gone.example/')))
    expect(error).toMatchObject({ code: 'upstream_rejected' })
    expect(error.message).toContain('gone.example:443 was not reached: the name was not found')
  })

  test('is rejected when it does not speak TLS', async () => {
    const port = await startTcp((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const client = openEgress({
      egress: [{ url: `https://127.0.0.1:${port}` }],
      grants: `acme=127.0.0.1:${port}`,
    })
    const error = await errorOf(client.fetch(get(`https://127.0.0.1:${port}/`)))
    expect(error).toMatchObject({ code: 'upstream_rejected' })
    expect(error.message).toContain('TLS was refused: it does not speak TLS at this port')
  })

  test('times out when the handshake never ends', async () => {
    const port = await startTcp(() => {})
    const client = openEgress({
      egress: [{ url: `https://127.0.0.1:${port}` }],
      grants: `acme=127.0.0.1:${port}`,
      limits: { connectTimeoutMs: 50 },
    })
    expect(await errorOf(client.fetch(get(`https://127.0.0.1:${port}/`)))).toMatchObject({
      code: 'upstream_connect_timeout',
    })
  })
})
