import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { describe, expect, test } from 'vitest'
import {
  CHANNEL_LIMITS,
  type Channel,
  type ChannelLimits,
  openChannel,
} from '../../runtime/protocol/channel.ts'
import {
  CREDIT,
  decodeMessage,
  encodeHead,
  FIRST,
  frameHeader,
  LAST,
  MAX_FRAME_PAYLOAD,
  type Message,
  ProtocolError,
} from '../../runtime/protocol/frames.ts'
import { createRandom } from '../contract/fixtures/random.ts'

type End = {
  channel: Channel
  received: Message[]
  broken: ProtocolError[]
  /** Resolves when this many messages have been received. */
  until(count: number): Promise<void>
}

function openEnd(pipe: Parameters<typeof openChannel>[0], limits: Partial<ChannelLimits>): End {
  const received: Message[] = []
  const broken: ProtocolError[] = []
  let wake: () => void = () => {}
  const channel = openChannel(
    pipe,
    (message) => {
      // The buffer is reused, so a body must be copied.
      received.push({ ...message, body: Buffer.from(message.body) } as Message)
      wake()
    },
    (error) => broken.push(error),
    { ...CHANNEL_LIMITS, ...limits },
  )
  const until = async (count: number) => {
    while (received.length < count) await new Promise<void>((resolve) => (wake = resolve))
  }
  return { channel, received, broken, until }
}

function openPair(limits: Partial<ChannelLimits> = {}) {
  const [left, right] = duplexPair()
  return { a: openEnd(left, limits), b: openEnd(right, limits) }
}

/** A channel whose peer writes raw frames. */
function openRaw(limits: Partial<ChannelLimits> = {}) {
  const [left, right] = duplexPair()
  const end = openEnd(left, limits)
  right.resume()
  const write = (flags: number, stream: number, payload: Buffer | string = '') => {
    const bytes = Buffer.from(payload)
    right.write(Buffer.concat([frameHeader(bytes.length, flags, stream), bytes]))
  }
  return { ...end, right, write }
}

const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const ping = (bodyBytes = 0) => encodeHead('ping', 0, { isolate: 1 }, bodyBytes)

describe('a message', () => {
  const random = createRandom(1)
  test.each([0, 1, 65_000, 65_536, 65_537, 600_000, 3_000_000])(
    'with a body of %i bytes arrives unchanged',
    async (bytes) => {
      const body = Buffer.alloc(bytes, random.bytes(1000).toString('latin1') || 'x', 'latin1')
      const { a, b } = openPair()
      a.channel.send('ping', 3, { isolate: 7 }, body)
      await b.until(1)
      expect(b.received[0]).toMatchObject({ kind: 'ping', call: 3, head: { isolate: 7 } })
      expect(b.received[0]?.body.equals(body)).toBe(true)
    },
  )

  test('with a head of several frames arrives unchanged', async () => {
    const { a, b } = openPair()
    const message = 'é'.repeat(200_000)
    a.channel.send('log', 1, { level: 'info', message, fields: null })
    await b.until(1)
    expect(b.received[0]?.head).toEqual({ level: 'info', message, fields: null })
  })

  test('keeps its bytes when later ones overwrite the buffer of the pipe', async () => {
    const { a, b } = openPair()
    for (let id = 1; id <= 200; id += 1) {
      a.channel.send('ping', id, { isolate: id }, Buffer.from(`body ${id}`))
    }
    await b.until(200)
    expect(b.received.map(({ call, body }) => `${call} ${body}`)).toEqual(
      Array.from({ length: 200 }, (_, index) => `${index + 1} body ${index + 1}`),
    )
  })
})

