/** Concurrent changes of a review. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { lookAtReview } from '../../../runtime/core/reviews/review-job.ts'
import { databaseTime } from '../../../runtime/database/transactions.ts'
import { meanwhile } from '../meanwhile.ts'
import { lookAtStatements } from '../statements.ts'
import { ask } from '../sync/synced.ts'
import { type Reviewed, startReviewed } from './reviewed.ts'

let firm: Reviewed
beforeAll(async () => {
  firm = await startReviewed()
})
afterAll(() => firm.stop())
beforeEach(() => firm.reset())

const launched = async (settings: object = {}) =>
  firm.launched(
    await firm.synced(),
    {},
    { reviewers: 'NAMED', user_ids: [firm.mia.id], ...settings },
  )
const patch = (id: string, body: object) =>
  firm.core.call('PATCH', `/access_reviews/${id}`, { body })

/** Set in a test from `before` on, because the host's own jobs send the same statements. */
const ofThisTest = new AsyncLocalStorage<true>()

/** Runs `act` before a test sends a matching statement for the nth time. */
function before(statement: RegExp, nth: number, act: () => Promise<unknown>): void {
  let count = 0
  ofThisTest.enterWith(true)
  lookAtStatements((text) => {
    if (!ofThisTest.getStore() || !statement.test(text)) return undefined
    count += 1
    return count === nth ? act() : undefined
  })
}

test('a deadline that is postponed in time removes nothing', async () => {
  const { core } = firm
  const { id } = await launched({ on_deadline: 'REMOVE' })
  // No job picks it up by itself.
  await core.db.execute(
    sql`update access_reviews set deadline_at = now(), wake_at = null where id = ${id}`,
  )
  const extended = Promise.withResolvers<number>()
  // The apps are listed for the recurrence, for reviewers who left, and then for the deadline.
  before(
    /^select .* from "access_review_apps" .* order by "access_review_apps"."created_at"/,
    3,
    () => {
      const reply = patch(id, { deadline_at: '2999-06-01T00:00:00Z' })
      reply.then(({ status }) => extended.resolve(status), extended.reject)
      return reply
    },
  )
  try {
    await lookAtReview(core.db, id, { now: databaseTime, send: async () => undefined })
  } finally {
    vi.restoreAllMocks()
  }
  expect(await extended.promise).toBe(200)
  expect(new Set((await firm.lines(id)).map(({ state }) => state))).toEqual(new Set(['OPEN']))
  expect((await firm.read(id)).apps[0].status).toBe('IN_PROGRESS')
})

test('a review that is completed concurrently is not completed again', async () => {
  const { core } = firm
  const { id, reviewAppId } = await launched()
  const reply = await meanwhile(
    core.db,
    async (tx) => {
      await tx.execute(sql`update access_review_apps set status = 'COMPLETED', removal_at = now(),
        completed_at = now(), wake_at = null where id = ${reviewAppId}`)
      await tx.execute(sql`update access_reviews set status = 'COMPLETED', closed_at = now(),
        completed_at = now(), wake_at = null where id = ${id}`)
    },
    () => firm.post(`/access_reviews/${id}/complete`, {}),
  )
  expect(reply.status).toBe(409)
  const [row] = await ask(core, sql`select wake_at from access_reviews where id = ${id}`)
  expect(row).toEqual({ wake_at: null })
})

test('a line that is decided concurrently is not reassigned', async () => {
  const { core, ada, ben } = firm
  const { id, reviewAppId } = await launched()
  const { id: line, reviewer_user_ids: asked } = await firm.line(id, 'bot Group g2')
  const reply = await meanwhile(
    core.db,
    async (tx) => {
      // A decision locks the app in the same way.
      await tx.execute(sql`select from access_review_apps where id = ${reviewAppId} for share`)
      await tx.execute(sql`update access_review_items set state = 'KEPT', decided_by_id = ${ben.id},
        decided_at = now() where id = ${line}`)
    },
    () =>
      firm.post(`/access_reviews/${id}/items/${line}/reassign`, {
        ...{ user_ids: [ada.id], group_ids: [], reason: 'she knows it' },
      }),
  )
  expect([reply.status, reply.body.detail]).toEqual([409, 'The line is already KEPT'])
  expect((await firm.line(id, 'bot Group g2')).reviewer_user_ids).toEqual(asked)
})

test('the second of two reviews that take the same name concurrently is refused', async () => {
  const [first, second] = [await firm.made(), await firm.made()]
  const reply = await meanwhile(
    firm.core.db,
    (tx) => tx.execute(sql`update access_reviews set name = 'Spring' where id = ${first}`),
    () => patch(second, { name: 'spring' }),
  )
  expect([reply.status, reply.body.detail]).toEqual([
    400,
    'There is already an access review named “spring”',
  ])
})
