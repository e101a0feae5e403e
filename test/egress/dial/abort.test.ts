/** Calls that end while their connection is being made, during the name lookup or the handshake. */
import type { Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { RuntimeError } from '../../../runtime/contract/errors/errors.ts'
import { until } from '../../e2e/until.ts'
import { errorOf, get, manifestOf, openEgress, openedEgresses } from '../fixtures/open-egress.ts'
import { sealed } from '../fixtures/secrets.ts'
import { startTcp, startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

const GONE = new RuntimeError('caller_gone', 'the caller hung up')
const basic = { username: 'keyway', password: 'the-password-of-the-login' }

/** The request of each protocol, and the egress entry that it needs. */
const WAYS: [what: string, entry: (at: string) => object, ask: (at: string) => object][] = [
  ['a website', (at) => ({ url: `https://${at}` }), (at) => get(`https://${at}`)],
  [
    'a directory',
    (at) => ({ ldap: `ldaps://${at}`, base: 'dc=acme', bind: { credential: 'login' } }),
    () => bridged('ldap:', 'SEARCH', { filter: { present: 'cn' } }),
  ],
  [
    'a database',
    (at) => ({
      ...{ sql: `postgresql://${at}`, dialect: 'postgresql', database: 'hr' },
      login: { credential: 'login' },
    }),
    () => bridged('sql:', 'QUERY', { statement: 'people', parameters: [] }),
  ],
]

const bridged = (url: string, method: string, body: object) => ({
  ...get(url, { method, redirect: 'error' }),
  body: Buffer.from(JSON.stringify(body)),
})

/** A call that requests `at`, and the controller that ends it. */
function openAbortable(
  [, entry, ask]: (typeof WAYS)[number],
  at: string,
  resolve: (name: string) => Promise<string[]>,
) {
  const over = new AbortController()
  const egress = [entry(at)]
  const statements = { people: { text: 'select 1', reads: true } }
  const client = openEgress({
    egress,
    grants: `acme=${at}`,
    resolve,
    limits: { connectTimeoutMs: 3_600_000, maxConnectorOpenFetches: 1 },
    call: {
      signal: over.signal,
      manifest: manifestOf(egress, { statements }),
      secrets: sealed({ credentials: { login: { basic } } }),
    },
  })
  return { client, over, request: { ...get(''), ...ask(at) } }
}

test.each(WAYS)(
  'a call that ends while the name of %s is looked up ends at once',
  async (...way) => {
    const asked: string[] = []
    const { client, over, request } = openAbortable(way, 'slow.example:443', (name) => {
      asked.push(name)
      return new Promise(() => {})
    })
    const ended = errorOf(client.fetch(request))
    await until('the name is looked up', () => asked.length === 1)
    over.abort(GONE)
    expect(await ended).toBe(GONE)
    // Its slot is free again: the egress allows one request at a time.
    expect(await errorOf(client.fetch(request))).toBe(GONE)
  },
)

test.each(WAYS)(
  'a call that ends before the address of %s is known connects to nothing',
  async (...way) => {
    const sockets: Socket[] = []
    const port = await startTcp((socket) => sockets.push(socket))
    const answer = Promise.withResolvers<string[]>()
    const asked: string[] = []
    const { client, over, request } = openAbortable(way, `slow.example:${port}`, (name) => {
      asked.push(name)
      return answer.promise
    })
    const ended = errorOf(client.fetch(request))
    await until('the name is looked up', () => asked.length === 1)
    over.abort(GONE)
    answer.resolve(['127.0.0.1'])
    expect(await ended).toBe(GONE)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(sockets).toEqual([])
  },
)

test.each(WAYS)(
  'a call that ends during the handshake with %s closes its connection',
  async (...way) => {
    const sockets: Socket[] = []
    const port = await startTcp((socket) => sockets.push(socket))
    const { client, over, request } = openAbortable(way, `127.0.0.1:${port}`, async () => [])
    const ended = errorOf(client.fetch(request))
    await until('a connection is open', () => sockets.length === 1)
    const closed = new Promise((resolve) => sockets[0]?.on('close', resolve).resume())
    over.abort(GONE)
    expect(await ended).toBe(GONE)
    await closed
  },
)

test('a call that ends during a lookup does not affect another call to the same host', async () => {
  const { port, origin, seen } = await startUpstream((_request, response) => response.end('{}'))
  const answer = Promise.withResolvers<string[]>()
  const asked: string[] = []
  const at = `slow.example:${port}`
  const gone = new AbortController()
  const client = openEgress({
    egress: [{ url: `http://${at}` }],
    grants: `acme=${at}`,
    resolve(name) {
      asked.push(name)
      return answer.promise
    },
  })
  const first = errorOf(client.fetch({ ...get(`http://${at}`), signal: gone.signal }))
  const second = client.fetch(get(`http://${at}`))
  await until('the name is looked up', () => asked.length === 1)
  gone.abort(GONE)
  expect(await first).toBe(GONE)
  answer.resolve(['127.0.0.1'])
  expect((await second).status).toBe(200)
  expect([asked.length, seen.length, origin.endsWith(String(port))]).toEqual([1, 1, true])
})