describe('interleaving', () => {
  test('lets a small message overtake a large one', async () => {
    const { a, b } = openPair()
    a.channel.send('ping', 1, { isolate: 1 }, Buffer.alloc(10_000_000))
    a.channel.send('ping', 2, { isolate: 1 })
    await b.until(2)
    expect(b.received.map(({ call }) => call)).toEqual([2, 1])
  })

  test('lets a small message overtake many large ones that are being sent', async () => {
    const { a, b } = openPair()
    for (let id = 1; id <= 40; id += 1) {
      a.channel.send('ping', id, { isolate: 1 }, Buffer.alloc(400_000))
    }
    await settle()
    a.channel.send('ping', 99, { isolate: 1 })
    await b.until(41)
    expect(b.received.findIndex(({ call }) => call === 99)).toBeLessThan(2)
  })

  test('completes large messages in both directions at once', async () => {
    const { a, b } = openPair()
    for (const end of [a, b]) {
      for (let id = 1; id <= 5; id += 1) {
        end.channel.send('ping', id, { isolate: 1 }, Buffer.alloc(3_000_000))
      }
    }
    await Promise.all([a.until(5), b.until(5)])
    expect(a.channel.queuedBytes()).toBe(0)
  })
})

test('a message waits when the other side gives no credit', async () => {
  const { channel, right, write } = openRaw()
  let sent = 0
  right.on('data', (chunk: Buffer) => (sent += chunk.length))
  channel.send('ping', 1, { isolate: 1 }, Buffer.alloc(2_000_000))
  await settle()
  const withoutCredit = sent
  expect(withoutCredit).toBeLessThan(700_000)
  const credit = Buffer.alloc(4)
  credit.writeUInt32LE(0xffffffff, 0)
  write(CREDIT, 1, credit)
  await settle()
  expect(sent).toBeGreaterThan(withoutCredit)
  // Credit is capped at one window.
  expect(sent).toBeLessThan(1_400_000)
})

test('several messages sent in one turn are written at once', async () => {
  const [left, right] = duplexPair()
  const end = openEnd(left, {})
  let chunks = 0
  left._writev = (parts, done) => {
    chunks += 1
    for (const { chunk } of parts) right.push(chunk)
    done()
  }
  left._write = (chunk, _encoding, done) => {
    chunks += 1
    right.push(chunk)
    done()
  }
  for (let id = 1; id <= 5; id += 1) end.channel.send('ping', id, { isolate: id })
  await settle()
  expect(chunks).toBe(1)
})

describe('a protocol error', () => {
  const whole = FIRST | LAST
  type Raw = ReturnType<typeof openRaw>
  const breaches: [string, (raw: Raw) => void, Partial<ChannelLimits>?][] = [
    [
      'a frame that is too large',
      ({ right }) => right.write(frameHeader(MAX_FRAME_PAYLOAD + 1, FIRST, 1)),
    ],
    ['a frame of an unknown stream', ({ write }) => write(0, 5, 'x')],
    ['a last frame of an unknown stream', ({ write }) => write(LAST, 5, 'x')],
    [
      'a stream begun twice',
      ({ write }) => {
        write(FIRST, 1, ping(10))
        write(FIRST, 1, ping(10))
      },
    ],
    ['a whole message that is too short', ({ write }) => write(whole, 1, ping(10))],
    [
      'a whole message that is too long',
      ({ write }) => write(whole, 1, Buffer.concat([ping(0), Buffer.from('x')])),
    ],
    ['a first frame without a header', ({ write }) => write(FIRST, 1, 'short')],
    ['an empty first frame', ({ write }) => write(FIRST, 1)],
    [
      'a first frame that is longer than its message',
      ({ write }) => write(FIRST, 1, Buffer.concat([ping(1), Buffer.from('xx')])),
    ],
    [
      'a message that ends early',
      ({ write }) => {
        write(FIRST, 1, ping(10))
        write(LAST, 1, 'x')
      },
    ],
    [
      'a message that exceeds its announced length',
      ({ write }) => {
        write(FIRST, 1, ping(2))
        write(0, 1, 'xxx')
      },
    ],
    [
      'a message that is too large',
      ({ write }) => write(FIRST, 1, ping(CHANNEL_LIMITS.maxMessageBytes)),
    ],
    [
      'a length that overflows',
      ({ write }) => {
        const first = ping(0)
        first.writeUInt32LE(0xffffffff, 5)
        first.writeUInt32LE(0xffffffff, 9)
        write(FIRST, 1, first)
      },
    ],
    [
      'too many messages at once',
      ({ write }) => {
        for (let stream = 1; stream <= 4; stream += 1) write(FIRST, stream, ping(10))
      },
      { maxStreams: 3 },
    ],
    [
      'too many bytes of incomplete messages',
      ({ write }) => {
        for (let stream = 1; stream <= 3; stream += 1) write(FIRST, stream, ping(1000))
      },
      { maxPartialBytes: 2500 },
    ],
    ['a credit that is not a number', ({ write }) => write(CREDIT, 1, 'xxxxx')],
    ['an unknown kind', ({ write }) => write(whole, 1, Buffer.alloc(13, 200))],
    ['unknown flags', ({ write }) => write(whole | 0x40, 1, ping(0))],
  ]
  test.each(breaches)('is %s, and is reported once', async (_name, commit, limits = {}) => {
    const raw = openRaw(limits)
    commit(raw)
    commit(raw)
    await settle()
    expect(raw.broken).toHaveLength(1)
    expect(raw.broken[0]).toBeInstanceOf(ProtocolError)
    expect(raw.received).toEqual([])
  })

  test('ends the channel: nothing is received or sent any more', async () => {
    const { channel, right, write, received } = openRaw()
    write(0, 5, 'x')
    await settle()
    let sent = 0
    right.on('data', (chunk: Buffer) => (sent += chunk.length))
    channel.send('ping', 1, { isolate: 1 })
    write(whole, 6, ping(0))
    await settle()
    expect({ sent, received }).toEqual({ sent: 0, received: [] })
  })

  test('is a peer that has stopped reading while data is queued', async () => {
    const [left] = duplexPair()
    const { channel, broken } = openEnd(left, { maxQueuedBytes: 1_000_000 })
    for (let id = 1; id <= 20; id += 1) {
      channel.send('ping', id, { isolate: 1 }, Buffer.alloc(100_000))
      await settle()
    }
    expect(broken.map(({ message }) => message)).toEqual(['the other side stopped reading'])
  })

  test('is not a credit for a message that was already sent', async () => {
    const { write, broken } = openRaw()
    write(CREDIT, 77, Buffer.alloc(4))
    await settle()
    expect(broken).toEqual([])
  })
})

