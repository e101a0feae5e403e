/** Removal of rejected access: only a reading of the system makes a line REMOVED. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { until } from '../../e2e/until.ts'
import { domainOf, person } from '../host.ts'
import { leaving } from '../offboarding/leaving.ts'
import { company } from '../requests/company.ts'
import { sync } from '../sync/synced.ts'
import { account, association, entitlement } from '../sync/upstream.ts'
import { holds, type Reviewed, startReviewed, take } from './reviewed.ts'

let firm: Reviewed

beforeAll(async () => {
  firm = await startReviewed()
})
afterAll(() => firm.stop())
beforeEach(() => firm.reset())

const BEN = 'ben Group g1'

/** A review in which ben's line was rejected and everything else kept. */
async function rejected(
  appId: string,
  change?: object,
): Promise<{ id: string; reviewAppId: string }> {
  const { id, reviewAppId } = await firm.launched(appId)
  if (change) {
    const apps = [{ id: reviewAppId, ...change }]
    const reply = await firm.core.call('PATCH', `/access_reviews/${id}`, { body: { apps } })
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  }
  await firm.decided(id, BEN, 'REJECT', firm.mia)
  const rest = { decision: 'KEEP', filter: {}, reason: 'needed' }
  await firm.decide(id, firm.mia, rest)
  await firm.post(`/access_reviews/${id}/items/decide`, rest)
  return { id, reviewAppId }
}

const remove = (id: string, reviewAppId: string) =>
  firm.core.call('POST', `/access_reviews/${id}/apps/${reviewAppId}/start-removal`)

/** Makes every pending retry due now. */
const makeRetriesDue = () =>
  firm.core.db.execute(sql`
    with items as (update access_review_items set wake_at = now() where wake_at > now() returning arda_id)
    update access_review_apps set wake_at = now() where id in (select arda_id from items)`)

const taskOf = (id: string) =>
  until('the line has a manual task', async () => {
    await makeRetriesDue()
    const { body } = await firm.core.call(
      'GET',
      '/tasks?show_all_tasks=true&task_type=MANUAL_DEPROVISIONING&status=PENDING&product_area=ACCESS_REVIEWS',
    )
    const name = (await firm.read(id)).name
    return body.items.find((one: { description: string }) => one.description.includes(name)) ?? null
  })

test('rejected access is removed in the system, and a reading confirms it', async () => {
  const appId = await firm.synced()
  const { id, reviewAppId } = await rejected(appId)
  expect(holds(firm.upstream, 'ben', 'g1')).toBe(true)
  expect((await remove(id, reviewAppId)).status).toBe(204)
  const line = await firm.lineReaches(id, BEN, 'REMOVED')
  expect(line.gone_at).not.toBeNull()
  expect(holds(firm.upstream, 'ben', 'g1')).toBe(false)
  expect(holds(firm.upstream, 'ada', 'g1')).toBe(true)
  await firm.reaches(id, 'COMPLETED')
  expect((await remove(id, reviewAppId)).status).toBe(409)
})

/** Gives ben's account another id. */
function setIdOfBen(name: string): void {
  const { holds: system } = firm.upstream
  system.accounts = [
    ...system.accounts.filter((one) => JSON.stringify(one) !== JSON.stringify(account('ben'))),
    { ...account('ben'), integration_specific_id: name },
  ]
  system.associations = system.associations.map((one) =>
    JSON.stringify(one) === JSON.stringify(association('ben', 'g1'))
      ? association(name, 'g1')
      : one,
  )
}

test('access that the account of a line holds under a new id is removed, too', async () => {
  const appId = await firm.synced()
  const { id, reviewAppId } = await rejected(appId)
  setIdOfBen('benjamin')
  expect(holds(firm.upstream, 'benjamin', 'g1')).toBe(true)
  await remove(id, reviewAppId)
  await firm.lineReaches(id, BEN, 'REMOVED')
  expect(holds(firm.upstream, 'benjamin', 'g1')).toBe(false)
})

