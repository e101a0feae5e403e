/**
 * Which requests are retried, how often, and when a retry is pointless; through the egress, to a real server.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { errorOf, get, openEgress, openedEgresses } from '../fixtures/open-egress.ts'
import { startUpstream, stopAll } from '../fixtures/upstream.ts'

afterEach(async () => {
  await Promise.all(openedEgresses.splice(0).map((client) => client.close()))
  await stopAll()
})

type Answer = (request: IncomingMessage, response: ServerResponse) => void
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(code, headers).end(`status ${code}`)
const hangUp: Answer = (request) => void request.socket.destroy()
const success = status(200)

/** Gives these answers in order, then repeats the last one. */
async function upstream(...answers: Answer[]) {
  let turn = 0
  const server = await startUpstream((request, response) => {
    answers[Math.min(turn, answers.length - 1)]?.(request, response)
    turn += 1
  })
  return server
}

function egressTo({ port }: { port: number }, inMs: number) {
  return openEgress({
    egress: [{ url: `http://127.0.0.1:${port}` }],
    grants: `acme=127.0.0.1:${port}`,
    call: { endMs: Date.now() + inMs, level: 'write' },
  })
}

async function ask(server: { port: number; origin: string }, method = 'GET', inMs = 20_000) {
  const client = egressTo(server, inMs)
  const body = method === 'GET' ? null : Buffer.from('the body')
  const { status: code } = await client.fetch(get(server.origin, { method, body }))
  return { code, records: client.records }
}

describe('a request is retried', () => {
  test.each([
    ['GET', 'after 429', status(429)],
    ['POST', 'after 429, which means that it was not carried out', status(429)],
    ['PUT', 'after 503', status(503)],
    ['GET', 'after GitHub’s 403', status(403, { 'x-ratelimit-remaining': '0' })],
    ['GET', 'after 502', status(502)],
    ['GET', 'after a connection that was closed', hangUp],
  ])('%s %s', async (method, _why, first) => {
    const server = await upstream(first, success)
    const { code, records } = await ask(server, method)
    expect(code).toBe(200)
    expect(server.seen).toHaveLength(2)
    expect(server.seen[1]).toMatchObject({ method, body: server.seen[0]?.body ?? '' })
    // Each attempt is a record of the call.
    expect(records).toHaveLength(2)
  })

  test('not before the time that the upstream asks for', async () => {
    const server = await upstream(status(429, { 'retry-after': '1' }), success)
    const begun = Date.now()
    expect((await ask(server)).code).toBe(200)
    expect(Date.now() - begun).toBeGreaterThanOrEqual(1000)
  })
})

describe('a request is not retried', () => {
  test.each([
    ['POST', 'after 503', status(503)],
    ['PUT', 'after 502, which leaves open whether it was carried out', status(502)],
    ['GET', 'after 500', status(500)],
    ['GET', 'after 403 without rate headers', status(403)],
    ['GET', 'after 401', status(401)],
  ])('%s %s', async (method, _why, first) => {
    const server = await upstream(first, success)
    expect((await ask(server, method)).code).not.toBe(200)
    expect(server.seen).toHaveLength(1)
  })

  test('POST after a connection that was closed', async () => {
    const server = await upstream(hangUp, success)
    await expect(ask(server, 'POST')).rejects.toMatchObject({ code: 'upstream_closed' })
    expect(server.seen.length).toBeLessThanOrEqual(1)
  })

  test('when the wait is longer than the call: the refusal is returned at once, unchanged', async () => {
    const server = await upstream(status(429, { 'retry-after': '30' }))
    const silent = await upstream(() => {})
    const ended = () => 'the end of the time'
    const waits = ask(silent, 'GET', 5000).then(ended, ended)
    const refused = ask(server, 'GET', 5000).then(({ code }) => code)
    expect(await Promise.race([refused, waits])).toBe(429)
    expect(server.seen).toHaveLength(1)
  })

  test('more than twice', async () => {
    const server = await upstream(status(502))
    expect((await ask(server)).code).toBe(502)
    expect(server.seen).toHaveLength(3)
  })
})

test('after a refusal, a request of the tenant fails at once when the wait exceeds its call', async () => {
  const server = await upstream(status(429, { 'retry-after': '30' }))
  const client = egressTo(server, 2000)
  expect((await client.fetch(get(server.origin))).status).toBe(429)
  expect(await errorOf(client.fetch(get(server.origin)))).toMatchObject({ code: 'upstream_paced' })
  expect(server.seen).toHaveLength(1)
})

test('after a refusal, all requests of the tenant wait while the wait fits their call', async () => {
  const server = await upstream(status(503, { 'retry-after': '30' }))
  const client = egressTo(server, 60_000)
  // A POST is not sent again after 503, so that its answer shows the refusal.
  const post = { method: 'POST', body: Buffer.from('the body') }
  expect((await client.fetch(get(server.origin, post))).status).toBe(503)
  const stop = new AbortController()
  const waiting = Array.from({ length: 3 }, () =>
    errorOf(client.fetch(get(server.origin, { signal: stop.signal }))),
  )
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(server.seen).toHaveLength(1)
  stop.abort()
  const ended = await Promise.all(waiting)
  expect(ended.map(({ code }) => code)).toEqual(Array(3).fill('upstream_timeout'))
  expect(server.seen).toHaveLength(1)
})