test('partial messages no longer count when they are complete', async () => {
  const { a, b } = openPair({ maxPartialBytes: 400_000, maxStreams: 1 })
  for (let id = 1; id <= 5; id += 1) {
    a.channel.send('ping', id, { isolate: 1 }, Buffer.alloc(300_000))
    await b.until(id)
  }
  expect(b.broken).toEqual([])
})

test('random frames result in at most one protocol error', async () => {
  const random = createRandom(42)
  const heads = [ping(0), ping(5), encodeHead('reply', 9, { ok: true }, 70_000), Buffer.alloc(13)]
  for (let round = 0; round < 500; round += 1) {
    const { write, right, broken } = openRaw({ maxStreams: 4, maxPartialBytes: 200_000 })
    for (let step = 0; step < 20; step += 1) {
      const payload = Buffer.from(random.pick([...heads, random.bytes(40)]))
      if (random.below(4) === 0 && payload.length > 0) payload[random.below(payload.length)] = 255
      if (random.below(12) === 0) right.write(random.bytes(30))
      else write(random.below(8), random.below(4), payload)
    }
    await settle()
    expect(broken.length).toBeLessThan(2)
  }
})

test('a message is decoded from its bytes', () => {
  expect(decodeMessage(ping(0)).head).toEqual({ isolate: 1 })
})

test('a message sent from the callback of another arrives after it', async () => {
  const { a, b } = openPair()
  a.channel.send('ping', 1, { isolate: 1 }, Buffer.alloc(2_000_000), () =>
    a.channel.send('ping', 2, { isolate: 1 }),
  )
  await b.until(2)
  expect(b.received.map(({ call }) => call)).toEqual([1, 2])
})

