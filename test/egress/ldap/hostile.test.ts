/** A hostile directory: any behaviour ends the request with an error code, in time. */
import type { Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { errorOf, openedEgresses } from '../fixtures/open-egress.ts'
import { endless, startTcp, stopAll } from '../fixtures/upstream.ts'
import { egressTo, ldap } from './directory.ts'

afterEach(async () => {
  for (const client of openedEgresses.splice(0)) await client.close()
  await stopAll()
})

const BOUND = Buffer.from([0x30, 12, 2, 1, 2, 0x61, 7, 0x0a, 1, 0, 4, 0, 4, 0])
const entry = (id: number) =>
  Buffer.from([0x30, 12, 2, 1, id, 0x64, 7, 4, 1, 0x61, 0x30, 2, 0x30, 0])
const ENTRY = Buffer.from([
  0x30, 20, 2, 1, 3, 0x64, 15, 4, 1, 0x61, 0x30, 10, 0x30, 8, 4, 1, 0x62, 0x31, 3, 4, 1, 0x63,
])

/** Accepts the bind; the test decides the rest. */
async function startFakeServer(
  answer: (socket: Socket) => void,
  signal = AbortSignal.timeout(5000),
) {
  const port = await startTcp((socket) => {
    let asked = 0
    socket.on('data', () => {
      asked += 1
      if (asked === 1) socket.write(BOUND)
      else answer(socket)
    })
  })
  const auth = { bindDn: 'cn=x', password: 'a-password' }
  const at = { url: `ldap://127.0.0.1:${port}`, baseDn: 'dc=x', auth }
  const client = egressTo(at, { call: { signal } })
  return { client, search: () => client.fetch(ldap('SEARCH', { scope: 'sub' })) }
}

describe('a directory that', () => {
  test.each([
    ['does not speak LDAP', Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), 'upstream_garbled'],
    ['sends an entry with inconsistent lengths', entry(3), 'upstream_garbled'],
    [
      'announces a message of 4 GiB',
      Buffer.from([0x30, 0x84, 255, 255, 255, 255]),
      'upstream_too_large',
    ],
    [
      'sends more entries than a page',
      Buffer.concat(Array(5000).fill(ENTRY)),
      'upstream_too_large',
    ],
    [
      'sends a hundred thousand unsolicited messages',
      Buffer.concat(Array(100_000).fill(BOUND)),
      'upstream_too_large',
    ],
  ])('%s ends the request', async (_what, bytes, code) => {
    const { search } = await startFakeServer((socket) => socket.write(bytes))
    expect((await errorOf(search())).code).toBe(code)
  })

  test('sends without end ends the request', async () => {
    const { search } = await startFakeServer((socket) => {
      endless(socket, () => Buffer.concat(Array(50).fill(ENTRY)))()
    })
    expect((await errorOf(search())).code).toBe('upstream_too_large')
  })

  test('never answers is waited for until the call ends', async () => {
    const ending = new AbortController()
    const { client, search } = await startFakeServer(() => {}, ending.signal)
    const failed = errorOf(search())
    await expect.poll(() => client.records[0]?.sent).toBe(true)
    ending.abort()
    expect((await failed).code).toBe('upstream_timeout')
  })

  test('closes the connection within a reply is reported as upstream_closed', async () => {
    const { search } = await startFakeServer((socket) => socket.end(ENTRY))
    expect((await errorOf(search())).code).toBe('upstream_closed')
  })

  test('sends a notice of disconnection ends the request at once, with its message', async () => {
    // 1.3.6.1.4.1.1466.20036: the notice of disconnection (RFC 4511 section 4.4.1).
    const name = Buffer.from('1.3.6.1.4.1.1466.20036')
    const text = Buffer.from('going down for the night')
    const result = [0x0a, 1, 52, 4, 0, 4, text.length, ...text, 0x8a, name.length, ...name]
    const message = [2, 1, 0, 0x78, result.length, ...result]
    const notice = Buffer.from([0x30, message.length, ...message])
    // It leaves the connection open, and answers nothing.
    const { search } = await startFakeServer((socket) => socket.write(notice))
    const error = await errorOf(search())
    expect(error.code).toBe('upstream_closed')
    expect(error.message).toMatch(
      /closed the connection and said unavailable \(52\): going down for the night$/,
    )
  })

  test('sends one byte at a time is read as usual', async () => {
    const done = Buffer.from([0x30, 12, 2, 1, 3, 0x65, 7, 0x0a, 1, 0, 4, 0, 4, 0])
    const { search } = await startFakeServer((socket) => {
      for (const byte of Buffer.concat([ENTRY, done])) socket.write(Buffer.from([byte]))
    })
    const { entries } = JSON.parse(String((await search()).body))
    expect(entries).toEqual([{ dn: 'a', attributes: { b: ['c'] }, binary: [] }])
  })

  test.each([
    [4, 'sizeLimitExceeded', /all pages together, .*: raise the limit there$/],
    [66, 'notAllowedOnNonLeaf', /entries below this one: delete or move them first$/],
  ])('refuses with %s causes a message that says what to do', async (code, name, words) => {
    const refusal = Buffer.from([0x30, 12, 2, 1, 3, 0x65, 7, 0x0a, 1, code, 4, 0, 4, 0])
    const { search } = await startFakeServer((socket) => socket.write(refusal))
    const error = await errorOf(search())
    expect(error.details.appErrorCode).toBe(name)
    expect(error.message).toMatch(words)
  })

  test.each([
    ['refuses anonymous binds', { code: 'directory_refused', message: /without a name/ }, 48],
    ['ends the connection at once', { code: 'upstream_closed', message: /closed/ }, null],
  ])('%s is reported to a call without a bind', async (_what, { code, message }, result) => {
    const port = await startTcp((socket) => {
      socket.on('data', () => {
        if (result === null) socket.end()
        else socket.write(Buffer.from([0x30, 12, 2, 1, 2, 0x61, 7, 0x0a, 1, result, 4, 0, 4, 0]))
      })
    })
    const at = {
      url: `ldap://127.0.0.1:${port}`,
      baseDn: 'dc=x',
      auth: { bindDn: '', password: '' },
    }
    const client = egressTo(at, { entry: { bind: undefined } })
    const error = await errorOf(client.fetch(ldap('SEARCH', {})))
    expect(error.code).toBe(code)
    expect(error.message).toMatch(message)
  })

  test('refuses STARTTLS gets no password', async () => {
    const seen: Buffer[] = []
    const port = await startTcp((socket) => {
      socket.on('data', (bytes: Buffer) => {
        seen.push(bytes)
        socket.write(Buffer.from([0x30, 12, 2, 1, 1, 0x78, 7, 0x0a, 1, 52, 4, 0, 4, 0]))
      })
    })
    const auth = { bindDn: 'cn=x', password: 'a-password' }
    const at = { url: `ldap://127.0.0.1:${port}`, baseDn: 'dc=x', auth }
    const error = await errorOf(egressTo(at, { plain: false }).fetch(ldap('SEARCH', {})))
    expect(error.code).toBe('upstream_rejected')
    expect(String(Buffer.concat(seen))).not.toContain('a-password')
  })

  test('sends plain text after its answer to STARTTLS ends the request', async () => {
    const port = await startTcp((socket) => {
      const answer = Buffer.from([0x30, 12, 2, 1, 1, 0x78, 7, 0x0a, 1, 0, 4, 0, 4, 0])
      socket.on('data', () => socket.write(Buffer.concat([answer, BOUND])))
    })
    const auth = { bindDn: 'cn=x', password: 'a-password' }
    const at = { url: `ldap://127.0.0.1:${port}`, baseDn: 'dc=x', auth }
    const error = await errorOf(egressTo(at, { plain: false }).fetch(ldap('SEARCH', {})))
    expect(error.code).toBe('upstream_garbled')
  })
})

test('a tenant has at most four open connections; further requests wait', async () => {
  const ending = new AbortController()
  const { client, search } = await startFakeServer(() => {}, ending.signal)
  const all = Array.from({ length: 40 }, () => errorOf(search()))
  await expect.poll(() => client.records.filter(({ sent }) => sent).length).toBe(4)
  ending.abort()
  expect(new Set((await Promise.all(all)).map(({ code }) => code))).toEqual(
    new Set(['upstream_timeout']),
  )
})