test('an offboarding after a removal suspends the account under its new id', async () => {
  const appId = await firm.synced()
  const { id, reviewAppId } = await rejected(appId)
  setIdOfBen('benjamin')
  await remove(id, reviewAppId)
  await firm.lineReaches(id, BEN, 'REMOVED')
  firm.upstream.answerWrite = (kind, request) => {
    const { holds: system } = firm.upstream
    if (kind === 'deactivate')
      system.accounts = system.accounts.map((one) =>
        Object.values(one).includes(request['account_id'])
          ? { ...one, user_status: 'SUSPENDED' }
          : one,
      )
    else take(firm.upstream, request)
    return kind === 'deactivate' ? { deactivated: true, status: 'SUSPENDED' } : { unassigned: true }
  }
  const people = leaving(firm.core)
  const ben = await person(firm.core.db, 'ben-who-leaves@example.com')
  await firm.core.db.execute(sql`update accounts set user_id = ${ben.id}
    where app_id = ${appId} and unique_identifier = 'ben'`)
  firm.upstream.holds.accounts = firm.upstream.holds.accounts.map((one) =>
    Object.values(one).includes('benjamin') ? { ...one, email: 'ben-who-leaves@example.com' } : one,
  )
  await people.reaches(await people.offboard(ben.id), 'COMPLETED')
  expect(firm.upstream.holds.accounts).toContainEqual(
    expect.objectContaining({ integration_specific_id: 'benjamin', user_status: 'SUSPENDED' }),
  )
})

test('a service account’s line removes nothing from another account with the same address', async () => {
  const ops = { email: 'ops@example.com', account_type: 'service' }
  const { holds: system } = firm.upstream
  const others = system.accounts.filter((one) => !Object.values(one).includes('bot'))
  system.accounts = [...others, account('bot', ops)]
  const appId = await firm.synced()
  const { id, reviewAppId } = await firm.launched(appId)
  const rest = (decision: string) => ({ decision, filter: {}, reason: 'as it is' })
  await firm.decide(id, firm.mia, rest('KEEP'))
  await firm.post(`/access_reviews/${id}/items/decide`, rest('REJECT'))
  system.accounts = [...others, account('payroll', ops)]
  system.associations = system.associations.map((one) =>
    JSON.stringify(one) === JSON.stringify(association('bot', 'g2'))
      ? association('payroll', 'g2')
      : one,
  )
  await remove(id, reviewAppId)
  await firm.lineReaches(id, 'bot Group g2', 'REMOVED')
  expect(holds(firm.upstream, 'payroll', 'g2')).toBe(true)
})

test('a listing that starts again after its end is abandoned', async () => {
  const appId = await firm.synced()
  const { id, reviewAppId } = await rejected(appId)
  const { holds: system, restarting, asked } = firm.upstream
  system.accounts = system.accounts.filter((one) => !Object.values(one).includes('ben'))
  system.associations = []
  restarting.add('accounts')
  const before = asked.length
  await remove(id, reviewAppId)
  await until('the line reports the problem', async () =>
    (await firm.line(id, BEN)).problem?.includes('starts again after its end'),
  )
  const pages = asked.slice(before).filter((one) => one.startsWith('accounts ')).length
  expect(pages).toBeLessThan(50)
})

test('a row that is listed on two pages is not taken for a cycle', async () => {
  const { holds: system } = firm.upstream
  const many = Array.from({ length: 120 }, (_, n) => association('mia', `x${n}`))
  system.entitlements = [...system.entitlements, ...many.map((_, n) => entitlement(`x${n}`))]
  const [first, second, ...rest] = system.associations
  if (!first || !second) throw new Error('the system has fewer than two associations')
  system.associations = [first, second, ...many, first, ...rest]
  const { id, reviewAppId } = await rejected(await firm.synced())
  await remove(id, reviewAppId)
  expect(await firm.lineReaches(id, BEN, 'REMOVED')).toMatchObject({ problem: null })
})

