import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { INPUTS } from '../../../runtime/contract/limits/inputs.ts'
import { readCallHead } from '../../../runtime/http/front/call-head.ts'

const RULES = {
  connectorsPath: '/connectors',
  isConnector: (id: string) => id === 'acme',
  isHost: (host: string) => host === 'localhost',
  isAllowed: (authorization: string) => authorization === 'Bearer right',
}

const USUAL = [
  'POST /connectors/acme/list_accounts HTTP/1.1',
  'Host: localhost',
  'Content-Type: application/json',
  'Authorization: Bearer right',
  'Content-Length: 2',
]

const read = (lines: readonly string[], body = '{}') =>
  readCallHead(Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1'), RULES)

/** The usual head with this line added, or replaced if it has a line of the same name. */
const withLine = (line: string): string[] => {
  const [name = ''] = line.split(/[: ]/)
  const kept = USUAL.filter((one) => !one.toLowerCase().startsWith(name.toLowerCase()))
  return name === 'POST' ? [line, ...kept] : [...kept, line]
}

test('the usual call is read', () => {
  const head = read([...USUAL, 'X-Request-Id:  mine \t', 'User-Agent: x'])
  expect(head).toMatchObject({ id: 'acme', capability: 'list_accounts', bodyBytes: 2 })
  expect(head?.correlation.get('x-request-id')).toBe('mine')
  expect(head?.headBytes).toBe(
    [...USUAL, 'X-Request-Id:  mine \t', 'User-Agent: x'].join('\r\n').length + 4,
  )
})

test('a call by fetch of Node is read', async () => {
  const heads: Buffer[] = []
  const server = createServer((socket) => {
    socket.once('data', (bytes: Buffer) => {
      heads.push(bytes)
      socket.end('HTTP/1.1 204 No Content\r\n\r\n')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const headers = { 'content-type': 'application/json', authorization: 'Bearer right' }
  const url = `http://127.0.0.1:${port}/connectors/acme/list_accounts`
  await fetch(url, { method: 'POST', headers, body: '{}' })
  server.close()
  const rules = { ...RULES, isHost: (host: string) => host === `127.0.0.1:${port}` }
  expect(readCallHead(heads[0] ?? Buffer.alloc(0), rules)).toMatchObject({ id: 'acme' })
})

test.each([
  'CONTENT-LENGTH: 1048576',
  'Content-Type: Application/JSON ; charset=utf-8',
  'Connection: Keep-Alive',
])('a call with %s is read', (line) => {
  expect(read(withLine(line))).not.toBeNull()
})

test.each([
  'POST /connectors/acme/list_accounts HTTP/1.0',
  'POST /connectors/acme/list_accounts  HTTP/1.1',
  'POST /connectors/acme/info HTTP/1.1',
  'POST /connectors/acme/list-accounts HTTP/1.1',
  'POST /connectors/other/list_accounts HTTP/1.1',
  'POST /connectors/../list_accounts HTTP/1.1',
  'POST /connectors//list_accounts HTTP/1.1',
  'POST /connectors/acme/list_accounts/x HTTP/1.1',
  'POST /connectors/acme/list_accounts?x HTTP/1.1',
  'POST http://localhost/connectors/acme/list_accounts HTTP/1.1',
  'Host: example.com',
  'Host:',
  'Authorization: Bearer wrong',
  'Content-Type: text/plain',
  'Connection: close',
  'Connection: upgrade',
  'Content-Length: 0',
  'Content-Length: 02',
  'Content-Length: +2',
  'Content-Length: 2, 2',
  'Content-Length: 2 2',
  `Content-Length: ${INPUTS.call_body.maxBytes + 1}`,
  'Transfer-Encoding: chunked',
  'Expect: 100-continue',
  'Expect: 200',
  'X-Odd: a',
  'Accept : x',
  ' Accept: x',
  'Accept',
  'Accept: caf\xe9',
  'Accept: a\0b',
  'Accept: a\nHost: b',
])('a call with %j is not read', (line) => {
  expect(read(withLine(line))).toBeNull()
})

test.each(USUAL.slice(1))('a call without %s, or with it twice, is not read', (line) => {
  expect(read(USUAL.filter((one) => one !== line))).toBeNull()
  expect(read([...USUAL, line])).toBeNull()
})

test('a head that is too long or incomplete is not read', () => {
  expect(read([...USUAL, `Accept: ${'x'.repeat(9000)}`])).toBeNull()
  const bytes = Buffer.from(`${USUAL.join('\r\n')}\r\n\r\n`)
  for (let length = 0; length < bytes.length; length++)
    expect(readCallHead(bytes.subarray(0, length), RULES)).toBeNull()
})
