/** A call that ends at any moment, in any way, leaves nothing behind. */
import { getEventListeners } from 'node:events'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RuntimeError } from '../../runtime/contract/errors/errors.ts'
import { createEgress, type Egress } from '../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../runtime/egress/limits/grants.ts'
import { get, manifestOf } from './fixtures/open-egress.ts'
import { sealed } from './fixtures/secrets.ts'
import { startUpstream, stopAll } from './fixtures/upstream.ts'

/** A call is ended after each number of microtasks up to this, then after each number of event loop turns. */
const MICROTASKS = 50
const TURNS = 30

const GONE = new RuntimeError('caller_gone', 'the caller hung up')
const BODY = gzipSync(JSON.stringify({ users: Array.from({ length: 2000 }, (_, id) => ({ id })) }))

let client: Egress
let at: string
const warnings: Error[] = []
const warn = (warning: Error) => void warnings.push(warning)

beforeAll(async () => {
  process.on('warning', warn)
  const { port } = await startUpstream((request, response) => {
    // Each request opens its own connection.
    response.setHeader('connection', 'close')
    if (request.url === '/login') return void response.end('{"token":"the-token-of-the-login"}')
    response.setHeader('content-encoding', 'gzip')
    response.write(BODY.subarray(0, 100))
    setImmediate(() => response.end(BODY.subarray(100)))
  })
  at = `users.example:${port}`
  client = createEgress({
    privateGrants: parsePrivateGrants(`acme=${at}`),
    proxy: null,
    userAgent: 'keyway/test',
    limits: { maxConnectorOpenFetches: 1 },
    resolve: () => new Promise((resolve) => setImmediate(() => resolve(['127.0.0.1']))),
  })
})
afterAll(async () => {
  process.off('warning', warn)
  await client.close()
  await stopAll()
})

/** A call of its own tenant, so that it has to log in. */
function call(tenant: string, pace: string) {
  const origin = `http://${at}`
  const egress = [{ url: `${origin}/login` }, { url: `${origin}/users` }]
  const more = {
    limits: { concurrent_requests: 1, requests_per_second: 10_000 },
    authentication_schema: { kind: 'token' },
    exchange: {
      request: { url: `${origin}/login`, json: { key: '{auth.token.token}' } },
      capture: { json: '/token' },
      use: { header: 'authorization' },
    },
  }
  const [granted, again, left] = [
    manifestOf(egress, more),
    manifestOf(egress, more),
    manifestOf([], more),
  ]
  const over = new AbortController()
  const one = new AbortController()
  let manifest = granted
  let isTaken = false
  let looked = 0
  const opened = client.open({
    ...{ connectorId: 'acme', capability: 'list_accounts', level: 'write', settings: {} },
    signal: over.signal,
    governorKey: () => pace,
    secrets: {
      ...sealed({ auth: { token: { token: 'the-token-of-the-app' } } }),
      tenant,
    },
    get manifest() {
      looked += 1
      if (isTaken) throw new RuntimeError('connector_unknown', 'taken away')
      return manifest
    },
  })
  const set = (next: typeof manifest) => {
    manifest = next
    client.judgeAgain()
  }
  const ways = {
    'by its caller': () => over.abort(GONE),
    'by its code': () => one.abort(),
    'by its grant': () => set(left),
    'by its connector'() {
      isTaken = true
      client.judgeAgain()
    },
    'by its grant, which is given again at once'() {
      set(left)
      set(again)
    },
    'by its connector, which is installed again at once'() {
      isTaken = true
      client.judgeAgain()
      isTaken = false
      set(again)
    },
  }
  const ask = () => opened.fetch({ ...get(`${origin}/users`), signal: one.signal })
  /** How often the call's manifest was read. Every component that still holds the call reads it. */
  const looks = () => looked
  return { ask, ways, looks, signals: [over.signal, one.signal], records: opened.records }
}

const ENDS = ['caller_gone', 'upstream_timeout', 'egress_undeclared', 'connector_unknown']

test.each([
  'by its caller',
  'by its code',
  'by its grant',
  'by its connector',
  'by its grant, which is given again at once',
  'by its connector, which is installed again at once',
] as const)(
  'a call that is ended %s at any moment releases everything that it held',
  async (way) => {
    const seen = new Set<string>()
    for (let moment = 0; moment < MICROTASKS + TURNS; moment += 1) {
      const pace = `${way} ${moment}`
      const { ask, ways, looks, signals, records } = call(pace, pace)
      const ended = ask().then(
        ({ status }) => String(status),
        (error: unknown) => (error instanceof RuntimeError ? error.code : `${error}`),
      )
      for (let tick = 0; tick < Math.min(moment, MICROTASKS); tick += 1) await null
      for (let turn = MICROTASKS; turn < moment; turn += 1)
        await new Promise((resolve) => setImmediate(resolve))
      ways[way]()
      const how = await ended
      seen.add(how)
      expect([...ENDS, '200']).toContain(how)
      for (const { error } of records) expect([...ENDS, null]).toContain(error)
      for (const signal of signals) expect(getEventListeners(signal, 'abort')).toEqual([])
      // The egress and the upstream's pace each allow one request at a time.
      expect((await call(`${pace} after`, pace).ask()).status).toBe(200)
      const before = looks()
      client.judgeAgain()
      expect(looks()).toBe(before)
    }
    // Some calls were ended midway, others after they had completed.
    expect(seen.has('200')).toBe(true)
    expect(seen.size).toBeGreaterThan(1)
    expect(warnings).toEqual([])
  },
)
