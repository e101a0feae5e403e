import { expect, test } from 'vitest'
import {
  CORE_REPLY_LIMITS,
  levelsIn,
  marksIn,
  overLimits,
} from '../../../runtime/contract/limits/reply-limits.ts'

const marks = (text: string, most = 1000) => marksIn(Buffer.from(text), most)

test('counts commas, colons and opening brackets outside strings', () => {
  expect(marks('null')).toBe(0)
  expect(marks('{"a":1,"b":[{},{}]}')).toBe(8)
  expect(marks(JSON.stringify('{[:,'))).toBe(0)
  expect(marks(JSON.stringify({ 'a"b:,': '\\",:[{' }))).toBe(2)
  expect(marks('["\\\\",1]')).toBe(2)
})

test('stops after the given maximum', () => {
  expect(marks('['.repeat(100), 10)).toBe(11)
})

test('an unterminated string contains no marks', () => {
  expect(marks('["a,,,,')).toBe(1)
})

test.each([
  ['many empty objects', `[${Array(40_000).fill('{}').join()}]`],
  ['many short texts', JSON.stringify(Array(70_000).fill(''))],
  [
    'many members',
    JSON.stringify(
      Object.fromEntries(
        Array(40_000)
          .keys()
          .map((n) => [n, 0]),
      ),
    ),
  ],
  ['many levels', '['.repeat(70_000)],
])('%s are over the limits of the core', (_what, text) => {
  expect(overLimits(Buffer.from(text), CORE_REPLY_LIMITS)).toMatch(/32768 values.*smaller pages/)
})

test('a long string is over the limits of the core', () => {
  const text = JSON.stringify('x'.repeat(CORE_REPLY_LIMITS.maxBytes))
  expect(overLimits(Buffer.from(text), CORE_REPLY_LIMITS)).toMatch(/bytes.*smaller pages/)
})

test('a page of a thousand accounts with ten attributes each is within the limits', () => {
  const names = ['email', 'given_name', 'family_name', 'username', 'user_status', 'account_type']
  const attributes = Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [`a${n}`, 'a, b: {c}']),
  )
  const one = { ...Object.fromEntries(names.map((name) => [name, 'x'.repeat(30)])), attributes }
  const page = JSON.stringify(Array(1000).fill({ ...one, extra_data: null }))
  expect(overLimits(Buffer.from(page), CORE_REPLY_LIMITS)).toBeNull()
})

test('counts the levels of nesting', () => {
  const levels = (text: string) => levelsIn(Buffer.from(text), 64)
  expect(levels('"[[["')).toBe(0)
  expect(levels('[{},{"a":[1]},[]]')).toBe(3)
  expect(levels('['.repeat(500_000))).toBe(65)
})
