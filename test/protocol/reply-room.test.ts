import { expect, test } from 'vitest'
import { successBody } from '../../runtime/contract/envelope/envelope.ts'
import { decodeMessage, encodeHead } from '../../runtime/protocol/frames.ts'
import { closeInPlace } from '../../runtime/protocol/reply-room.ts'

const NOTHING = Buffer.alloc(0)
const SIZES = [0, 1, 28, 29, 100, 28_000, 65_536, 300_000, 5_000_000]

/** A reply's message as it is read. */
const messageOf = (response: Buffer) => {
  const head = { ok: true, cursorJson: 'null', responseBytes: response.length }
  return Buffer.concat([encodeHead('reply', 1, head, response.length), response])
}

test.each(SIZES)('a reply of %i bytes gets the usual envelope in place', (bytes) => {
  const response = Buffer.alloc(bytes, '[1] ')
  const { body, roomBytes } = decodeMessage(messageOf(response))
  expect(closeInPlace(body, roomBytes)?.equals(successBody(response, NOTHING, null))).toBe(true)
})

test('adjacent replies in memory stay intact when they are closed in reverse order', () => {
  const responses = Array.from({ length: 200 }, (_, n) => Buffer.alloc(37 * n, `${n} `))
  const read = Buffer.concat(responses.map(messageOf))
  let at = 0
  const messages = responses.map((one) => {
    const start = at
    at += messageOf(one).length
    return decodeMessage(read.subarray(start, at))
  })
  const closed = messages.toReversed().map((one) => closeInPlace(one.body, one.roomBytes))
  const expected = responses.toReversed().map((one) => successBody(one, NOTHING, null).toString())
  expect(closed.map(String)).toEqual(expected)
})

test('the shortest head of a successful reply leaves enough space', () => {
  const head = { ok: true, cursorJson: '', responseBytes: 0 }
  const { body, roomBytes } = decodeMessage(encodeHead('reply', 1, head, 0))
  expect(closeInPlace(body, roomBytes)?.equals(successBody(NOTHING, NOTHING, null))).toBe(true)
})

test('a body without space around it is left unchanged', () => {
  const all = Buffer.from('0123456789'.repeat(10))
  expect(closeInPlace(all.subarray(40), 40)).toBeNull()
  expect(all.toString()).toBe('0123456789'.repeat(10))
})
