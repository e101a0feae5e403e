import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refuseOddRequests } from '../../../runtime/http/edge/odd-requests.ts'
import { createLog } from '../../../runtime/observe/log.ts'

const server = createServer(
  refuseOddRequests(createLog('silent'), (_, outgoing) => outgoing.end('routed')),
)
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

/** Sends a request with these lines, and returns the answer. */
const ask = (...lines: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    // The cast: a server that listens on a port has an AddressInfo.
    const { port } = server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`),
    )
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('utf8')
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })

test('a request with one Host header is routed', async () => {
  expect(await ask('GET /healthz HTTP/1.1', 'Host: a')).toMatch(/^HTTP\/1\.1 200 [\s\S]*routed/)
})

test.each([
  ['the same name twice', ['Host: a', 'Host: a']],
  ['two names', ['Host: a', 'Host: b']],
  ['in another case, after another header', ['Host: a', 'Accept: */*', 'hOST: b']],
])('more than one Host header is refused: %s', async (_, headers) => {
  const answer = await ask('GET /healthz HTTP/1.1', ...headers)
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toContain('more than one Host header; send one')
  expect(answer).not.toContain('routed')
})

test('a Host as the value of another header does not count', async () => {
  expect(await ask('GET /healthz HTTP/1.1', 'Host: a', 'X-Odd: host')).toMatch(/^HTTP\/1\.1 200 /)
})

test('a path that is not in its plain form is refused before routing', async () => {
  const answer = await ask('GET /x/../operator HTTP/1.1', 'Host: a')
  expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*not in its plain form/)
})