test('a removal cannot start while lines are open', async () => {
  const { id, reviewAppId } = await firm.launched(await firm.synced())
  expect((await remove(id, reviewAppId)).body.detail).toMatch(/5 lines are open/)
})

test('a system that answers success and does nothing never leads to REMOVED', async () => {
  const appId = await firm.synced()
  firm.upstream.answerWrite = () => ({ unassigned: true })
  const { id, reviewAppId } = await rejected(appId)
  await remove(id, reviewAppId)
  const seen = new Set<string>()
  const task = await until('the line has a manual task', async () => {
    await makeRetriesDue()
    seen.add((await firm.line(id, BEN)).state)
    const { body } = await firm.core.call(
      'GET',
      '/tasks?show_all_tasks=true&task_type=MANUAL_DEPROVISIONING&status=PENDING',
    )
    const name = (await firm.read(id)).name
    return body.items.find((one: { description: string }) => one.description.includes(name))
  })
  expect(await firm.line(id, BEN)).toMatchObject({
    state: 'WAITING_FOR_HANDS',
    problem: expect.stringMatching(/reported success, but the system still shows it/),
  })
  // Nor does a completed task, as long as the system shows the access.
  await firm.core.call('POST', `/tasks/${task.id}/complete`)
  await sync(firm.core, appId)
  await makeRetriesDue()
  await taskOf(id)
  seen.add((await firm.line(id, BEN)).state)
  expect([...seen].filter((state) => !['REMOVING', 'WAITING_FOR_HANDS'].includes(state))).toEqual(
    [],
  )
  expect((await firm.read(id)).status).toBe('IN_PROGRESS')
  // The line is REMOVED only once the access is really gone.
  take(firm.upstream, {
    account_integration_specific_id: 'ben',
    entitlement_integration_specific_id: 'g1',
  })
  const run = await sync(firm.core, appId)
  expect(run.state).toBe('SUCCEEDED')
  await firm.lineReaches(id, BEN, 'REMOVED')
  await firm.reaches(id, 'COMPLETED')
})

test('a removal is retried after a refusal, and waits until the system shows it', async () => {
  const appId = await firm.synced()
  let asked = 0
  firm.upstream.answerWrite = async (_, told) => {
    asked += 1
    if (asked > 1) setTimeout(() => take(firm.upstream, told), 300)
    return asked === 1 ? { code: 'odd' } : { unassigned: true }
  }
  const { id, reviewAppId } = await rejected(appId)
  await remove(id, reviewAppId)
  await until('the line is REMOVED', async () => {
    await makeRetriesDue()
    return (await firm.line(id, BEN)).state === 'REMOVED'
  })
  expect(holds(firm.upstream, 'ben', 'g1')).toBe(false)
})

test('a manual removal counts once the system shows it', async () => {
  const appId = await firm.synced()
  const { id, reviewAppId } = await rejected(appId, { removal_action: 'MANUAL' })
  await remove(id, reviewAppId)
  const task = await taskOf(id)
  expect(task.description).toMatch(/from the account ben \(ben@\S+\) in /)
  expect(holds(firm.upstream, 'ben', 'g1')).toBe(true)
  await firm.appReaches(id, 'WAITING_FOR_MANUAL_ACTION')
  take(firm.upstream, {
    account_integration_specific_id: 'ben',
    entitlement_integration_specific_id: 'g1',
  })
  await firm.core.call('POST', `/tasks/${task.id}/complete`)
  await firm.lineReaches(id, BEN, 'REMOVED')
  await firm.reaches(id, 'COMPLETED')
})

test('a manual removal that is reported while a try fails counts at once, not after the pause of that try', async () => {
  const appId = await firm.synced()
  firm.upstream.answerWrite = () => ({ unassigned: true })
  const { id, reviewAppId } = await rejected(appId)
  await remove(id, reviewAppId)
  const task = await taskOf(id)
  const begun = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<object>()
  firm.upstream.answerWrite = () => {
    begun.resolve()
    return failed.promise
  }
  await makeRetriesDue()
  await begun.promise
  expect((await firm.core.call('POST', `/tasks/${task.id}/complete`)).status).toBe(204)
  take(firm.upstream, {
    account_integration_specific_id: 'ben',
    entitlement_integration_specific_id: 'g1',
  })
  failed.resolve({ code: 'odd' })
  await firm.lineReaches(id, BEN, 'REMOVED')
})

