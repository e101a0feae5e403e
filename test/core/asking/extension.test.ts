/** Which access lengths extend existing access, and from when they do. */
import { describe, expect, test } from 'vitest'
import { endsLater, extendableFrom } from '../../../runtime/core/asking/extension.ts'

const at = (text: string): Date => new Date(`${text}Z`)
const now = at('2026-11-26T10:05:30')

describe('a requested length', () => {
  test.each([
    ['90 days', '2027-02-24T10:00:00', false, 'it ends on the same day'],
    ['90 days', '2027-02-23T23:59:59', true, 'it ends on the next day'],
    ['30 days', '2027-02-24T10:00:00', false, 'it ends earlier'],
    ['2 hours', '2026-11-26T12:05:10', false, 'it ends in the same minute'],
    ['2 hours', '2026-11-26T12:04:59', true, 'it ends in the next minute'],
    ['1 day', '2026-11-27T10:04:00', true, 'it ends later on the same day'],
    ['Unlimited', '2027-02-24T10:00:00', true, 'it never ends'],
  ] as const)('of %s extends access until %s: %s, as %s', (length, until, is, _why) => {
    expect(endsLater(length, { until: at(until) }, now)).toBe(is)
  })

  test('never extends access without an end', () => {
    expect(endsLater('Unlimited', { until: null }, now)).toBe(false)
  })
})

describe('access can be extended', () => {
  test('from the first moment at which the longest length ends later', () => {
    const held = { until: at('2027-02-24T10:00:00') }
    const from = extendableFrom(['30 days', '90 days'], held)
    expect(from).toEqual(at('2026-11-27T00:00:00'))
    expect(endsLater('90 days', held, from ?? now)).toBe(true)
    expect(endsLater('90 days', held, new Date((from ?? now).getTime() - 1))).toBe(false)
  })

  test('never, if it has no end', () => {
    expect(extendableFrom(['30 days', 'Unlimited'], { until: null })).toBeNull()
  })
})
