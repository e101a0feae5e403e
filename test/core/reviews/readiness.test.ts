/** From which syncs a review may start. */
import { expect, test } from 'vitest'
import { judgeSyncs } from '../../../runtime/core/reviews/readiness.ts'
import type { RunRow } from '../../../runtime/core/sync/runs.ts'

const NOW = new Date('2027-03-12T09:00:00Z')
const daysAgo = (days: number) => new Date(NOW.getTime() - days * 24 * 3600 * 1000)

/** A run with only the fields that are judged. */
const run = (id: number, state: RunRow['state'], days = 1): RunRow =>
  ({ id, state, endedAt: daysAgo(days), problem: null }) as RunRow

const judged = (latest: RunRow | null, complete: RunRow | null, fresh: number | null = null) =>
  judgeSyncs({ latest, complete }, fresh, NOW)

test('a review can start from a complete sync of the last 7 days', () => {
  const last = run(3, 'SUCCEEDED', 7)
  expect(judged(last, last)).toEqual({ kind: 'ready', run: last })
})

test.each([
  ['missing', null, null, /never synced/],
  ['too old', run(3, 'SUCCEEDED', 8), run(3, 'SUCCEEDED', 8), /older than 7 days/],
  ['FAILED', run(4, 'FAILED'), run(3, 'SUCCEEDED'), /FAILED/],
  ['STOPPED', run(4, 'STOPPED'), run(3, 'SUCCEEDED'), /STOPPED/],
  ['CANCELLED', run(4, 'CANCELLED'), run(3, 'SUCCEEDED'), /CANCELLED/],
] as const)(
  'if the last sync is %s, a new one starts; if that fails, the review waits',
  (_, latest, last, why) => {
    expect(judged(latest, last)).toMatchObject({
      kind: 'sync',
      problem: expect.stringMatching(why),
    })
    expect(judged(run(9, 'FAILED'), last, 9).kind).toBe('wait')
  },
)

test('a review waits for a running sync', () => {
  expect(judged(run(4, 'RUNNING'), run(3, 'SUCCEEDED')).kind).toBe('wait')
})
