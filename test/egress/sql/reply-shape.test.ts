/** Messages of a hostile server. Some of them make the library loop for ever. */
import { describe, expect, test } from 'vitest'
import { judgeMessage, sizeOf } from '../../../runtime/egress/sql/reply-shape.ts'
import { message } from './wire.ts'

const int16 = (value: number) => [(value >> 8) & 255, value & 255]
const int32 = (value: number) => [(value >>> 24) & 255, (value >> 16) & 255, ...int16(value)]
const column = [...Buffer.from('a\0'), ...Array(18).fill(0)]

describe('a message of PostgreSQL', () => {
  test.each([
    ['D', [...int16(2), ...int32(-1), ...int32(1), 65], 2],
    ['D', int16(0), 0],
    ['T', [...int16(1), ...column], 1],
    ['C', 'SELECT 1\0', 1],
    ['E', 'SERROR\0C42501\0Mno\0\0', 3],
    ['R', [...int32(10), ...Buffer.from('SCRAM-SHA-256\0\0')], 0],
    ['t', [...int16(1), 0, 0, 0, 25], 0],
    ['Z', 'I', 0],
    ['1', [], 0],
  ])('%s that is well formed passes', (letter, body, values) => {
    expect(judgeMessage(message(letter, body))).toMatchObject({ values, passes: true })
  })

  test.each([
    [7, 'gss'],
    [9, 'sspi'],
    [99, '99'],
  ])('that asks for an unsupported authentication method is refused: %s', (way, name) => {
    const asked = () => judgeMessage(message('R', int32(way)))
    expect(asked).toThrow(`does not have (${name}): let pg_hba.conf ask`)
  })

  test.each([
    ['an unterminated error', 'E', 'SERROR\0'],
    ['an error with trailing bytes', 'E', '\0\0'],
    ['an error with an unterminated text', 'E', 'SERROR'],
    ['a row with fewer columns than announced', 'D', [...int16(2), ...int32(-1)]],
    ['a row with a value longer than the row', 'D', [...int16(1), ...int32(100), 65]],
    ['a row with a value of negative length', 'D', [...int16(1), ...int32(-2)]],
    ['a row with a negative number of columns', 'D', int16(-1)],
    ['a row with trailing bytes', 'D', [...int16(0), 1]],
    ['columns with unterminated names', 'T', [...int16(1), 65, 65]],
    ['truncated columns', 'T', [...int16(1), ...column.slice(0, -1)]],
    ['an unterminated list of mechanisms', 'R', [...int32(10), 65, 0]],
    ['a transaction state of two characters', 'Z', 'II'],
    ['a setting without a value', 'S', 'name\0'],
    ['an unrequested COPY', 'G', [0, 0, 0]],
    ['a message that only clients send', 'Q', 'select\0'],
    ['an unknown message type', '\u00ff', []],
  ])('is refused when it is %s', (_what, letter, body) => {
    expect(judgeMessage(message(letter, body))).toBeNull()
  })

  test('with a row may contain any UTF-8, and no other encoding', () => {
    const rowOf = (value: Buffer) =>
      judgeMessage(message('D', [...int16(2), ...int32(-1), ...int32(value.length), ...value]))
    expect(rowOf(Buffer.from('jürgen 🚀 \ufffd'))?.values).toBe(2)
    expect(() => rowOf(Buffer.from('jürgen', 'latin1'))).toThrow('another encoding')
  })

  test.each(['N', 'A'])('%s is not passed on', (letter) => {
    expect(judgeMessage(message(letter, 'SNOTICE\0\0'))?.passes).toBe(false)
  })

  test('has its size read from its head', () => {
    expect(sizeOf(Buffer.from([90, 0, 0]))).toBe('short')
    expect(sizeOf(Buffer.from([90, 0, 0, 0, 5]))).toBe(6)
    expect(sizeOf(Buffer.from([90, 0, 0, 0, 3]))).toBeNull()
  })
})
