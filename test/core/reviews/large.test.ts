/** A review of a hundred thousand lines: launched, listed, decided by one act. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { domainOf } from '../host.ts'
import { type Reviewed, startReviewed } from './reviewed.ts'

const LINES = 100_000

let firm: Reviewed
beforeAll(async () => {
  firm = await startReviewed()
})
afterAll(() => firm.stop())

test('one act decides a hundred thousand lines, and the counts add up', async () => {
  const appId = await firm.synced()
  const { db } = firm.core
  // The rows that a complete sync leaves.
  await db.execute(sql`
    with made as (
      insert into account_spans (domain_id, app_id, account_id, unique_identifier, account_type, since)
      select ${await domainOf(db)}, ${appId}, gen_random_uuid(), 'many-' || n, 'USER', now()
      from generate_series(1, ${LINES}::int) n returning account_id),
    run as (select max(id) as id from sync_runs where app_id = ${appId})
    insert into associations (app_id, account_id, entitlement_id, seen_run, first_run)
    select ${appId}, made.account_id, e.id, run.id, run.id
    from made, run, entitlements e where e.app_id = ${appId} and e.external_id = 'g1'`)
  const { id } = await firm.launched(appId)
  const progress = async () => (await firm.core.call('GET', `/access_reviews/${id}/progress`)).body
  const { population } = (await progress()).apps[0]
  expect(population).toMatchObject({ synced: LINES + 5, items: LINES + 5, left_out: 0 })
  const act = await firm.post(`/access_reviews/${id}/items/decide`, {
    ...{ decision: 'KEEP', reason: 'all of them', filter: { hint: ['ACCOUNT_UNMATCHED'] } },
  })
  // The new accounts and the bot have no person.
  expect(act.body).toMatchObject({ decided: LINES + 1 })
  expect((await progress()).states).toEqual({ KEPT: LINES + 1, OPEN: 4 })
  const { body } = await firm.core.call('GET', `/access_reviews/${id}/items?state=KEPT&size=100`)
  expect(body).toMatchObject({ total: LINES + 1 })
})
