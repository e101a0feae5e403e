/** The handlers of background work, compared with the table of queues. */
import { expect, test } from 'vitest'
import { QUEUE_NAMES, QUEUES } from '../../../runtime/core/kernel/jobs/queues.ts'
import { parseRetention } from '../../../runtime/core/retention/rules.ts'
import { jobHandlers } from '../../../runtime/core/wiring/job-handlers.ts'

test('handlers take turns exactly for the queues that say so, and each queue has its own turn', () => {
  const handlers = jobHandlers(parseRetention(''), null)
  const leases = QUEUE_NAMES.map((name) => (handlers[name].turnOf ? 'turn' : 'record'))
  expect(leases).toEqual(QUEUE_NAMES.map((name) => QUEUES[name].lease))
  const turns = QUEUE_NAMES.flatMap((name) => handlers[name].turnOf?.('key') ?? [])
  expect(new Set(turns).size).toBe(turns.length)
})