test('a line that a person declines to remove becomes EXCEPTED with that problem', async () => {
  const { id, reviewAppId } = await rejected(await firm.synced(), { removal_action: 'MANUAL' })
  await remove(id, reviewAppId)
  const task = await taskOf(id)
  await firm.core.call('POST', `/tasks/${task.id}/dismiss`)
  expect((await firm.lineReaches(id, BEN, 'EXCEPTED')).problem).toMatch(/declined/)
  await firm.reaches(id, 'COMPLETED')
  expect(holds(firm.upstream, 'ben', 'g1')).toBe(true)
})

test('the last entitlement of a type that an account must hold becomes TO_MODIFY', async () => {
  firm.upstream.holds.entitlements = [
    entitlement('g1', { entitlement_type: 'LICENCE' }),
    entitlement('g2'),
  ]
  const { id, reviewAppId } = await rejected(await firm.synced())
  await remove(id, reviewAppId)
  expect((await firm.lineReaches(id, BEN, 'TO_MODIFY')).problem).toMatch(/at least 1 of Licence/)
  expect(holds(firm.upstream, 'ben', 'g1')).toBe(true)
})

test('access from a request is removed by reverting the request', async () => {
  const appId = await firm.synced()
  const { db } = firm.core
  await company(firm.core).inStore(appId)
  const entitlementRef = {
    ...{ entitlementType: 'GROUP', entitlementId: 'g1', resourceType: '', resourceId: '' },
  }
  // The rows that a provisioned request leaves.
  const { rows } = await db.execute<{ id: string }>(sql`
    insert into access_requests (domain_id, app_id, carried_app_id, target_user_id, status, plan, how, label,
      was_there, entitlement)
    values (${await domainOf(db)}, ${appId}, ${appId}, ${firm.ben.id}, 'COMPLETED',
      '{"manager":false,"stages":[],"message":null,"validationWebhook":null}', 'connector', 'Group g1', false,
      ${JSON.stringify(entitlementRef)}::jsonb) returning id`)
  const request = rows[0]?.id ?? ''
  await db.execute(sql`
    insert into reason_spans (domain_id, since, user_id, request_id, app_id, carried_app_id, label, entitlement)
    values (${await domainOf(db)}, now(), ${firm.ben.id}, ${request}, ${appId}, ${appId}, 'Group g1',
      ${JSON.stringify(entitlementRef)}::jsonb)`)
  const { id, reviewAppId } = await rejected(appId)
  expect((await firm.line(id, BEN)).hints).toContainEqual({ name: 'GIVEN_BY_REQUEST', red: false })
  await remove(id, reviewAppId)
  await firm.lineReaches(id, BEN, 'REMOVED')
  expect((await company(firm.core).read(request)).status).toBe('REVERTED')
  expect(holds(firm.upstream, 'ben', 'g1')).toBe(false)
})

test('a line whose access is already gone is REMOVED by the reading, without a call', async () => {
  const appId = await firm.synced()
  const { id, reviewAppId } = await rejected(appId)
  firm.upstream.holds.associations = [association('ada', 'g1')]
  let written = 0
  firm.upstream.answerWrite = () => {
    written += 1
    return { unassigned: true }
  }
  await remove(id, reviewAppId)
  await firm.lineReaches(id, BEN, 'REMOVED')
  expect(written).toBe(0)
})

