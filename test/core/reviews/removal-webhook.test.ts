/** Removal by a webhook of the operator: it is called once, and a reading of the system must confirm it. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { until } from '../../e2e/until.ts'
import { app, domainOf } from '../host.ts'
import { storedLog } from '../log.ts'
import { company } from '../requests/company.ts'
import { sync } from '../sync/synced.ts'
import { answering } from '../webhooks/receiver.ts'
import { holds, type Line, type Reviewed, startReviewed, take } from './reviewed.ts'

let firm: Reviewed
let hook: { id: string }

beforeAll(async () => {
  firm = await startReviewed()
  const body = { hook_type: 'DEPROVISION', name: 'Remover', url: firm.receiver.url, headers: {} }
  const made = await firm.core.call('POST', '/operator/webhooks', { body })
  hook = { id: made.body.webhook.id }
})
afterAll(() => firm.stop())
beforeEach(() => {
  firm.reset()
  firm.receiver.received.length = 0
  firm.receiver.answer(answering(200, '{}'))
})

const BEN = 'ben Group g1'
const TOLD = { account_integration_specific_id: 'ben', entitlement_integration_specific_id: 'g1' }

const takesAway = () => take(firm.upstream, TOLD)
const called = () => firm.receiver.received.map(({ text }) => JSON.parse(text))

/** A synced app with the webhook in its store settings. */
async function hooked(): Promise<string> {
  const appId = await firm.synced()
  return company(firm.core).inStore(appId, {}, { access_removal_inline_webhook: hook })
}

/** A review in which ben's line was rejected and the removal has started. */
async function removing(appId: string): Promise<string> {
  const { id, reviewAppId } = await firm.launched(appId)
  const apps = [{ id: reviewAppId, removal_action: 'WEBHOOK' }]
  const reply = await firm.core.call('PATCH', `/access_reviews/${id}`, { body: { apps } })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  await firm.decided(id, BEN, 'REJECT', firm.mia)
  expect((await firm.post(`/access_reviews/${id}/complete`, {})).status).toBe(200)
  return id
}

/** Waits until ben's line reports a problem, and checks that it is never REMOVED until then. */
const untilProblem = (id: string, problem: RegExp): Promise<Line> =>
  until(`the line reports ${problem}`, async () => {
    const line = await firm.line(id, BEN)
    expect(line.state).not.toBe('REMOVED')
    return problem.test(line.problem ?? '') ? line : null
  })

test('a webhook removes the access, and a reading confirms it', async () => {
  firm.receiver.answer((reply) => {
    takesAway()
    reply.end('{}')
  })
  let unassigned = 0
  firm.upstream.answerWrite = () => {
    unassigned += 1
    return { unassigned: true }
  }
  const id = await removing(await hooked())
  const line = await firm.lineReaches(id, BEN, 'REMOVED')
  expect(line.gone_at).not.toBeNull()
  expect(unassigned).toBe(0)
  expect(called()).toMatchObject([
    {
      event: 'DEPROVISION',
      ...{ access_request_id: null, requester: null, target: { email: 'ben@example.com' } },
      permissions: [{ label: expect.any(String), value: 'g1' }],
      business_justification: 'for a test',
      access_review: { id, item_id: line.id },
      account: { unique_identifier: 'ben' },
    },
  ])
  await firm.reaches(id, 'COMPLETED')
  const all = await storedLog(firm.core.db)
  const rows = all.filter(({ eventType }) => eventType === 'ACCESS_REVIEW_WEBHOOK_CALLED')
  expect(rows.map(({ metadata }) => metadata)).toEqual([
    expect.objectContaining({ webhook_id: hook.id, item_id: line.id }),
  ])
})

test('a webhook that answers success and does nothing never leads to REMOVED', async () => {
  const appId = await hooked()
  const id = await removing(appId)
  // The next sync still shows the access: people are asked, and the webhook is not called again.
  const line = await untilProblem(id, /was called, but the system does not show it removed/)
  expect(line.state).toBe('WAITING_FOR_HANDS')
  expect(holds(firm.upstream, 'ben', 'g1')).toBe(true)
  expect(called()).toHaveLength(1)
  takesAway()
  expect((await sync(firm.core, appId)).state).toBe('SUCCEEDED')
  await firm.lineReaches(id, BEN, 'REMOVED')
  expect(called()).toHaveLength(1)
})

