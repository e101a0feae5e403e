/** Delivery of the activity log to a webhook of the operator. */
import { asc, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { RequestContext } from '../../../runtime/core/kernel/context/context.ts'
import { FEED_JOB } from '../../../runtime/core/webhooks/feed.ts'
import { activityLogs } from '../../../runtime/database/schema/audit.ts'
import { eventFeeds } from '../../../runtime/database/schema/webhooks.ts'
import { until } from '../../e2e/until.ts'
import { type CoreHost, startCore } from '../host.ts'
import { answering, type Receiver, startReceiver } from './receiver.ts'

const BASE = '/operator/webhooks'

let receiver: Receiver
let core: CoreHost
let id: string
let made = 0

const env = () => ({ KEYWAY_PRIVATE_EGRESS: `webhooks=${receiver.host}` })

beforeAll(async () => {
  receiver = await startReceiver()
  core = await startCore(env())
  const body = { hook_type: 'SIEM', name: 'Log', url: receiver.url }
  id = (await core.call('POST', BASE, { body })).body.webhook.id
})
afterAll(async () => {
  await core.stop()
  await receiver.close()
})

/** Makes a call that is logged. */
async function createLoggedEvent(): Promise<void> {
  made += 1
  const body = { name: `App ${made}`, category: 'Other', description: '' }
  await core.call('POST', '/apps', { body })
}

const events = () => receiver.received.map(({ text }) => JSON.parse(text).event)
const hashes = () => events().map(({ event_hash }) => event_hash as string)
const feed = async () => (await core.call('GET', `${BASE}/${id}`)).body.feed
/** What was logged since the webhook was created; its creation is the first entry. */
const logged = async () => {
  const rows = await core.db.select().from(activityLogs).orderBy(asc(activityLogs.id))
  const first = rows.findIndex(({ targets }) => targets.some((target) => target.id === id))
  return rows.slice(first).map(({ eventHash }) => eventHash)
}
const dueNow = () =>
  core.db.update(eventFeeds).set({ nextTryAt: null }).where(eq(eventFeeds.webhookId, id))

test('events since the creation are delivered in order, in the format of the public service', async () => {
  await createLoggedEvent()
  await createLoggedEvent()
  await until('three events are delivered', () => events().length >= 3)
  // The first event is the creation of the webhook.
  expect(hashes()).toEqual(await logged())
  expect(events()[1]).toEqual({
    actor: {
      actor_type: 'Lumos user',
      actor_data: {
        email: 'admin@localhost',
        given_name: expect.any(String),
        family_name: expect.any(String),
      },
    },
    event_began_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/),
    event_hash: expect.stringMatching(/^[0-9a-f]{128}$/),
    event_metadata: { app_class_id: 'app_1', revived: false },
    event_type: 'APP_CREATED',
    event_type_user_friendly: 'App created',
    outcome: 'Succeeded',
    targets: [{ target_type: 'App', target_data: { name: 'App 1', id: expect.any(String) } }],
  })
  expect(await feed()).toEqual({
    waiting: 0,
    failing_since: null,
    next_try_at: null,
    problem: null,
  })
})

test('a failed delivery is retried with the same body and id, and no event is lost', async () => {
  const before = receiver.received.length
  receiver.answer(answering(503))
  await createLoggedEvent()
  await createLoggedEvent()
  await until('a delivery has failed', async () => (await feed()).problem !== null)
  expect(await feed()).toMatchObject({
    waiting: 2,
    failing_since: expect.any(String),
    next_try_at: expect.any(String),
    problem: 'it answered 503',
  })
  receiver.answer(answering(200))
  await dueNow()
  await until('three more deliveries are received', () => receiver.received.length >= before + 3)
  const [failed, again, next] = receiver.received.slice(before)
  expect(again?.text).toBe(failed?.text)
  expect(again?.headers['webhook-id']).toBe(failed?.headers['webhook-id'])
  expect(next?.headers['webhook-id']).not.toBe(failed?.headers['webhook-id'])
  await until('the feed works again', async () => (await feed()).problem === null)
  expect([...new Set(hashes())]).toEqual(await logged())
})

test('the id of a delivery is derived from the hash of its event', () => {
  expect(receiver.received).not.toEqual([])
  for (const { headers, text } of receiver.received) {
    const { event_hash } = JSON.parse(text).event
    expect(headers['webhook-id']).toBe(`evt_${id}_${event_hash.slice(0, 32)}`)
  }
})

