/** Time-ordered ids of listed rows. */
import { expect, test } from 'vitest'
import { timeOrderedIds, UUID_BYTES } from '../../../runtime/core/sync/storable-texts.ts'

test('ids contain their time and increase, however many are created in one millisecond', () => {
  const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
  const count = 10_000
  const bytes = timeOrderedIds(count, nowMs)
  expect(bytes.length).toBe(count * UUID_BYTES)
  const hex = bytes.toString('hex').match(/.{32}/g) ?? []
  expect(hex.every((id) => /^[0-9a-f]{12}7[0-9a-f]{3}[89ab]/.test(id))).toBe(true)
  expect(hex.toSorted()).toEqual(hex)
  expect(new Set(hex.map((id) => id.slice(16))).size).toBe(count)
  const msOf = (id: string | undefined) => Number.parseInt(id?.slice(0, 12) ?? '', 16)
  expect([msOf(hex[0]), msOf(hex.at(-1))]).toEqual([nowMs, nowMs + 2])
})
