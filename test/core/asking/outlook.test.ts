/** What would happen if a person asked now. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { app, type CoreHost, group, type Person, person, startCore } from '../host.ts'
import { type Company, company } from '../requests/company.ts'
import { NOBODY_ID } from '../store.ts'

let core: CoreHost
let acme: Company
let ada: Person
let boss: Person
let owner: Person
beforeAll(async () => {
  core = await startCore()
  acme = company(core)
  ada = await person(core.db, 'ada@example.com')
  boss = await person(core.db, 'boss@example.com')
  owner = await person(core.db, 'owner@example.com')
  await acme.setManager(ada.id, boss.id)
})
afterAll(() => core.stop())

const look = (who: Person, appId: string, query = '') =>
  core.call('GET', `/appstore/apps/${appId}/request_outlook${query}`, { token: who.token })

describe('the outlook of an app', () => {
  test('names the manager and the approvers in their order', async () => {
    const team = await group(core.db, 'Warehouse team', [owner])
    const flow = {
      require_manager_approval: true,
      approvers: { users: [{ id: owner.id }], groups: [{ id: team }] },
    }
    const appId = await acme.inStore(await app(core.db, 'Warehouse'), flow)
    const { body } = await look(ada, appId)
    expect(body.steps).toMatchObject([
      { kind: 'manager', count: 1, deciders: [{ id: boss.id, type: 'USER' }] },
      {
        kind: 'approvers',
        count: 2,
        deciders: [
          { id: team, type: 'GROUP', name: 'Warehouse team' },
          { id: owner.id, email: 'owner@example.com' },
        ],
      },
    ])
  })

  test('says who decides for another person', async () => {
    const appId = await acme.inStore(await app(core.db, 'Mail'), { require_manager_approval: true })
    const { body } = await look(owner, appId, `?target_user_id=${ada.id}`)
    expect(body.steps[0].deciders[0].id).toBe(boss.id)
  })

  test('says which lengths there are, and that a person gives it', async () => {
    const lengths = { time_based_access: ['8 hours', '30 days'] }
    const appId = await acme.inStore(await app(core.db, 'Payroll'), {}, lengths)
    const { body } = await look(ada, appId)
    expect(body).toMatchObject({
      access_lengths: ['8 hours', '30 days'],
      given_by_hand: true,
      median_decision_seconds: null,
      decided_requests: 0,
    })
  })

  test('says how long decisions took', async () => {
    const appId = await acme.inStore(await app(core.db, 'Calendar'))
    for (let turn = 0; turn < 3; turn += 1)
      await acme.settle(await acme.asked(ada, { app_id: appId }), 'complete')
    const { body } = await look(ada, appId)
    expect(body.decided_requests).toBe(3)
    expect(body.median_decision_seconds).toBeGreaterThanOrEqual(0)
  })

  test('is not there for an app that the caller does not find', async () => {
    const hidden = await acme.inStore(await app(core.db, 'Hidden'), { discoverability: 'NONE' })
    expect((await look(ada, hidden)).status).toBe(404)
    expect((await look(ada, NOBODY_ID)).status).toBe(404)
  })

  test('is not there for a permission of another app, nor for nobody', async () => {
    const one = await acme.inStore(await app(core.db, 'One'))
    const other = await acme.inStore(await app(core.db, 'Other'))
    const permission = await acme.group(other)
    expect((await look(ada, one, `?requestable_permission_id=${permission}`)).status).toBe(404)
    expect((await look(ada, other, `?requestable_permission_id=${permission}`)).status).toBe(200)
    expect((await look(ada, other, `?target_user_id=${NOBODY_ID}`)).status).toBe(422)
  })
})
