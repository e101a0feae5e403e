/** A preview of what would happen if a person requested access now. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { app, type CoreHost, group, type Person, person, startCore } from '../host.ts'
import { type Company, company } from '../requests/company.ts'
import { withStatements } from '../statements.ts'
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
  test('lists the manager and the approvers in the order of decision', async () => {
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

  test('shows who decides on a request for another person', async () => {
    const appId = await acme.inStore(await app(core.db, 'Mail'), { require_manager_approval: true })
    const { body } = await look(owner, appId, `?target_user_id=${ada.id}`)
    expect(body.steps[0].deciders[0].id).toBe(boss.id)
  })

  test('lists the access lengths and whether access is given by hand', async () => {
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

  test('shows the number of decided requests and their median decision time', async () => {
    const appId = await acme.inStore(await app(core.db, 'Calendar'))
    for (let turn = 0; turn < 3; turn += 1)
      await acme.settle(await acme.asked(ada, { app_id: appId }), 'complete')
    const { body } = await look(ada, appId)
    expect(body.decided_requests).toBe(3)
    expect(body.median_decision_seconds).toBeGreaterThanOrEqual(0)
  })

  test('returns 404 for a hidden and for an unknown app', async () => {
    const hidden = await acme.inStore(await app(core.db, 'Hidden'), { discoverability: 'NONE' })
    expect((await look(ada, hidden)).status).toBe(404)
    expect((await look(ada, NOBODY_ID)).status).toBe(404)
  })

  test('returns 404 for a permission of another app, and 422 for an unknown person', async () => {
    const one = await acme.inStore(await app(core.db, 'One'))
    const other = await acme.inStore(await app(core.db, 'Other'))
    const permission = await acme.group(other)
    expect((await look(ada, one, `?requestable_permission_id=${permission}`)).status).toBe(404)
    expect((await look(ada, other, `?requestable_permission_id=${permission}`)).status).toBe(200)
    expect((await look(ada, other, `?target_user_id=${NOBODY_ID}`)).status).toBe(422)
  })
})

describe('the outlooks of several apps', () => {
  const lookAt = (who: Person, query: Record<string, string[]>) => {
    const pairs = Object.entries(query).flatMap(([name, all]) => all.map((one) => [name, one]))
    const at = `/appstore/request_outlooks?${new URLSearchParams(pairs)}`
    return core.call('GET', at, { token: who.token })
  }

  test('equal those of single calls, in the order of the query', async () => {
    const team = await group(core.db, 'Several team', [owner])
    const flows = [
      { require_manager_approval: true },
      { approvers: { users: [{ id: owner.id }], groups: [{ id: team }] } },
      // The only approver is the requester, so the admins decide.
      { approvers: { users: [{ id: ada.id }], groups: [] } },
    ]
    const ids: string[] = []
    for (const [at, flow] of flows.entries())
      ids.push(await acme.inStore(await app(core.db, `Several ${at}`), flow))
    const [first = ''] = ids
    const permission = await acme.group(first)
    await acme.settle(await acme.asked(ada, { app_id: first }), 'complete')
    const { status, body } = await lookAt(ada, {
      app_ids: ids,
      requestable_permission_ids: [permission],
    })
    expect(status).toBe(200)
    const alone = await Promise.all([
      ...ids.map((id) => look(ada, id)),
      look(ada, first, `?requestable_permission_id=${permission}`),
    ])
    expect(body).toEqual(alone.map((one) => one.body))
    expect(body.map((one: { decided_requests: number }) => one.decided_requests)).toEqual([
      ...[1, 0, 0, 1],
    ])
  })

  test('omit hidden, unknown and malformed ids', async () => {
    const hidden = await acme.inStore(await app(core.db, 'Unseen'), { discoverability: 'NONE' })
    const query = {
      app_ids: [hidden, NOBODY_ID, 'x'],
      requestable_permission_ids: [NOBODY_ID, 'x'],
    }
    expect((await lookAt(ada, query)).body).toEqual([])
  })

  test('are refused for more than fifty ids, with a message that names the limit', async () => {
    const { status, body } = await lookAt(ada, { app_ids: Array(51).fill(NOBODY_ID) })
    expect([status, body.detail[0].msg]).toEqual([
      ...[422, 'Value error, name at most 50 apps and permissions at once'],
    ])
  })

  test('take as many SQL statements for twelve apps as for one', async () => {
    const ids: string[] = []
    for (let at = 0; at < 12; at += 1) {
      const flow = { require_manager_approval: true, approvers: { users: [{ id: owner.id }] } }
      ids.push(await acme.inStore(await app(core.db, `Many ${at}`), flow))
    }
    const count = async (appIds: string[]) => {
      const { answer, statements } = await withStatements(() => lookAt(ada, { app_ids: appIds }))
      expect(answer.body).toHaveLength(appIds.length)
      return statements.length
    }
    const one = await count(ids.slice(0, 1))
    expect(one).toBeGreaterThan(3)
    expect(await count(ids)).toBe(one)
  })
})

describe('a pre-approval rule', () => {
  const appWithRule = async (name: string, rule: object) => {
    const lengths = { time_based_access: ['8 hours', '30 days', 'Unlimited'] }
    const appId = await acme.inStore(await app(core.db, name), {}, lengths)
    const body = { app_id: appId, justification: 'as agreed', ...rule }
    const made = await core.call('POST', '/appstore/pre_approval_rules', { body })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return appId
  }
  const mine = {
    preapproved_users_by_attribute: [{ attribute: 'email', value: 'ada@example.com' }],
  }
  const lengthsOf = async (appId: string) =>
    (await look(ada, appId)).body.preapproved_access_lengths

  test('pre-approves the access lengths that it covers', async () => {
    const until = { time_based_access: ['8 hours'] }
    expect(await lengthsOf(await appWithRule('Rule of hours', { ...mine, ...until }))).toEqual([
      '8 hours',
    ])
    const all = ['8 hours', '30 days', 'Unlimited']
    expect(await lengthsOf(await appWithRule('Rule of all', mine))).toEqual(all)
  })

  test('does not pre-approve other people, or the whole app if it names only a permission', async () => {
    const others = [{ attribute: 'email', value: 'boss@example.com' }]
    const appId = await appWithRule('Rule for other people', {
      preapproved_users_by_attribute: others,
    })
    expect(await lengthsOf(appId)).toEqual([])
    const two = await acme.inStore(await app(core.db, 'Rule of one'))
    const permission = await acme.group(two)
    const body = {
      ...{ app_id: two, justification: 'as agreed', ...mine },
      preapproved_permissions: [{ id: permission }],
    }
    const made = await core.call('POST', '/appstore/pre_approval_rules', { body })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect(await lengthsOf(two)).toEqual([])
    const of = await look(ada, two, `?requestable_permission_id=${permission}`)
    expect(of.body.preapproved_access_lengths.length).toBeGreaterThan(0)
  })
})