test('a webhook that fails leaves the removal to people, with its answer', async () => {
  firm.receiver.answer(answering(500, '{}'))
  const id = await removing(await hooked())
  const line = await untilProblem(id, /"Remover": it answered 500/)
  expect(line.state).toBe('WAITING_FOR_HANDS')
  expect(called()).toHaveLength(1)
})

test('a call that was already started is not repeated', async () => {
  const appId = await hooked()
  const { id, reviewAppId } = await firm.launched(appId)
  const apps = [{ id: reviewAppId, removal_action: 'WEBHOOK' }]
  await firm.core.call('PATCH', `/access_reviews/${id}`, { body: { apps } })
  await firm.decided(id, BEN, 'REJECT', firm.mia)
  // The state that a host leaves when it dies during the call.
  const { id: item } = await firm.line(id, BEN)
  await firm.core.db.execute(
    sql`update access_review_items set called_at = now() where id = ${item}`,
  )
  await firm.post(`/access_reviews/${id}/complete`, {})
  await untilProblem(id, /was called, but the system does not show it removed/)
  expect(called()).toEqual([])
})

test('access that is already gone needs no webhook call', async () => {
  const appId = await hooked()
  const { id, reviewAppId } = await firm.launched(appId)
  const apps = [{ id: reviewAppId, removal_action: 'WEBHOOK' }]
  await firm.core.call('PATCH', `/access_reviews/${id}`, { body: { apps } })
  await firm.decided(id, BEN, 'REJECT', firm.mia)
  takesAway()
  await firm.post(`/access_reviews/${id}/complete`, {})
  await firm.lineReaches(id, BEN, 'REMOVED')
  expect(called()).toEqual([])
})

test('the webhook of a permission takes precedence over that of its app', async () => {
  const { core } = firm
  const body = {
    hook_type: 'DEPROVISION',
    name: 'Of groups',
    url: `${firm.receiver.url}/own`,
    headers: {},
  }
  const own = (await core.call('POST', '/operator/webhooks', { body })).body.webhook.id
  const appId = await hooked()
  const permission = await core.db.execute<{ id: string }>(sql`
    update requestable_permissions set document = document || ${JSON.stringify({ access_removal_inline_webhook: own })}::jsonb
    where app_id = ${appId} and entitlement_id = 'g1' returning id`)
  expect(permission.rows).toHaveLength(1)
  const id = await removing(appId)
  await untilProblem(id, /reported success, but the system still shows it/)
  expect(firm.receiver.received.map(({ path }) => path)).toEqual(['/hook/own'])
  expect(called()[0].permissions).toMatchObject([{ value: 'g1', source: 'SYNCED' }])
})

test('a webhook that reports success for an app without a system leaves the line to people', async () => {
  const { db } = firm.core
  const appId = await app(db, 'By hand')
  await company(firm.core).inStore(appId, {}, { access_removal_inline_webhook: hook })
  const of = sql`${await domainOf(db)}::uuid, ${appId}::uuid`
  await db.execute(sql`
    with made as (insert into accounts (domain_id, app_id, unique_identifier, user_id)
      values (${of}, 'ben', ${firm.ben.id}) returning id)
    insert into account_spans (domain_id, app_id, account_id, unique_identifier, account_type, user_id, since)
    select ${of}, id, 'ben', 'USER', ${firm.ben.id}::uuid, now() from made`)
  const { id, reviewAppId } = await firm.launched(appId, { review_type: 'ACCOUNTS' })
  const apps = [{ id: reviewAppId, removal_action: 'WEBHOOK' }]
  await firm.core.call('PATCH', `/access_reviews/${id}`, { body: { apps } })
  await firm.decided(id, 'ben', 'REJECT', firm.mia)
  await firm.post(`/access_reviews/${id}/complete`, {})
  const line = await firm.lineReaches(id, 'ben', 'WAITING_FOR_HANDS')
  expect(line.problem).toMatch(/reported success, and there is no system to check/)
  expect(called()).toMatchObject([{ permissions: [], account: { unique_identifier: 'ben' } }])
})

test('removal by webhook cannot be chosen if no webhook is configured', async () => {
  const { id, reviewAppId } = await firm.launched(await firm.synced())
  const apps = [{ id: reviewAppId, removal_action: 'WEBHOOK' }]
  const reply = await firm.core.call('PATCH', `/access_reviews/${id}`, { body: { apps } })
  expect(reply.status).toBe(400)
  expect(reply.body.detail).toMatch(/has no webhook that revokes access; name one/)
})
