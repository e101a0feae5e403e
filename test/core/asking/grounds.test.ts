/** The grounds shown for a decision, and the reason recorded with it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { app, type CoreHost, type Person, person, startCore, task } from '../host.ts'
import { type Company, company } from '../requests/company.ts'

let core: CoreHost
let acme: Company
let ada: Person
let boss: Person
let appId: string
let permission: string
beforeAll(async () => {
  core = await startCore()
  acme = company(core)
  ada = await person(core.db, 'ada@example.com')
  boss = await person(core.db, 'boss@example.com')
  await acme.setManager(ada.id, boss.id)
  appId = await acme.inStore(await app(core.db, 'Warehouse'), { require_manager_approval: true })
  permission = await acme.group(appId, 'readers', 'Readers')
})
afterAll(() => core.stop())

const ask = (who: Person) =>
  acme.asked(who, {
    app_id: appId,
    requestable_permission_ids: [permission],
    business_justification: 'Month end',
    access_length: '8 hours',
  })

const grounds = async (who: Person, requestId: string) => {
  const { id } = await acme.openTask(requestId)
  return core.call('GET', `/tasks/${id}/grounds`, { token: who.token })
}

describe('the grounds of a task', () => {
  test('show the app, the permission, the people, the justification, the length and the deadline', async () => {
    const { body } = await grounds(boss, await ask(ada))
    expect(body).toMatchObject({
      app_name: 'Warehouse',
      permission_label: 'Readers',
      requester_user: { id: ada.id },
      target_user: { id: ada.id },
      manager_user: { id: boss.id },
      business_justification: 'Month end',
      expiration_in_seconds: 8 * 3600,
      holds: [],
      held_now: null,
      held_before: [],
      colleagues: { count: 0, holding: 0 },
    })
    expect(Date.parse(body.decide_until)).toBeGreaterThan(Date.parse(body.asked_at))
  })

  test('count colleagues of the same manager with the same access, and list current and past access', async () => {
    const bob = await person(core.db, 'bob@example.com')
    const carl = await person(core.db, 'carl@example.com')
    for (const one of [bob, carl]) await acme.setManager(one.id, boss.id)
    const given = await ask(bob)
    await acme.settle(given, 'complete')
    await acme.reaches(given, 'PENDING_MANUAL_PROVISIONING')
    await acme.settle(given, 'complete')
    await acme.reaches(given, 'COMPLETED')
    const forCarl = await grounds(boss, await ask(carl))
    expect(forCarl.body.colleagues).toEqual({ count: 2, holding: 1 })

    const again = await grounds(boss, await ask(bob))
    expect(again.body.holds).toMatchObject([{ label: 'Readers', kind: 'granted' }])
    expect(Date.parse(again.body.held_now.until)).toBeGreaterThan(Date.now())
    await core.call('POST', `/appstore/access_requests/${given}/give_back`, { token: bob.token })
    await acme.reaches(given, 'PENDING_MANUAL_DEPROVISIONING')
    await acme.settle(given, 'complete')
    await acme.reaches(given, 'REVERTED')
    const later = await grounds(boss, await ask(bob))
    expect(later.body).toMatchObject({ held_now: null, held_before: [{}] })
  })

  test('are shown only to people who may act on the task', async () => {
    const eve = await person(core.db, 'eve@example.com')
    const reader = await person(core.db, 'reader@example.com', ['Read Only Admin'])
    const id = await ask(ada)
    expect((await grounds(eve, id)).status).toBe(404)
    expect((await grounds(reader, id)).status).toBe(403)
  })

  test('have no request data for a task without a request', async () => {
    const id = await task(core.db, { category: 'GENERIC', userIds: [boss.id] })
    const { status, body } = await core.call('GET', `/tasks/${id}/grounds`, { token: boss.token })
    expect(status).toBe(200)
    expect(body).toMatchObject({ target_user: null, asked_at: null, holds: [] })
  })
})

describe('a decision', () => {
  const decide = async (requestId: string, body: object) => {
    const { id } = await acme.openTask(requestId)
    const path = `/tasks/${id}/perform-action`
    return { id, ...(await core.call('POST', path, { token: boss.token, body })) }
  }

  test('stores its reason in the notes of the request and as a comment on the task', async () => {
    const id = await ask(ada)
    const { id: taskId, status } = await decide(id, { action_type: 'deny', reason: ' Not now ' })
    expect(status).toBe(204)
    const read = await core.call('GET', `/appstore/access_requests/${id}`, { token: ada.token })
    expect(read.body.notes.MANAGER_DENIED).toBe('Not now')
    const kept = await core.call('GET', `/tasks/${taskId}?expand=comments`, { token: boss.token })
    expect(kept.body.comments).toMatchObject([{ body: 'Not now', created_by: { id: boss.id } }])
  })

  test('requires no reason', async () => {
    const id = await ask(ada)
    const { id: taskId, status } = await decide(id, { action_type: 'approve', reason: '  ' })
    expect(status).toBe(204)
    const kept = await core.call('GET', `/tasks/${taskId}?expand=comments`, { token: boss.token })
    expect(kept.body.comments).toEqual([])
  })
})

test('open=true lists the tasks that a person still has to do', async () => {
  const doer = await person(core.db, 'doer@example.com')
  const made: Record<string, string> = {}
  for (const status of ['PENDING', 'ACCEPTED', 'COMPLETED', 'DISMISSED', 'BLOCKED'] as const)
    made[status] = await task(core.db, { status, userIds: [doer.id] })
  const { body } = await core.call('GET', '/tasks?open=true', { token: doer.token })
  const ids = body.items.map(({ id }: { id: string }) => id)
  expect(ids.sort()).toEqual([made['PENDING'], made['ACCEPTED']].sort())
})
