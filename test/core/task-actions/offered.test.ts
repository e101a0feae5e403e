/** The listed actions of a task are those that the caller can perform, and no others. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { app, type CoreHost, type Person, person, startCore, task } from '../host.ts'
import { type Company, company } from '../requests/company.ts'

let core: CoreHost
let acme: Company
let ada: Person
let boss: Person
let appId: string
beforeAll(async () => {
  core = await startCore()
  acme = company(core)
  ada = await person(core.db, 'ada@example.com')
  boss = await person(core.db, 'boss@example.com')
  const of = { adminUserIds: [boss.id] }
  appId = await acme.inStore(await app(core.db, 'Warehouse', of), {
    approvers: { users: [{ id: boss.id }], groups: [] },
  })
})
afterAll(() => core.stop())

const offered = async (token: string, id: string): Promise<string[]> => {
  const { body } = await core.call('GET', `/tasks/${id}/actions`, { token })
  return body.map(({ action_type }: { action_type: string }) => action_type)
}
const asked = async (who: Person) => {
  const request = await acme.asked(who, { app_id: appId })
  return { request, id: (await acme.openTask(request)).id }
}

test('a decision is offered to a person who may make it, and can be performed', async () => {
  const { id } = await asked(ada)
  expect(await offered(boss.token, id)).toEqual(['approve', 'deny'])
  const body = { action_type: 'approve' }
  const path = `/tasks/${id}/perform-action`
  expect((await core.call('POST', path, { token: boss.token, body })).status).toBe(204)
  expect(await offered(boss.token, id)).toEqual([])
})

test.each(['Admin', 'App Admin'])(
  'no decision is offered to an %s who made the request',
  async (role) => {
    const own = await person(core.db, `${role.replace(' ', '')}@example.com`, [role])
    const ownApp = await app(core.db, `Of ${role}`, { adminUserIds: [own.id] })
    await acme.inStore(ownApp, { approvers: { users: [{ id: boss.id }], groups: [] } })
    const request = await acme.asked(own, { app_id: ownApp })
    const { id } = await acme.openTask(request)
    expect((await core.call('GET', `/tasks/${id}`, { token: own.token })).status).toBe(200)
    expect(await offered(own.token, id)).toEqual([])
    const body = { action_type: 'approve' }
    const path = `/tasks/${id}/perform-action`
    expect((await core.call('POST', path, { token: own.token, body })).status).toBe(403)
    // Work that is not a decision is offered to them.
    await acme.settle(request, 'complete')
    const { id: work } = await acme.openTask(request)
    expect(await offered(own.token, work)).toEqual(['confirm', 'decline', 'accept'])
  },
)

test('no action is offered to a read-only token', async () => {
  const { id } = await asked(ada)
  expect(await offered(boss.readOnlyToken, id)).toEqual([])
})

test('retry is not offered for provisioning by hand, but for a task without a request', async () => {
  const { request } = await asked(ada)
  await acme.settle(request, 'complete')
  const { id } = await acme.openTask(request)
  expect(await offered(boss.token, id)).toEqual(['confirm', 'decline', 'accept'])
  const body = { action_type: 'retry' }
  const path = `/tasks/${id}/perform-action`
  expect((await core.call('POST', path, { token: boss.token, body })).status).toBe(409)
  const own = await task(core.db, { category: 'PROVISIONING', userIds: [boss.id] })
  expect(await offered(boss.token, own)).toContain('retry')
})
