import { describe, expect, test } from 'vitest'
import {
  announcedBytes,
  createFrameParser,
  decodeMessage,
  encodeHead,
  FIRST,
  FRAME_HEADER,
  type Frame,
  frameHeader,
  KINDS,
  LAST,
  MAX_FRAME_PAYLOAD,
  MESSAGE_HEADER,
  type MessageKind,
  ProtocolError,
} from '../../runtime/protocol/frames.ts'
import { createRandom } from '../contract/fixtures/random.ts'

const frame = (payload: Buffer | string, flags = FIRST | LAST, stream = 1): Buffer => {
  const bytes = Buffer.from(payload)
  return Buffer.concat([frameHeader(bytes.length, flags, stream), bytes])
}

const parsed = (chunks: readonly Buffer[]): Frame[] => {
  const frames: Frame[] = []
  const parse = createFrameParser(({ payload, ...rest }) =>
    frames.push({ ...rest, payload: Buffer.from(payload) }),
  )
  for (const chunk of chunks) parse(chunk)
  return frames
}

describe('messages', () => {
  test.each(Object.keys(KINDS) as MessageKind[])('a %s is decoded as it was encoded', (kind) => {
    const head = { name: 'Zoë', list: [1, null] }
    const body = Buffer.from([0, 1, 255])
    const bytes = Buffer.concat([encodeHead(kind, 0xffffffff, head, body.length), body])
    expect(announcedBytes(bytes)).toBe(bytes.length)
    expect(decodeMessage(bytes)).toMatchObject({ kind, call: 0xffffffff, head, body })
  })

  const breaches: [string, (bytes: Buffer) => Buffer | undefined][] = [
    ['an unknown kind', (bytes) => void bytes.writeUInt8(99, 0)],
    ['a head that is not JSON', (bytes) => void bytes.writeUInt8(0x7d, MESSAGE_HEADER)],
    ['a head that is null', () => Buffer.concat([encodeHead('ping', 0, null, 0)])],
    ['a head that is a number', () => Buffer.concat([encodeHead('ping', 0, 7, 0)])],
    ['a head longer than the message', (bytes) => void bytes.writeUInt32LE(0xffffff, 5)],
  ]
  test.each(breaches)('refuses %s', (_name, damage) => {
    const bytes = encodeHead('ping', 0, { isolate: 1 }, 0)
    expect(() => decodeMessage(damage(bytes) ?? bytes)).toThrow(ProtocolError)
  })

  test('refuses a first frame that is too short for the length of its message', () => {
    expect(() => announcedBytes(Buffer.alloc(MESSAGE_HEADER - 1))).toThrow(ProtocolError)
  })
})

describe('frames', () => {
  const stream = Buffer.concat([
    frame('first', FIRST, 1),
    frame('', LAST, 1),
    frame('third', FIRST | LAST, 0xffffffff),
  ])
  const expected = parsed([stream])

  test('are parsed from one chunk', () => {
    expect(expected.map(({ flags, stream: id, payload }) => [flags, id, `${payload}`])).toEqual([
      [FIRST, 1, 'first'],
      [LAST, 1, ''],
      [FIRST | LAST, 0xffffffff, 'third'],
    ])
  })

  test.each(Array.from({ length: stream.length + 1 }, (_, at) => at))(
    'are the same when the stream is split at byte %i',
    (at) => {
      expect(parsed([stream.subarray(0, at), stream.subarray(at)])).toEqual(expected)
    },
  )

  test('are the same byte by byte', () => {
    expect(parsed([...stream].map((byte) => Buffer.from([byte])))).toEqual(expected)
  })

  test('may have the maximum size', () => {
    expect(parsed([frame(Buffer.alloc(MAX_FRAME_PAYLOAD))])[0]?.payload).toHaveLength(
      MAX_FRAME_PAYLOAD,
    )
  })

  test('are refused by their header alone when they are larger', () => {
    const header = frameHeader(MAX_FRAME_PAYLOAD + 1, FIRST, 1)
    expect(header).toHaveLength(FRAME_HEADER)
    expect(() => parsed([header])).toThrow(ProtocolError)
  })

  test('of random bytes are parsed or refused', () => {
    const random = createRandom(7)
    for (let round = 0; round < 2000; round += 1) {
      try {
        parsed([random.bytes(200), random.bytes(200)])
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError)
      }
    }
  })
})
