/** A hostile MySQL: any behaviour ends the request with an error code, in time. */
import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { errorOf, openedEgresses } from '../fixtures/open-egress.ts'
import { endless, startTcp, stopAll } from '../fixtures/upstream.ts'
import { sql } from './database.ts'
import { mariadbEgress } from './mariadb.ts'
import { binaryRow, column, end, first, greeting, ok, packet, prepared } from './mysql-wire.ts'

afterEach(async () => {
  for (const client of openedEgresses.splice(0)) await client.close()
  await stopAll()
})

const READS = {
  all: { text: 'select a from x', reads: true },
  by: { text: 'select a from x where a = $1', parameters: ['string' as const], reads: true },
  change: { text: 'delete from x returning a' },
}

/** The commands that reset a session and that prepare a statement. */
const [RESET, PREPARE] = [31, 22]

type FakeServer = {
  greets?: Buffer
  login?: Buffer
  plain?: boolean
  statement?: string
  /** Answers the command that resets a session. */
  resets?: (socket: Socket) => void
}

/** Sends the greeting and accepts the login; the test decides the rest. */
async function startFakeServer(
  answer: (socket: Socket, said: Buffer) => void,
  {
    greets = greeting(),
    login = ok(2),
    plain = true,
    statement = 'all',
    resets = (socket) => socket.write(ok(1)),
  }: FakeServer = {},
) {
  let heard = ''
  let connections = 0
  const port = await startTcp((socket) => {
    let isIn = false
    connections += 1
    socket.on('error', () => {})
    socket.on('data', (said: Buffer) => {
      heard += said.toString('latin1')
      if (!isIn) {
        isIn = true
        socket.write(login)
      } else if (said[4] === RESET) resets(socket)
      else if (said[4] === PREPARE && statement === 'all')
        socket.write(Buffer.concat([prepared(1, 0), column(2), end(3)]))
      else if (/SET SESSION/.test(said.toString('latin1'))) socket.write(ok(1))
      else answer(socket, said)
    })
    socket.write(greets)
  })
  const auth = { username: 'x', password: 'a-password' }
  const client = mariadbEgress(
    { host: '127.0.0.1', port, auth },
    { statements: READS, plain, call: { signal: AbortSignal.timeout(5000) } },
  )
  const parameters = statement === 'by' ? ['x'] : []
  return {
    change: () => client.fetch(sql('EXECUTE', { statement: 'change', parameters: [] })),
    query: () => client.fetch(sql('QUERY', { statement, parameters })),
    heard: () => heard,
    connections: () => connections,
  }
}

const text = async (work: Promise<{ body: unknown }>) => JSON.parse(String((await work).body))

test.each([
  ['11.4.0-MariaDB', 'SESSION tx_read_only = 1, SESSION max_statement_time = 60'],
  ['8.4.3', 'SESSION transaction_read_only = 1, SESSION max_execution_time = 60000'],
])(
  'a well-behaved MySQL %s is read, in a session set up with its own variable names',
  async (version, settles) => {
    const { query, heard } = await startFakeServer(
      (socket) =>
        socket.write(Buffer.concat([first, binaryRow(4, 'x'), packet(5, [0, 4]), end(6)])),
      { greets: greeting({ version }) },
    )
    expect(await text(query())).toEqual({ rows: [{ a: 'x' }, { a: null }], cursor: null })
    expect(heard()).toContain(settles)
  },
)

const oneRow = (socket: Socket) => socket.write(Buffer.concat([first, binaryRow(4, 'x'), end(5)]))

describe('a session that has answered', () => {
  test('is reset after the reply, and serves no request before that', async () => {
    let finishReset: (() => void) | undefined
    const asked = Promise.withResolvers<void>()
    const { query, heard, connections } = await startFakeServer(oneRow, {
      resets: (socket) => {
        finishReset = () => socket.write(ok(1))
        asked.resolve()
      },
    })
    expect((await text(query())).rows).toEqual([{ a: 'x' }])
    await asked.promise
    const before = heard()
    const next = query()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(heard()).toBe(before)
    finishReset?.()
    expect((await text(next)).rows).toEqual([{ a: 'x' }])
    expect(heard().length).toBeGreaterThan(before.length)
    expect(connections()).toBe(1)
  })

  test.each<[string, (socket: Socket) => void]>([
    ['refuses the reset', (socket) => socket.write(packet(1, [255, 0x7a, 4], '#42S02no'))],
    ['answers the reset with extra messages', (socket) => socket.write(first)],
    ['closes the connection instead', (socket) => socket.destroy()],
    ['does not answer the reset in time', () => {}],
  ])('and then %s serves no further request', async (_what, resets) => {
    const { query, connections } = await startFakeServer(oneRow, { resets })
    expect((await text(query())).rows).toEqual([{ a: 'x' }])
    expect((await text(query())).rows).toEqual([{ a: 'x' }])
    expect(connections()).toBe(2)
  })
})

