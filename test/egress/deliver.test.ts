/**
 * What the operator's own requests may reach: the limits of connectors' requests, under the name `webhooks`.
 */
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConnectorId } from '../../runtime/contract/connector/manifest.ts'
import { createEgress, type Egress } from '../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../runtime/egress/limits/grants.ts'
import { type Receiver, startReceiver } from '../core/webhooks/receiver.ts'

let receiver: Receiver
let port: string
const egresses: Egress[] = []

beforeAll(async () => {
  receiver = await startReceiver()
  port = new URL(receiver.url).port
})
afterAll(async () => {
  await Promise.all(egresses.map((client) => client.close()))
  await receiver.close()
})

function client(grants: string, proxy: string | null = null) {
  const made = createEgress({
    privateGrants: parsePrivateGrants(grants),
    proxy: proxy === null ? null : { httpProxy: proxy, httpsProxy: proxy, noProxy: null },
    userAgent: 'keyway/test',
    resolve: async () => ['127.0.0.1'],
  })
  egresses.push(made)
  return made.deliver
}

const post = (grants: string, url: string, signal = AbortSignal.timeout(10_000)) =>
  client(grants).post({ url, headers: { 'x-key': 'value' }, body: '{}', signal })

test('a granted name is reached, also over http', async () => {
  const url = `http://hooks.internal:${port}/in?x=1`
  expect(await post(`webhooks=hooks.internal:${port}`, url)).toMatchObject({
    ok: true,
    status: 200,
  })
  expect(receiver.received.at(-1)).toMatchObject({
    path: '/in?x=1',
    headers: { 'x-key': 'value', 'user-agent': 'keyway/test' },
    text: '{}',
  })
})

describe('a delivery is refused to', () => {
  test.each([
    [
      'a public name with a private address',
      '',
      'https://hooks.example:PORT/',
      'a loopback address',
    ],
    [
      'an address that is granted to a connector',
      'acme=127.0.0.1:PORT',
      'https://127.0.0.1:PORT/',
      'a loopback address',
    ],
    [
      'another port than the granted one',
      'webhooks=127.0.0.1:1',
      'http://127.0.0.1:PORT/',
      'http is not sent',
    ],
    ['a private address inside IPv6', '', 'https://[::ffff:10.0.0.1]/', 'inside IPv6'],
    ['an address written in octal', '', 'https://0177.0.0.1/', 'a loopback address'],
  ])('%s, and the message says what to grant', async (_, grants, url, words) => {
    const before = receiver.received.length
    const here = (text: string) => text.replace('PORT', port)
    const reply = await post(here(grants), here(url))
    expect(reply).toEqual({ ok: false, problem: expect.stringContaining(words) })
    expect(reply).toEqual({ ok: false, problem: expect.stringContaining('=webhooks=') })
    expect(receiver.received).toHaveLength(before)
  })

  test('a private address through a proxy', async () => {
    const refusal = client('', 'http://proxy.example:3128').refuse('https://10.0.0.1/', [])
    expect(refusal).toContain('webhooks=10.0.0.1:443')
  })
})

test('a delivery ends with its signal', async () => {
  receiver.answer(() => {})
  const url = `http://127.0.0.1:${port}/`
  const reply = await post(`webhooks=127.0.0.1:${port}`, url, AbortSignal.timeout(20))
  expect(reply).toEqual({ ok: false, problem: `127.0.0.1:${port} did not answer in time` })
})

test('a delivery fails when the reply decompresses to far more than its size', async () => {
  const { gzipSync } = await import('node:zlib')
  const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20))
  receiver.answer((reply) => void reply.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb))
  const reply = await post(`webhooks=127.0.0.1:${port}`, `http://127.0.0.1:${port}/`)
  expect(reply).toMatchObject({ ok: false })
})

test('webhooks is not a valid id of a connector', () => {
  expect(v.is(ConnectorId, 'webhooks')).toBe(false)
})
