import { expect, test } from 'vitest'
import { successBody } from '../../runtime/contract/envelope/envelope.ts'
import { closeInRoom, withRoom } from '../../runtime/protocol/reply-room.ts'

const NOTHING = Buffer.alloc(0)
const SIZES = [0, 1, 100, 28_000, 65_000, 65_536, 300_000, 5_000_000]

test.each(SIZES)('a reply of %i bytes gets the envelope that others get', (bytes) => {
  const reply = Buffer.alloc(bytes, '[1] ')
  const kept = withRoom(reply)
  expect(kept.equals(reply)).toBe(true)
  expect(closeInRoom(kept)?.equals(successBody(reply, NOTHING, null))).toBe(true)
})

test('neighbours in memory stay as they are, in whatever order they are closed', () => {
  const replies = Array.from({ length: 200 }, (_, n) => Buffer.alloc(37 * n, `${n} `))
  const kept = replies.map(withRoom)
  const closed = kept.toReversed().map((one) => closeInRoom(one)?.toString())
  const expected = replies.toReversed().map((one) => successBody(one, NOTHING, null).toString())
  expect(closed).toEqual(expected)
})

test('a copy is kept: what it was made of may change', () => {
  const read = Buffer.from('[1]')
  const kept = withRoom(read)
  read.fill(0)
  expect(kept.toString()).toBe('[1]')
})

test('what has no room around it is left alone', () => {
  const other = Buffer.from('{"response":[1],"raw_data":null,"page":null}').subarray(12, 15)
  expect(closeInRoom(other)).toBeNull()
  expect(closeInRoom(Buffer.from('[1]'))).toBeNull()
})
