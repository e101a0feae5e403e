/** The pauses before failed work is retried. */
import { describe, expect, test } from 'vitest'
import { keysOf } from '../../../../runtime/contract/schema/keys.ts'
import {
  pauseMs,
  RETRY_SCHEDULES,
  type RetrySchedule,
} from '../../../../runtime/core/kernel/jobs/retry-schedules.ts'

describe.each(keysOf(RETRY_SCHEDULES))('%s', (name) => {
  const row: RetrySchedule = RETRY_SCHEDULES[name]

  test('is retried after a pause that doubles up to its maximum, however often it fails', () => {
    expect(pauseMs(name, 1)).toBe(row.firstMs)
    expect(pauseMs(name, 2)).toBe(Math.min(2 * row.firstMs, row.longestMs))
    for (const failures of [40, 10_000]) expect(pauseMs(name, failures)).toBe(row.longestMs)
  })

  test('is not given up before people are told', () => {
    const { tellAfter = 0, endAfter = Number.POSITIVE_INFINITY } = row
    const { tellAfterMs = 0, endAfterMs = Number.POSITIVE_INFINITY } = row
    expect([tellAfter < endAfter, tellAfterMs < endAfterMs]).toEqual([true, true])
  })
})

test('admins are told within ten minutes of a user who cannot be compared with the policies', () => {
  const failures = RETRY_SCHEDULES['changed-user'].tellAfter
  const pauses = Array.from({ length: failures - 1 }, (_, n) => pauseMs('changed-user', n + 1))
  expect(pauses.reduce((sum, one) => sum + one, 0)).toBeLessThan(600_000)
})
