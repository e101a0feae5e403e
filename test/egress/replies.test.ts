import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import type { EgressLimits } from '../../runtime/egress/limits/limits.ts'
import { errorOf, get, openEgress, openedEgresses } from './fixtures/open-egress.ts'
import { startTcp, startUpstream, stopAll } from './fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

function egressTo(port: number, limits: Partial<EgressLimits> = {}, signal?: AbortSignal) {
  const origin = `http://127.0.0.1:${port}`
  const client = openEgress({
    egress: [{ url: origin }],
    grants: `acme=127.0.0.1:${port}`,
    limits,
    ...(signal === undefined ? {} : { call: { signal } }),
  })
  return { ...client, send: () => client.fetch(get(`${origin}/x?hush`)) }
}

/** A server that writes this once it has been asked, and then does `after` with the connection. */
const startRaw = (text: string | Buffer, after: 'end' | 'destroy' | 'stay' = 'end') =>
  startTcp((socket) =>
    socket.once('data', () => {
      if (after === 'end') socket.end(text)
      else socket.write(text, () => after === 'destroy' && socket.destroy())
    }),
  )

test('decodes a compressed reply and drops its encoding header', async () => {
  const { port } = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"a":1}'))
  })
  const reply = await egressTo(port).send()
  expect(reply.body.toString()).toBe('{"a":1}')
  expect(reply.headers.map(([name]) => name)).not.toContain('content-encoding')
})

test('assembles a reply of thousands of small chunks', async () => {
  const letters = Array.from({ length: 5000 }, (_, index) => String.fromCharCode(97 + (index % 26)))
  const chunks = letters.map((letter) => `1\r\n${letter}\r\n`).join('')
  const port = await startRaw(
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
  )
  expect((await egressTo(port).send()).body.toString()).toBe(letters.join(''))
})

describe('a reply that is too large', () => {
  test('is refused by its announced length, without being read', async () => {
    const port = await startRaw('HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\nabc', 'stay')
    expect(await errorOf(egressTo(port).send())).toMatchObject({ code: 'upstream_too_large' })
  })

  test('is stopped while it is sent', async () => {
    let sent = 0
    const port = await startTcp((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        const more = () => {
          sent += 1
          if (!socket.destroyed && sent < 100_000) socket.write(Buffer.alloc(1024), more)
        }
        more()
      }),
    )
    const client = egressTo(port, { maxReplyBytes: 100_000 })
    const error = await errorOf(client.send())
    expect(error).toMatchObject({ code: 'upstream_too_large' })
    expect(error.message).toContain(`127.0.0.1:${port} answered with more than 100000 bytes`)
    expect(client.records).toMatchObject([{ status: 200, error: 'upstream_too_large' }])
    expect(client.records[0]!.receivedBytes).toBeLessThanOrEqual(100_000)
    expect(sent).toBeLessThan(100_000)
  })

  test('is stopped while it is decoded', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024))
    const { port } = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    const error = await errorOf(egressTo(port).send())
    expect(error).toMatchObject({ code: 'upstream_too_large' })
  })

  test('is refused for the size of its headers', async () => {
    const port = await startRaw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`)
    expect(await errorOf(egressTo(port).send())).toMatchObject({ code: 'upstream_too_large' })
  })

  test('is refused when the replies of its call are too large together', async () => {
    const port = await startRaw(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1000)}`, 'stay')
    const client = egressTo(port, { maxOpenReplyBytes: 1500 })
    const error = await Promise.race([errorOf(client.send()), errorOf(client.send())])
    expect(error).toMatchObject({ code: 'upstream_too_large' })
  })
})

test('a reply counts twice while its received and its decoded bytes are held', async () => {
  const body = gzipSync('x'.repeat(2000))
  const { port } = await startUpstream((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(body)
  })
  const maxOpenReplyBytes = 2000 + body.length
  expect((await egressTo(port, { maxOpenReplyBytes }).send()).body).toHaveLength(2000)
  const client = egressTo(port, { maxOpenReplyBytes: maxOpenReplyBytes - 1 })
  expect(await errorOf(client.send())).toMatchObject({ code: 'upstream_too_large' })
})

