/** Replies are read at a limited rate, however many are open and however fast they arrive. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { EgressCall } from '../../../runtime/egress/call/call.ts'
import { createEgress, type Egress } from '../../../runtime/egress/fetch.ts'
import { parsePrivateGrants } from '../../../runtime/egress/limits/grants.ts'
import type { EgressLimits } from '../../../runtime/egress/limits/limits.ts'
import { createPace } from '../../../runtime/egress/limits/pace.ts'
import { get, manifestOf } from '../fixtures/open-egress.ts'

describe('a pace', () => {
  function paced() {
    let nowMs = 0
    const pace = createPace(1_000_000, 100_000, () => nowMs)
    return {
      read: pace.read,
      pass: (ms: number) => {
        nowMs += ms
      },
    }
  }

  test('lets a burst pass, and delays reads beyond it', () => {
    const { read } = paced()
    expect([100_000, 50_000, 50_000].map(read)).toEqual([0, 50, 100])
  })

  test('recovers over time', () => {
    const { read, pass } = paced()
    read(150_000)
    pass(150)
    expect(read(100_000)).toBe(0)
  })

  test('saves up no more than a burst', () => {
    const { read, pass } = paced()
    pass(3_600_000)
    expect([100_000, 10_000].map(read)).toEqual([0, 10])
  })

  test('charges small pieces more than their size', () => {
    const { read } = paced()
    const waits = Array.from({ length: 200 }, () => read(1))
    expect(waits.at(-1)).toBeGreaterThan(100)
  })
})

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** An upstream that answers without end, as fast as it is read. */
async function startEndless(): Promise<string> {
  const piece = Buffer.alloc(64 * 1024, 'x')
  const server = createServer((_request, response) => {
    const pour = () => {
      while (response.write(piece));
    }
    response.on('drain', pour)
    response.on('error', () => {})
    pour()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function openEgress(origin: string, limits: Partial<EgressLimits>): Egress {
  const { host } = new URL(origin)
  const client = createEgress({
    privateGrants: parsePrivateGrants(`a=${host}`),
    proxy: null,
    userAgent: 'keyway/test',
    limits,
  })
  closing.push(() => client.close())
  return client
}

/** Reads 50 endless replies for one second, and returns the number of bytes read and the time taken. */
async function readEndless(limits: Partial<EgressLimits>, tenant?: string) {
  const origin = await startEndless()
  const stopping = new AbortController()
  const call: EgressCall = {
    connectorId: 'a',
    manifest: manifestOf([{ url: origin }]),
    capability: 'list_accounts',
    level: 'read',
    settings: {},
    signal: stopping.signal,
    secrets: null,
    ...(tenant === undefined ? {} : { tenant }),
  }
  const open = openEgress(origin, limits).open(call)
  const begunMs = performance.now()
  const replies = Array.from({ length: 50 }, () => open.fetch(get(origin)))
  setTimeout(() => stopping.abort(), 1000)
  await Promise.allSettled(replies)
  const tookMs = performance.now() - begunMs
  const bytes = open.records.reduce((sum, { receivedBytes }) => sum + receivedBytes, 0)
  return { bytes, tookMs }
}

const MEBIBYTE = 1024 * 1024
const WIDE = { maxReplyBytes: 1e10, maxOpenReplyBytes: 1e10, maxConnectorOpenBytes: 1e10 }
/** One piece of each reply is read before its reader waits. */
const FIRST_PIECES = 50 * 64 * 1024

test.each([
  ['connector', undefined, { connectorReadBytesPerSecond: 8 * MEBIBYTE }],
  ['tenant', 'somebody', { readBytesPerSecond: 8 * MEBIBYTE }],
])('fifty endless replies of one %s are read at its pace', async (_of, tenant, pace) => {
  const limits = { ...WIDE, maxProcessOpenBytes: 1e10, readBurstBytes: MEBIBYTE, ...pace }
  const { bytes, tookMs } = await readEndless(limits, tenant)
  expect(bytes).toBeGreaterThan(MEBIBYTE)
  expect(bytes).toBeLessThan(MEBIBYTE + FIRST_PIECES + (tookMs / 1000) * 8 * MEBIBYTE)
})
