/** Retention of the log: old entries are removed if the operator sets a limit; the rest still verifies. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyActivity } from '../../../../runtime/core/kernel/audit/chain.ts'
import { bodyOf } from '../../../../runtime/core/kernel/audit/entry-hash.ts'
import { separate } from '../../../../runtime/core/kernel/audit/personal.ts'
import { pruneLog } from '../../../../runtime/core/kernel/audit/prune-log.ts'
import { chainWaiting } from '../../../../runtime/core/kernel/audit/unchained-entries.ts'
import { prune } from '../../../../runtime/core/retention/prune.ts'
import { parseRetention } from '../../../../runtime/core/retention/rules.ts'
import { lockNumber } from '../../../../runtime/database/locks.ts'
import { activityPersonal, activityWaiting } from '../../../../runtime/database/schema/audit.ts'
import { type CoreHost, domainOf, otherDomain, startCore } from '../../host.ts'

const NEVER = new AbortController().signal
const DAY_MS = 86_400_000

let core: CoreHost
/** A domain with a log of its own, to which no host adds entries. */
let domainId: string

beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

/** Writes entries with an age in days, each with a person. */
async function write(count: number, days: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const actor = {
      actor_type: 'Lumos user',
      email: `${n}@x.example`,
      given_name: '',
      family_name: '',
    }
    const { values, ...separated } = separate({ actor, targets: [], metadata: { n } }, null)
    const body = bodyOf({ domainId, eventType: 'OLD', outcome: 'Succeeded', ...separated })
    const beganAt = new Date(Date.now() - days * DAY_MS)
    await core.db.insert(activityPersonal).values(values.map((one) => ({ ...one, domainId })))
    await core.db.insert(activityWaiting).values({ domainId, body, beganAt })
  }
  await chainWaiting(core.db, domainId)
}

const personal = () => core.db.$count(activityPersonal, sql`domain_id = ${domainId}`)
const verified = async (find?: string) => {
  await chainWaiting(core.db, domainId)
  return verifyActivity(core.db, domainId, find === undefined ? {} : { find })
}

test('entries stay for ever unless retention is set; then older ones go, with their personal values', async () => {
  domainId = await otherDomain(core.db)
  await write(12, 500)
  const { head } = await verified()
  await write(3, 100)
  expect(await prune(core.db, parseRetention(''), NEVER)).toEqual({})
  const kept = parseRetention('activity_logs=400')
  expect(await prune(core.db, kept, NEVER)).toEqual({ activity_logs: 12 })
  expect(await personal()).toBe(3)
  // The three newer entries, and the one that records the removal.
  expect(await verified()).toMatchObject({ broken: null, rows: 4, removed: 12, erased: 0 })
  expect(await verified(head)).toMatchObject({ found: true })
  const { rows } = await core.db.execute(sql`select event_metadata as told from activity_logs
    where domain_id = ${domainId} and event_type = 'LOG_PRUNED'`)
  expect(rows).toEqual([{ told: { head, rows: 12 } }])
  expect(await prune(core.db, kept, NEVER)).toEqual({})
})

test('the log of another domain is unchanged', async () => {
  const whole = await verifyActivity(core.db, await domainOf(core.db))
  expect(whole).toMatchObject({ broken: null, removed: 0 })
})

test('the newest entry and those that wait to be chained stay, however old they are', async () => {
  domainId = await otherDomain(core.db)
  await write(5, 900)
  const lock = lockNumber('chaining the log')
  const waiting = bodyOf({
    ...{ domainId, eventType: 'WAITS', outcome: 'Succeeded' as const },
    ...{ actor: {}, targets: [], metadata: {} },
  })
  await core.db.insert(activityWaiting).values({ domainId, body: waiting, beganAt: new Date(0) })
  const { rows } = await core.db.execute<{ gone: number }>(
    sql`select prune_activity(${domainId}::uuid, 400, 1000, ${lock}) as gone`,
  )
  expect(rows[0]?.gone).toBe(4)
  expect(await verified()).toMatchObject({ broken: null, rows: 3, removed: 4 })
})

test('entries that a webhook has not received yet stay', async () => {
  domainId = await otherDomain(core.db)
  await write(6, 900)
  const { rows } = await core.db.execute<{ id: string }>(sql`
    with made as (insert into inline_webhooks (domain_id, hook_type, name)
      values (${domainId}, 'SIEM', 'Log') returning id)
    insert into event_feeds (webhook_id, domain_id, delivered_id)
    select made.id, ${domainId}, (select id from activity_logs where domain_id = ${domainId} order by id offset 1 limit 1)
    from made returning webhook_id as id`)
  expect(rows).toHaveLength(1)
  await pruneLog(core.db, 400, 10_000, NEVER)
  expect(await verified()).toMatchObject({ broken: null, removed: 2 })
  await core.db.execute(
    sql`update event_feeds set delivered_id = 1000000 where domain_id = ${domainId}`,
  )
  await pruneLog(core.db, 400, 10_000, NEVER)
  expect(await verified()).toMatchObject({ broken: null, removed: 6 })
})

test('entries cannot be removed within 365 days', async () => {
  const lock = lockNumber('chaining the log')
  const asked = core.db.execute(sql`select prune_activity(${domainId}::uuid, 364, 10, ${lock})`)
  await expect(asked).rejects.toMatchObject({
    cause: { message: expect.stringContaining('365 days at least, not 364') },
  })
})
