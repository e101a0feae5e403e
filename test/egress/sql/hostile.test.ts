/** A hostile database: any behaviour ends the request with an error code, in time. */
import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../../kit/eventually.ts'
import { errorOf, openedEgresses } from '../fixtures/open-egress.ts'
import { endless, startTcp, stopAll } from '../fixtures/upstream.ts'
import { egressTo, sql } from './database.ts'
import { FIRST, lastOf, message, row, WELCOME } from './wire.ts'

afterEach(async () => {
  for (const client of openedEgresses.splice(0)) await client.close()
  await stopAll()
})

const READS = { all: { text: 'select a from x', reads: true } }

type FakeServer = {
  signal?: AbortSignal
  /** Sent instead of the messages that accept the login. */
  welcome?: Buffer
  plain?: boolean
}

/** Accepts the login; the test decides the rest. */
async function startFakeServer(
  answer: (socket: Socket, said: Buffer) => void,
  { signal = AbortSignal.timeout(5000), welcome = WELCOME, plain = true }: FakeServer = {},
) {
  let connections = 0
  /** The first message of each connection. */
  const first: Buffer[] = []
  const port = await startTcp((socket) => {
    let asked = 0
    connections += 1
    socket.on('data', (said: Buffer) => {
      asked += 1
      if (asked === 1) first.push(said)
      if (!plain) answer(socket, said)
      else if (asked === 1) socket.write(welcome)
      else answer(socket, said)
    })
  })
  const auth = { username: 'x', password: 'a-password' }
  const at = { host: '127.0.0.1', port, database: 'x', auth }
  const client = egressTo(at, { statements: READS, plain, call: { signal } })
  const query = () => client.fetch(sql('QUERY', { statement: 'all' }))
  return { client, port, query, first, connections: () => connections }
}

describe('a database that', () => {
  test.each([
    [true, 'serves the next request on the same connection', 1],
    [false, 'serves the next request on another one', 2],
  ])('resets its session (%s) %s', async (isClean, _what, count) => {
    const { query, connections } = await startFakeServer((socket) =>
      socket.write(Buffer.concat([FIRST, row('x'), lastOf(isClean)])),
    )
    for (const _twice of [1, 2])
      expect(JSON.parse(String((await query()).body))).toEqual({ rows: [{ a: 'x' }], cursor: null })
    expect(connections()).toBe(count)
  })

  test.each([
    ['does not speak PostgreSQL', Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), 'upstream_too_large'],
    ['sends zero bytes', Buffer.alloc(200), 'upstream_garbled'],
    ['sends a malformed row', message('D', [0, 9]), 'upstream_garbled'],
    ['sends an unterminated error', message('E', 'SERROR\0'), 'upstream_garbled'],
    ['announces a message of 4 GiB', Buffer.from([68, 255, 255, 255, 255]), 'upstream_too_large'],
    [
      'sends more rows than requested',
      Buffer.concat([FIRST, ...Array(10_002).fill(row('a'))]),
      'upstream_too_large',
    ],
    ['is ready before it has answered', message('Z', 'I'), 'upstream_garbled'],
    ['starts a COPY', message('G', [0, 0, 0]), 'upstream_garbled'],
  ])('%s ends the request', async (_what, bytes, code) => {
    const { query } = await startFakeServer((socket) => socket.write(bytes))
    expect((await errorOf(query())).code).toBe(code)
  })

  test('sends without end ends the request', async () => {
    const { query } = await startFakeServer((socket) => {
      const some = Buffer.concat(Array(50).fill(row('x'.repeat(1000))))
      socket.write(
        FIRST,
        endless(socket, () => some),
      )
    })
    expect((await errorOf(query())).code).toBe('upstream_too_large')
  })

  test('sends settings without end before the login ends the request', async () => {
    const { query } = await startFakeServer(() => {}, {
      welcome: Buffer.concat(Array(400_000).fill(message('S', 'a\0b\0'))),
    })
    expect((await errorOf(query())).code).toBe('upstream_too_large')
  })

  test('announces megabytes before the login ends the request', async () => {
    const { query } = await startFakeServer(() => {}, { welcome: Buffer.from([83, 0, 16, 0, 0]) })
    expect((await errorOf(query())).code).toBe('upstream_too_large')
  })

  test('never answers is waited for until the call ends, and then told to stop', async () => {
    const ending = new AbortController()
    const { client, query, first } = await startFakeServer(() => {}, { signal: ending.signal })
    const failed = errorOf(query())
    await expect.poll(() => client.records[0]?.sent).toBe(true)
    ending.abort()
    expect((await failed).code).toBe('upstream_timeout')
    // A CancelRequest, with the key of the connection that WELCOME gave.
    const cancel = Buffer.from('0000001004d2162e0000000100000002', 'hex')
    await eventually(() => expect(first.slice(1)).toEqual([cancel]))
  })

  test('closes the connection within a reply is reported as upstream_closed', async () => {
    const { query } = await startFakeServer((socket) => socket.end(FIRST))
    expect((await errorOf(query())).code).toBe('upstream_closed')
  })

  test('refuses with an error is reported by its code', async () => {
    const error = Buffer.concat([message('E', 'SERROR\0C42501\0Mno\0\0'), message('Z', 'E')])
    const { query } = await startFakeServer((socket) => socket.write(error))
    const refused = await errorOf(query())
    expect(refused.details).toMatchObject({ wire: 'permission_denied', appErrorCode: '42501' })
  })

  test.each(['SASL authentication failed', 'no such user: x'])(
    'is a pooler and refuses a login as a protocol error is reported as unauthenticated: %s',
    async (said) => {
      const welcome = message('E', `SFATAL\0C08P01\0M${said}\0\0`)
      const { query } = await startFakeServer(() => {}, { welcome })
      const { details, message: told } = await errorOf(query())
      expect(details).toMatchObject({ wire: 'unauthenticated', appErrorCode: '28P01' })
      expect(told).toContain(said)
    },
  )

  test.each([
    ['offers no encryption', 'N', 'upstream_rejected'],
    ['answers the request for encryption with extra bytes', 'SS', 'upstream_garbled'],
    ['answers the request for encryption with an error', 'E', 'upstream_garbled'],
    ['agrees to encryption but does not speak TLS', 'S', 'upstream_rejected'],
  ])('%s gets no password', async (what, answer, code) => {
    const received: Buffer[] = []
    const { query, port } = await startFakeServer(
      (socket, bytes) => {
        received.push(bytes)
        if (received.length === 1) socket.write(answer)
        else socket.end('what is no TLS')
      },
      { plain: false },
    )
    const error = await errorOf(query())
    expect(error.code).toBe(code)
    if (what === 'offers no encryption')
      expect(error.message).toMatch(`KEYWAY_PLAIN_SQL=acme=127.0.0.1:${port}`)
    expect(Buffer.concat(received).includes('a-password')).toBe(false)
  })
})
