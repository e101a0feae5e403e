/** The text from which hashes of the log, of evidence and of generations are made. It must never change. */
import { array, assert, constant, dictionary, jsonValue, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '../../../runtime/contract/schema/canonical-json.ts'

/** The original implementation. */
const originalJson = (value: unknown): string =>
  JSON.stringify(value, (_key, one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )

test('the order of members does not matter, that of items does', () => {
  expect(canonicalJson({ b: [{ d: 1, c: 2 }], a: null })).toBe('{"a":null,"b":[{"c":2,"d":1}]}')
  expect(canonicalJson([2, 1])).toBe('[2,1]')
})

test('the text of every value equals that of the original implementation', async () => {
  const moment = constant(new Date('2026-11-24T16:20:00Z'))
  const one = oneof(jsonValue(), moment, constant(undefined))
  const names = oneof(string(), constant('__proto__'), constant('10'), constant('2'))
  await assert(
    property(oneof(one, array(one), dictionary(names, one)), (value) => {
      expect(canonicalJson(value)).toBe(originalJson(value))
    }),
  )
})