describe('a MySQL that', () => {
  test.each<[string, Buffer, string, string?]>([
    ['answers a query with the OK of a change', ok(1), 'upstream_garbled'],
    ['requests a local file', packet(1, [0xfb], '/etc/passwd'), 'upstream_garbled'],
    ['sends an OK out of sequence', ok(3), 'upstream_garbled'],
    ['announces zero columns', packet(1, [0xfc, 0, 0]), 'upstream_garbled'],
    ['announces a hundred thousand columns', packet(1, [0xfd, 0xa0, 0x86, 1]), 'upstream_garbled'],
    [
      'sends an OK in place of a column',
      Buffer.concat([packet(1, [1]), ok(2)]),
      'upstream_garbled',
    ],
    ['sends a malformed row', Buffer.concat([first, packet(4, [9])]), 'upstream_garbled'],
    [
      'sends a row with an extra value',
      Buffer.concat([first, packet(4, [0, 0])]),
      'upstream_garbled',
    ],
    ['sends a packet out of turn', Buffer.concat([first, binaryRow(9, 'x')]), 'upstream_garbled'],
    ['sends another OK after its OK', Buffer.concat([ok(1), ok(2)]), 'upstream_garbled'],
    ['announces a message of 16 MiB', Buffer.from([255, 255, 255, 1]), 'upstream_too_large'],
    ['refuses without an error number', packet(1, [255]), 'upstream_garbled'],
    ['refuses', packet(1, [255, 0x7a, 4], '#42S02no table'), 'database_refused'],
    [
      'sends a binary row without its values',
      Buffer.concat([first, packet(4, [0, 0, 5])]),
      'upstream_garbled',
      'by',
    ],
    [
      'prepares another statement',
      Buffer.concat([prepared(1, 9), ...Array(8).fill(column(2))]),
      'upstream_garbled',
      'by',
    ],
  ])('%s ends the request', async (_what, bytes, code, statement = 'all') => {
    const { query } = await startFakeServer(
      (socket, said) => {
        const isPrepare = said[4] === PREPARE && !_what.startsWith('prepares')
        socket.write(
          isPrepare ? Buffer.concat([prepared(1, 1), column(2), end(3), column(4), end(5)]) : bytes,
        )
      },
      { statement },
    )
    const error = await errorOf(query())
    expect(error.code).toBe(code)
    if (code === 'database_refused')
      expect(error.details).toMatchObject({ wire: 'client_call_error', appErrorCode: '1146' })
  })

  /** A row of the reply to a statement that was sent as text. */
  const textRow = (number: number, said: string) => packet(number, [said.length], said)
  test.each<[string, Buffer]>([
    ['a malformed row', packet(4, [9])],
    ['a row with an extra value', packet(4, [0, 0])],
    ['a packet out of turn', textRow(9, 'x')],
  ])('answers a change with %s ends the request', async (_what, bytes) => {
    const honest = await startFakeServer((socket) =>
      socket.write(Buffer.concat([first, textRow(4, 'x'), end(5)])),
    )
    expect(await text(honest.change())).toEqual({ touched: [1] })
    const { change } = await startFakeServer((socket) =>
      socket.write(Buffer.concat([first, bytes])),
    )
    expect((await errorOf(change())).code).toBe('upstream_garbled')
  })

  test('refuses a login is reported with the possible reasons', async () => {
    const { query } = await startFakeServer((socket) =>
      socket.write(packet(1, [255, 0x15, 4], "#28000Access denied for user 'a'@'b'")),
    )
    const error = await errorOf(query())
    expect(error.details).toMatchObject({ wire: 'unauthenticated', appErrorCode: '1045' })
    expect(error.message).toMatch(/the user or the password is wrong, .*: Access denied for user/)
  })

  test('sends without end ends the request', async () => {
    const { query } = await startFakeServer((socket) => {
      let number = 4
      const some = () =>
        Buffer.concat(
          Array.from({ length: 256 }, () => {
            const one = binaryRow(number, 'x'.repeat(200))
            number = (number + 1) & 255
            return one
          }),
        )
      socket.write(first, endless(socket, some))
    })
    expect((await errorOf(query())).code).toBe('upstream_too_large')
  })

  test('closes the connection within a reply is reported as upstream_closed', async () => {
    const { query } = await startFakeServer((socket) => socket.end(first))
    expect((await errorOf(query())).code).toBe('upstream_closed')
  })

  test.each<[string, FakeServer, string]>([
    ['offers no encryption', { plain: false }, 'upstream_rejected'],
    [
      'agrees to encryption but does not speak TLS',
      {
        plain: false,
        greets: greeting({ encrypts: true }),
        login: Buffer.from('no encryption here'),
      },
      'upstream_rejected',
    ],
    [
      'speaks something else',
      { greets: Buffer.from('HTTP/1.1 200 OK\r\n\r\n') },
      'upstream_garbled',
    ],
    [
      'sends more than its greeting',
      { greets: Buffer.concat([greeting(), ok(1)]) },
      'upstream_garbled',
    ],
    [
      'sends a truncated greeting',
      { greets: packet(0, [10], '5\0', Array(20).fill(0)) },
      'upstream_garbled',
    ],
    [
      'refuses all connections',
      { greets: packet(0, [255, 0x10, 4], 'Too many') },
      'database_refused',
    ],
    [
      'requests the password in cleartext',
      { login: packet(2, [254], 'mysql_clear_password\0') },
      'upstream_garbled',
    ],
    ['accepts the login with an empty packet', { login: packet(2, [0]) }, 'upstream_garbled'],
  ])('%s gets no password', async (_what, lies, code) => {
    const { query, heard } = await startFakeServer(() => {}, lies)
    expect((await errorOf(query())).code).toBe(code)
    expect(heard()).not.toContain('a-password')
  })
})
