import { expect, test } from 'vitest'
import { basic, bearer } from '../../runtime/sdk/sdk.ts'

test.each([
  ['Aladdin', 'open sesame', 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
  ['test', '123£', 'Basic dGVzdDoxMjPCow=='],
  ['日本', '🔑', `Basic ${Buffer.from('日本:🔑').toString('base64')}`],
  ['', '', 'Basic Og=='],
])('encodes %s and its password as UTF-8', (user, password, value) => {
  expect(basic(user, password)).toBe(value)
})

test('encodes a long password without overflowing the stack', () => {
  expect(atob(basic('u', 'x'.repeat(500_000)).slice(6))).toHaveLength(500_002)
})

test('writes a bearer token', () => {
  expect(bearer('t1')).toBe('Bearer t1')
})