test('a reply that was read no longer counts towards the limit of its call', async () => {
  const { port } = await startUpstream((_request, response) => response.end('x'.repeat(1000)))
  const client = egressTo(port, { maxOpenReplyBytes: 1500 })
  for (let time = 0; time < 3; time += 1) expect((await client.send()).body).toHaveLength(1000)
})

describe('a reply that breaks off', () => {
  test.each([
    ['before its head', ''],
    ['within its head', 'HTTP/1.1 200 OK\r\nx-a'],
    ['in a body with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
    ['in a chunked body', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc'],
  ])('%s is reported as upstream_closed', async (_where, text) => {
    for (const after of ['end', 'destroy'] as const) {
      const port = await startRaw(text, after)
      const error = await errorOf(egressTo(port).send())
      expect(error).toMatchObject({ code: 'upstream_closed' })
      expect(error.message).toContain(`127.0.0.1:${port}`)
      expect(error.message).not.toContain('hush')
    }
  })
})

describe('a reply that cannot be read', () => {
  test.each([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.9\r\n'],
    ['a reply with status 000', 'HTTP/1.1 000 Nothing\r\ncontent-length: 0\r\n\r\n'],
    ['a reply with status 042', 'HTTP/1.1 042 Answer\r\ncontent-length: 2\r\n\r\nab'],
    ['a reply whose status is a word', 'HTTP/1.1 OK\r\n\r\n'],
    [
      'in an encoding that was not requested',
      'HTTP/1.1 200 OK\r\ncontent-encoding: zstd\r\n\r\nabc',
    ],
    ['declared as gzip, but not gzip', 'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\nabc'],
  ])('because it is %s is reported as upstream_garbled', async (_what, text) => {
    const port = await startRaw(text)
    expect(await errorOf(egressTo(port).send())).toMatchObject({ code: 'upstream_garbled' })
  })
})

test('a reply with two content lengths is refused', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'
  expect(await errorOf(egressTo(await startRaw(`${head}ab`)).send())).toMatchObject({
    code: 'upstream_closed',
  })
})

describe('a body that drips', () => {
  test('ends with its call', async () => {
    const stop = new AbortController()
    const closed = Promise.withResolvers<void>()
    const port = await startTcp((socket) => {
      let drip: NodeJS.Timeout | undefined
      socket.on('close', () => {
        clearInterval(drip)
        closed.resolve()
      })
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        drip = setInterval(() => socket.write('x'), 5)
      })
    })
    const client = egressTo(port, {}, stop.signal)
    const ended = errorOf(client.send())
    while (!client.records[0]?.receivedBytes) await wait(5)
    stop.abort()
    const error = await ended
    expect(error).toMatchObject({ code: 'upstream_timeout' })
    expect(error.message).toBe(`127.0.0.1:${port} did not answer in time`)
    await closed.promise
  })

  test('does not delay a redirect, and ends with its call', async () => {
    const stop = new AbortController()
    const closed = Promise.withResolvers<void>()
    const { port, seen } = await startUpstream((request, response) => {
      if (request.url === '/to') return void response.end('there')
      response.writeHead(302, { location: '/to' }).write('x')
      response.on('close', closed.resolve)
    })
    expect(await egressTo(port, {}, stop.signal).send()).toMatchObject({ status: 200 })
    expect(seen).toHaveLength(2)
    stop.abort()
    await closed.promise
  })
})

test('the request that follows a redirect ends with its call', async () => {
  const stop = new AbortController()
  const closed = Promise.withResolvers<void>()
  const { port } = await startUpstream((request, response) => {
    if (request.url !== '/to') return void response.writeHead(302, { location: '/to' }).end()
    response.on('close', closed.resolve)
    stop.abort()
  })
  expect(await errorOf(egressTo(port, {}, stop.signal).send())).toMatchObject({
    code: 'upstream_timeout',
  })
  await closed.promise
})
