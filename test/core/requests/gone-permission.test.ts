/** Requests for permissions that are deleted or that a sync no longer finds. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { requestablePermissions } from '../../../runtime/database/schema/app_store.ts'
import { until } from '../../e2e/until.ts'
import { app, type CoreHost, type Person, person } from '../host.ts'
import { answering, type Receiver } from '../webhooks/receiver.ts'
import type { Company } from './company.ts'
import { type Hooked, startHooked } from './hooked.ts'

let hooked: Hooked
let receiver: Receiver
let core: CoreHost
let acme: Company
let ada: Person

beforeAll(async () => {
  hooked = await startHooked()
  ;({ receiver, core, acme } = hooked)
  ada = await person(core.db, 'ada@acme.example')
})
afterAll(() => hooked.stop())
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer(answering(200, '{}'))
})

async function permission(app_id: string, label = 'Editors'): Promise<string> {
  const body = { app_id, label, request_config: { appstore_visibility: 'VISIBLE' } }
  const made = await core.call('POST', '/appstore/requestable_permissions', { body })
  expect(made.status).toBe(201)
  return made.body.id
}

const hook = (hook_type: string) => hooked.hook(hook_type)

const remove = async (id: string) => {
  const reply = await core.call('DELETE', `/appstore/requestable_permissions/${id}`)
  expect([reply.status, reply.body]).toEqual([204, null])
}

it('an undecided request is cancelled when its permission is deleted', async () => {
  const appId = await acme.inStore(await app(core.db, 'Undecided'))
  const wanted = await permission(appId)
  const id = await acme.asked(ada, { app_id: appId, requestable_permission_ids: [wanted] })
  await remove(wanted)
  expect(await acme.read(id)).toMatchObject({
    status: 'CANCELLED',
    notes: { CANCELLED: 'The permission was deleted' },
  })
  expect(await acme.openTask(id)).toBeUndefined()
})

it('a deleted permission is taken back by webhook under its own label, not as access to the app', async () => {
  const appId = await acme.inStore(
    await app(core.db, 'Taken'),
    {},
    {
      provisioning_webhook: await hook('PROVISION'),
      access_removal_inline_webhook: await hook('DEPROVISION'),
    },
  )
  const wanted = await permission(appId)
  const policy = await core.call('POST', '/access_policies', {
    body: {
      ...{ name: 'Everybody', business_justification: 'all', status: 'PUBLISHED' },
      ...{ is_enabled: true, is_everyone_condition: true },
      apps: [{ id: appId, is_preapproved: true, permissions: [{ id: wanted }] }],
    },
  })
  expect(policy.status).toBe(200)
  const mine = async () =>
    (await core.call('GET', `/appstore/access_requests?target_user_id=${ada.id}`)).body.items.find(
      ({ app_id }: { app_id: string }) => app_id === appId,
    )
  const { id } = await until('the policy has created its request', mine)
  await acme.reaches(id, 'COMPLETED')
  await remove(wanted)
  await acme.reaches(id, 'REVERTED')
  const webhookCall = receiver.received
    .map(({ text }) => JSON.parse(text))
    .find(({ access_request_id, event }) => access_request_id === id && event === 'DEPROVISION')
  expect(webhookCall).toMatchObject({ permissions: [{ label: 'Editors' }] })
})

it('many permissions can be deleted concurrently while a policy that grants them is changed', async () => {
  const appId = await acme.inStore(await app(core.db, 'Many'))
  const ids: string[] = []
  for (let n = 0; n < 10; n += 1) ids.push(await permission(appId, `Editors ${n}`))
  const name = 'Everybody has many'
  const everybody = (n: number) => ({
    ...{ name, business_justification: 'all', status: 'PUBLISHED' },
    ...{ is_enabled: true, is_everyone_condition: true },
    apps: [{ id: appId, is_preapproved: n % 2 === 0, permissions: ids.map((id) => ({ id })) }],
  })
  const made = await core.call('POST', '/access_policies', { body: everybody(0) })
  const asked = ids.map((id) => acme.ask(ada, { app_id: appId, requestable_permission_ids: [id] }))
  const statuses = await Promise.all([...asked.map((one) => one.then(({ status }) => status))])
  expect(statuses).toEqual(ids.map(() => 201))
  const puts = [1, 2, 3].map((n) =>
    core.call('PUT', `/access_policies/${made.body.id}`, { body: everybody(n) }),
  )
  await Promise.all(ids.map(remove))
  // 422: the policy names a permission that is already deleted.
  for (const { status } of await Promise.all(puts)) expect([200, 422]).toContain(status)
})

it('a permission that a sync no longer finds leaves the store; its namesake that was found stays', async () => {
  const appId = await acme.inStore(
    await app(core.db, 'Twins'),
    {},
    { groups_provisioning: 'GROUPS_AND_VISIBLE' },
  )
  const ref = { entitlementType: 'group', resourceType: '', resourceId: '' }
  const dead = await acme.synced(appId, 'Editors', { ...ref, entitlementId: 'g1' })
  const alive = await acme.synced(appId, 'Editors', { ...ref, entitlementId: 'g2' })
  await core.db
    .update(requestablePermissions)
    .set({ goneAt: new Date() })
    .where(eq(requestablePermissions.id, dead))
  const listed = async (token?: string, query = '') => {
    const path = `/appstore/requestable_permissions?app_id=${appId}${query}`
    const { body } = await core.call('GET', path, token ? { token } : {})
    return body.items.map(({ id }: { id: string }) => id).sort()
  }
  expect(await listed(ada.token)).toEqual([alive])
  expect(await listed(undefined, '&in_app_store=true')).toEqual([alive])
  expect(await listed()).toEqual([alive])
  expect(await listed(undefined, '&in_app_store=false')).toEqual([])
  expect((await core.call('GET', `/appstore/requestable_permissions/${dead}`)).status).toBe(200)
  const asked = await acme.ask(ada, { app_id: appId, requestable_permission_ids: [dead] })
  expect([asked.status, JSON.stringify(asked.body)]).toEqual([
    422,
    expect.stringContaining('is no longer in the app'),
  ])
})