describe('over a TCP socket that is read into one buffer', () => {
  /** Two ends of a connection; the second reads as a worker does. */
  async function connected(limits: Partial<ChannelLimits> = {}) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const read = Buffer.allocUnsafeSlow(256 * 1024)
    let hear: (chunk: Buffer) => void = () => {}
    const callback = (bytes: number) => {
      hear(read.subarray(0, bytes))
      return true
    }
    const right = connect({ port, host: '127.0.0.1', onread: { buffer: read, callback } })
    const [left] = (await once(server, 'connection')) as [Socket]
    const ends = { a: openEnd(left, limits), b: openEnd(right, limits) }
    hear = ends.b.channel.hear
    const close = () => {
      for (const socket of [left, right]) socket.destroy()
      server.close()
    }
    return { ...ends, left, right, close }
  }

  test('texts and bytes of every size arrive unchanged in both directions', async () => {
    const random = createRandom(7)
    const { a, b, close } = await connected()
    const texts = Array.from({ length: 400 }, (_, n) =>
      `${'é€😀x'[random.below(4)]}${n} `.repeat(random.below(n % 50 === 0 ? 40_000 : 900)),
    )
    for (const [n, text] of texts.entries()) {
      const body = n % 2 === 0 ? text : Buffer.from(text)
      a.channel.send('ping', n, { isolate: n }, body)
      b.channel.send('ping', n, { isolate: n }, body)
      if (n % 37 === 0) await settle()
    }
    await Promise.all([a.until(texts.length), b.until(texts.length)])
    for (const { received, broken } of [a, b]) {
      expect(broken).toEqual([])
      // A small message may overtake a large one.
      const bodies = new Map(received.map(({ call, body }) => [call, body]))
      for (const [n, text] of texts.entries())
        expect(bodies.get(n)?.equals(Buffer.from(text)), `message ${n}`).toBe(true)
    }
    close()
  })

  test('a side that pauses reading loses nothing, and small messages keep their order', async () => {
    const { a, b, left, close } = await connected()
    left.pause()
    const count = 3000
    for (let n = 0; n < count; n += 1) {
      b.channel.send('ping', n, { isolate: n }, `${n} `.repeat(900))
      if (n % 100 === 0) await settle()
    }
    left.resume()
    await a.until(count)
    expect(a.received.map(({ call }) => call)).toEqual(Array.from({ length: count }, (_, n) => n))
    expect(
      a.received.every(({ call, body }) => body.equals(Buffer.from(`${call} `.repeat(900)))),
    ).toBe(true)
    close()
  })

  test('a peer that never reads ends the connection at the limit of the queue', async () => {
    const { b, left, close } = await connected({ maxQueuedBytes: 8 * 1024 * 1024 })
    left.pause()
    for (let n = 0; n < 400 && b.broken.length === 0; n += 1) {
      for (let more = 0; more < 10; more += 1)
        b.channel.send('ping', 1, { isolate: 1 }, 'x'.repeat(50_000))
      await settle()
    }
    expect(b.broken).toEqual([new ProtocolError('the other side stopped reading')])
    close()
  })

  test('messages sent from the callback of another arrive after it, even if they are many', async () => {
    const { a, b, close } = await connected()
    const large = Buffer.alloc(100_000, 'l')
    a.channel.send('load', 0, { connector: 'x', memoryMb: 1, responseFields: {} }, large, () => {
      for (let n = 1; n <= 20; n += 1) a.channel.send('ping', n, { isolate: n }, 'y'.repeat(55_000))
    })
    await b.until(21)
    expect(b.received[0]?.kind).toBe('load')
    close()
  })
})

describe('an exception', () => {
  test('while a message is received breaks only this connection, and is reported', async () => {
    const [left, right] = duplexPair()
    const told = Promise.withResolvers<Error>()
    let taken = 0
    const receive = () => {
      taken += 1
      throw new TypeError('a defect')
    }
    openChannel(left, receive, told.resolve)
    const other = openEnd(right, {})
    for (let round = 0; round < 3; round += 1) other.channel.send('ping', 0, { isolate: 1 })
    expect(await told.promise).toEqual(new TypeError('a defect'))
    expect(taken).toBe(1)
  })

  test('in the callback of a sent message breaks only this connection, and is reported', async () => {
    const [left] = duplexPair()
    const told = Promise.withResolvers<Error>()
    const { send } = openChannel(left, () => {}, told.resolve)
    send('ping', 0, { isolate: 1 }, undefined, () => {
      throw new TypeError('a defect')
    })
    expect(await told.promise).toEqual(new TypeError('a defect'))
  })
})