test('retries back off; after a day of failures the admins have one task', async () => {
  receiver.answer(answering(500))
  await createLoggedEvent()
  await until('a delivery has failed', async () => (await feed()).problem !== null)
  const pause = async () => {
    const [row] = await core.db
      .execute<{ ms: string }>(sql`
      select extract(epoch from next_try_at - clock_timestamp()) * 1000 as ms from event_feeds`)
      .then(({ rows }) => rows)
    return Number(row?.ms)
  }
  const first = await pause()
  await core.db
    .update(eventFeeds)
    .set({ nextTryAt: null, attempts: 7, failingSince: sql`now() - interval '25 hours'` })
  await until('the pause has grown', async () => (await pause()) > first * 4)
  const tasks = async () =>
    (await core.call('GET', '/tasks?task_type=WEBHOOK_FAILING&show_all_tasks=true')).body.items
  expect(await tasks()).toMatchObject([
    { task_category: 'ERROR', status: 'PENDING', description: expect.stringContaining('"Log"') },
  ])
  await dueNow()
  const sent = receiver.received.length
  await until('the delivery is tried again', () => receiver.received.length > sent)
  await until('the feed pauses again', async () => (await pause()) > 0)
  expect(await tasks()).toHaveLength(1)
})

test('concurrent deliveries lose no event and keep the order', async () => {
  receiver.answer(answering(200))
  await dueNow()
  await until('no event waits', async () => (await feed()).waiting === 0)
  const before = receiver.received.length
  await core.call('PATCH', `${BASE}/${id}`, { body: { description: 'a' } })
  for (let n = 0; n < 5; n += 1) await createLoggedEvent()
  const parts: RequestContext = {
    ...core.host.parts,
    requestId: 'r',
    cause: { kind: 'job', id: 'r' },
    signal: new AbortController().signal,
  }
  await Promise.all([1, 2, 3].map(() => FEED_JOB.handle(core.db, id, parts)))
  await until('no event waits', async () => (await feed()).waiting === 0)
  const delivered = [...new Set(hashes().slice(before))]
  expect(delivered).toEqual((await logged()).slice(-delivered.length))
  expect(delivered).toHaveLength(6)
})

test('delivery continues after a restart, and a webhook that was off receives what it missed', async () => {
  await core.call('PATCH', `${BASE}/${id}`, { body: { enabled: false } })
  await createLoggedEvent()
  await core.stop({ keep: true })
  receiver.answer(answering(200))
  core = await startCore(env(), { from: core.dataDir })
  await createLoggedEvent()
  await core.call('PATCH', `${BASE}/${id}`, { body: { enabled: true } })
  await until('no event waits', async () => (await feed()).waiting === 0)
  expect([...new Set(hashes())]).toEqual(await logged())
})

/** Queues some entries, and calls `change` between the delivery of the first and the second. */
async function whileDelivering(change: () => Promise<unknown>): Promise<Receiver['received']> {
  await until('no event waits', async () => (await feed()).waiting === 0)
  await core.db.update(eventFeeds).set({ nextTryAt: sql`now() + interval '1 hour'` })
  for (let n = 0; n < 4; n += 1) await createLoggedEvent()
  await core.call('GET', '/activity_logs')
  const before = receiver.received.length
  let begun: Promise<unknown> | null = null
  receiver.answer((reply) => {
    begun ??= change()
    void begun.finally(() => reply.end('{}'))
  })
  await dueNow()
  await until('the first event is received', () => receiver.received.length > before)
  await begun
  await new Promise((resolve) => setTimeout(resolve, 1500))
  receiver.answer(answering(200, '{}'))
  return receiver.received.slice(before)
}

test('a webhook that is switched off during a delivery receives nothing more until it is on', async () => {
  const disable = () => core.call('PATCH', `${BASE}/${id}`, { body: { enabled: false } })
  expect(await whileDelivering(disable)).toHaveLength(1)
  await core.call('PATCH', `${BASE}/${id}`, { body: { enabled: true } })
  await until('no event waits', async () => (await feed()).waiting === 0)
  expect([...new Set(hashes())]).toEqual(await logged())
})

test('after a change, the rest goes to the new address with the new headers and signatures', async () => {
  const body = { url: `${receiver.url}/moved`, headers: { 'x-key': 'another-key' } }
  const deliveries = await whileDelivering(async () => {
    await core.call('PATCH', `${BASE}/${id}`, { body })
    await core.call('POST', `${BASE}/${id}/secret`, { body: {} })
  })
  const after = deliveries.slice(1)
  expect(after.length).toBeGreaterThanOrEqual(3)
  for (const { path, headers } of after) {
    expect(path).toBe('/hook/moved')
    expect(headers['x-key']).toBe('another-key')
    // Signed with the previous secret as well, for a day.
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2)
  }
})

test('personal data that is erased while entries wait is not delivered', async () => {
  const deliveries = await whileDelivering(() =>
    core.db.execute(sql`delete from activity_personal`),
  )
  const actors = deliveries.map(({ text }) => JSON.parse(text).event.actor.actor_data.email)
  expect(actors.slice(0, 4)).toEqual(['admin@localhost', '', '', ''])
})

test('a webhook that is deleted during a delivery receives nothing more', async () => {
  expect(await whileDelivering(() => core.call('DELETE', `${BASE}/${id}`))).toHaveLength(1)
})
