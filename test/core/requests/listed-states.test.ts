/** Lists of requests by state: triggers count them, and the totals must be exact after any kind of write. */
import { count, eq, inArray, sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestStatus } from '../../../runtime/contract/models/access-request.ts'
import { foldChanges } from '../../../runtime/core/kernel/list/versions.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { app, type CoreHost, domainOf, person, startCore } from '../host.ts'

const STATES: RequestStatus[] = ['COMPLETED', 'DENIED', 'TIME_BASED_EXPIRED']

let core: CoreHost

beforeAll(async () => {
  core = await startCore()
  const [domain, appId] = [await domainOf(core.db), await app(core.db, 'Application')]
  const { id } = await person(core.db, 'ada@example.com')
  await core.db.execute(sql`
    insert into access_requests (domain_id, app_id, carried_app_id, requester_id, target_user_id, status, plan, created_at)
    select ${domain}, ${appId}, ${appId}, ${id}, ${id}, (${sql.param(STATES)}::text[])[1 + n % 3],
      '{"manager": false, "stages": [], "message": null, "validationWebhook": null}', now() - n % 20 * interval '1 minute'
    from generate_series(1, 60) n`)
})
afterAll(() => core.stop())

const listed = async (query: string) =>
  (await core.call('GET', `/appstore/access_requests?${query}`)).body
const namedBy = (states: readonly string[]) => states.map((one) => `statuses=${one}`).join('&')

/** Checks that the total of each list equals a count of the rows. */
async function expectExact(): Promise<void> {
  for (const states of [...STATES.map((one) => [one]), STATES.slice(0, 2), STATES]) {
    const [rows] = await core.db
      .select({ n: count() })
      .from(accessRequests)
      .where(inArray(accessRequests.status, states))
    expect([states, (await listed(namedBy(states))).total]).toEqual([states, rows?.n])
  }
}

test('totals are exact after each kind of statement, and after counts are folded', async () => {
  await expectExact()
  const denied = eq(accessRequests.status, 'DENIED')
  await core.db
    .update(accessRequests)
    .set({ status: 'COMPLETED' })
    .where(sql`${denied} and created_at < now() - interval '9 minutes'`)
  await expectExact()
  await core.db.delete(accessRequests).where(denied)
  await expectExact()
  const undone = core.db.transaction(async (tx) => {
    await tx.delete(accessRequests)
    throw new Error('roll back')
  })
  await expect(undone).rejects.toThrow('roll back')
  await expectExact()
  await foldChanges(core.db)
  await expectExact()
  expect((await listed(namedBy(['COMPLETED', 'COMPLETED']))).total).toBe(
    (await listed(namedBy(['COMPLETED']))).total,
  )
  expect((await listed('statuses=CANCELLED')).total).toBe(0)
})

test('pages list each request once and in order', async () => {
  for (const sort of ['ASC', 'DESC']) {
    const { total } = await listed(namedBy(['COMPLETED']))
    const pages: { id: string; requested_at: string }[][] = []
    for (let page = 1; (page - 1) * 7 < total; page += 1)
      pages.push((await listed(`${namedBy(['COMPLETED'])}&sort=${sort}&size=7&page=${page}`)).items)
    const all = pages.flat()
    const key = ({ id, requested_at }: (typeof all)[number]) => `${requested_at} ${id}`
    const ordered = all.map(key).sort()
    expect(all.map(key)).toEqual(sort === 'ASC' ? ordered : ordered.reverse())
    expect([all.length, new Set(all.map(({ id }) => id)).size]).toEqual([total, total])
  }
})

test('totals are exact after the table is truncated', async () => {
  const owner = new Client(await core.login())
  await owner.connect()
  await owner.query('truncate access_requests cascade').finally(() => owner.end())
  await expectExact()
})