test('rejected accounts are suspended, and a reading confirms it', async () => {
  const appId = await firm.synced()
  const { id, reviewAppId } = await firm.launched(appId, { review_type: 'ACCOUNTS' })
  firm.upstream.answerWrite = (_, { account_id }) => {
    const accounts = firm.upstream.holds.accounts as Record<string, string>[]
    for (const one of accounts)
      if (one['integration_specific_id'] === account_id) one['user_status'] = 'SUSPENDED'
    return { status: 'SUSPENDED', deactivated: true }
  }
  await firm.decided(id, 'ben', 'REJECT', firm.mia)
  expect((await firm.post(`/access_reviews/${id}/complete`, {})).status).toBe(200)
  await firm.lineReaches(id, 'ben', 'REMOVED')
  await firm.reaches(id, 'COMPLETED')
  expect(reviewAppId).toBe((await firm.read(id)).apps[0].id)
})

test.each([
  ['review', (id: string) => `/access_reviews/${id}`],
  [
    'app of a review',
    (id: string, reviewAppId: string) => `/access_reviews/${id}/apps/${reviewAppId}`,
  ],
])('a deleted %s removes nothing more, even while its removal is running', async (_, pathOf) => {
  const { id, reviewAppId } = await firm.launched(await firm.synced())
  const all = { decision: 'REJECT', filter: {}, reason: 'not needed' }
  await firm.decide(id, firm.mia, all)
  await firm.post(`/access_reviews/${id}/items/decide`, all)
  const takeNow = firm.upstream.answerWrite
  const deleted = Promise.withResolvers<number>()
  const told: string[] = []
  firm.upstream.answerWrite = async (kind, what, tenant) => {
    told.push(kind)
    if (told.length === 1)
      deleted.resolve((await firm.core.call('DELETE', pathOf(id, reviewAppId))).status)
    return takeNow(kind, what, tenant)
  }
  await remove(id, reviewAppId)
  expect(await deleted.promise).toBe(204)
  await until('the job has ended', async () => {
    const { body } = await firm.core.call('GET', '/operator/jobs?queue=access-reviews')
    const own = body.items.filter(({ key }: { key: string }) => key === `app ${reviewAppId}`)
    return own.every(({ state }: { state: string }) => state === 'completed') || null
  })
  expect(told).toHaveLength(1)
  expect(firm.upstream.holds.associations).toHaveLength(4)
})

test('a line that fails while its review is deleted asks no one to remove it', async () => {
  const { id, reviewAppId } = await rejected(await firm.synced())
  const { name } = await firm.read(id)
  const deleted = Promise.withResolvers<number>()
  firm.upstream.before = async (kind) => {
    if (kind !== 'unassign') return undefined
    deleted.resolve((await firm.core.call('DELETE', `/access_reviews/${id}`)).status)
    return { status: 403, code: 'permission_denied' }
  }
  await remove(id, reviewAppId)
  expect(await deleted.promise).toBe(204)
  await until('the job has ended', async () => {
    const { body } = await firm.core.call('GET', '/operator/jobs?queue=access-reviews')
    const own = body.items.filter(({ key }: { key: string }) => key === `app ${reviewAppId}`)
    return own.every(({ state }: { state: string }) => state === 'completed') || null
  })
  const path = '/tasks?show_all_tasks=true&task_type=MANUAL_DEPROVISIONING&status=PENDING'
  const { body } = await firm.core.call('GET', path)
  const about = ({ description }: { description: string }) => description.includes(name)
  expect(body.items.filter(about)).toEqual([])
})

test('a deadline with REMOVE rejects undecided lines', async () => {
  const { id } = await firm.launched(await firm.synced(), {}, { on_deadline: 'REMOVE' })
  await firm.decided(id, BEN, 'KEEP', firm.mia)
  await firm.core.db.execute(
    sql`update access_reviews set deadline_at = now(), wake_at = now() where id = ${id}`,
  )
  await firm.reaches(id, 'COMPLETED')
  expect((await firm.line(id, 'ada Group g2')).state).toBe('REMOVED')
  expect((await firm.line(id, BEN)).state).toBe('KEPT')
  expect(firm.upstream.holds.associations).toHaveLength(1)
})
