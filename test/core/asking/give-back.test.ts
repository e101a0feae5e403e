/** Giving access back before its time is over. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { app, type CoreHost, type Person, person, startCore } from '../host.ts'
import { type Company, company } from '../requests/company.ts'
import { lastEvents } from '../store.ts'

let core: CoreHost
let acme: Company
let ada: Person
let appId: string
beforeAll(async () => {
  core = await startCore()
  acme = company(core)
  ada = await person(core.db, 'ada@example.com')
  appId = await acme.inStore(await app(core.db, 'Warehouse'))
})
afterAll(() => core.stop())

const giveBack = (who: Person | null, id: string) =>
  core.call('POST', `/appstore/access_requests/${id}/give_back`, who ? { token: who.token } : {})

/** A request that was approved and provisioned by hand. */
async function held(who: Person): Promise<string> {
  const id = await acme.asked(who, { app_id: appId })
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'COMPLETED')
  return id
}

describe('granted access', () => {
  test('is removed when its holder gives it back, and the event is logged', async () => {
    const id = await held(ada)
    expect((await giveBack(ada, id)).status).toBe(204)
    const events = (await lastEvents(core, 5)).map(([event]) => event)
    expect(events).toContain('APP_STORE_GIVE_BACK_ACCESS')
    await acme.reaches(id, 'PENDING_MANUAL_DEPROVISIONING')
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'REVERTED')
  })

  test('can be given back only by its holder', async () => {
    const id = await held(ada)
    const other = await person(core.db, 'bob@example.com')
    expect((await giveBack(other, id)).status).toBe(404)
    expect((await giveBack(null, id)).status).toBe(403)
    expect(await acme.statusOf(id)).toBe('COMPLETED')
  })

  test('can be given back only once', async () => {
    const id = await held(ada)
    await giveBack(ada, id)
    expect((await giveBack(ada, id)).status).toBe(409)
  })
})

test('a request that is still pending cannot be given back', async () => {
  const carl = await person(core.db, 'carl@example.com')
  const id = await acme.asked(carl, { app_id: appId })
  const { status, body } = await giveBack(carl, id)
  expect(status).toBe(409)
  expect(body.detail).toContain('PENDING_APPROVAL')
})

test('access given by a policy cannot be given back', async () => {
  const dora = await person(core.db, 'dora@example.com')
  const id = await held(dora)
  const policy = {
    ...{ name: 'Everybody', business_justification: 'all' },
    ...{ is_everyone_condition: true, apps: [{ id: appId }] },
  }
  const { body } = await core.call('POST', '/access_policies', { body: policy })
  await core.db.update(accessRequests).set({ policyId: body.id }).where(eq(accessRequests.id, id))
  const refused = await giveBack(dora, id)
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    'A policy gives this access, so it cannot be given back',
  ])
})
