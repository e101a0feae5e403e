/** What people may do with requests, given their roles, apps and groups. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { groupMembers, groups, users } from '../../../runtime/database/schema/people.ts'
import { app, type CoreHost, domainOf, group, type Person, person, startCore } from '../host.ts'
import { type Company, company } from './company.ts'

let core: CoreHost
let acme: Company
let ada: Person
let mixed: Person

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  acme = company(core)
  ada = await person(core.db, 'ada@acme.example')
  mixed = await person(core.db, 'mixed@acme.example', ['Read Only Admin', 'App Admin'])
})
afterAll(() => core.stop())

it('an admin of one app who can read all requests cannot cancel those of other apps', async () => {
  const own = await acme.inStore(await app(core.db, 'Own', { adminUserIds: [mixed.id] }))
  const foreign = await acme.inStore(await app(core.db, 'Foreign'))
  const cancel = async (appId: string) => {
    const id = await acme.asked(ada, { app_id: appId })
    const path = `/appstore/access_requests/${id}`
    return (await core.call('DELETE', path, { token: mixed.token })).status
  }
  expect(await cancel(foreign)).toBe(403)
  expect(await cancel(own)).toBe(204)
})

it.each([['Read Only Admin'], ['AppStore Read Only Admin'], ['Auditor']])(
  'a person with the role %s can request access and cancel that request, and nothing more',
  async (role) => {
    const id = await acme.inStore(await app(core.db, `Store of ${role}`))
    const reader = await person(core.db, `${role.replaceAll(' ', '-')}@acme.example`, [role])
    const ask = (target: Person, token: string) =>
      core.call('POST', '/appstore/access_request', {
        token,
        body: { app_id: id, target_user_id: target.id, requester_user_id: target.id },
      })
    const cancel = (request: string) =>
      core.call('DELETE', `/appstore/access_requests/${request}`, { token: reader.token })

    expect((await ask(reader, reader.readOnlyToken)).status).toBe(403)
    const own = await ask(reader, reader.token)
    expect(own.status).toBe(201)
    const others = await acme.asked(ada, { app_id: id })
    expect((await ask(ada, reader.token)).status).toBe(403)
    expect([403, 404]).toContain((await cancel(others)).status)
    const { id: task } = await acme.openTask(own.body[0].id)
    for (const body of [{ action_type: 'APPROVE' }, { action_type: 'REJECT' }])
      expect([403, 404]).toContain(
        (await core.call('POST', `/tasks/${task}/perform-action`, { token: reader.token, body }))
          .status,
      )
    expect((await cancel(own.body[0].id)).status).toBe(204)
  },
)

/** A group as a sync creates it. */
async function groupOf(appId: string, integrationSpecificId: string): Promise<string> {
  const values = { domainId: await domainOf(core.db), appId, integrationSpecificId }
  const [row] = await core.db
    .insert(groups)
    .values({ ...values, name: 'Administrators' })
    .returning()
  return row?.id ?? ''
}

it('an admin of one app cannot use a group of another app in a permission', async () => {
  const own = await acme.inStore(await app(core.db, 'Mine', { adminUserIds: [mixed.id] }))
  const directory = await app(core.db, 'Directory')
  const permission = async (appId: string) => {
    const provisioning_group = { id: await groupOf(appId, 'g1') }
    const body = {
      ...{ app_id: own, label: 'All' },
      request_config: { request_fulfillment_config: { provisioning_group } },
    }
    return core.call('POST', '/appstore/requestable_permissions', { token: mixed.token, body })
  }
  const refused = await permission(directory)
  expect(refused.status).toBe(422)
  expect(JSON.stringify(refused.body)).toContain('belongs to an app that you do not manage')
  expect((await permission(own)).status).toBe(201)
})

it('a provisioning group whose id is ambiguous in the app is left to manual provisioning', async () => {
  const directory = await acme.inStore(
    await app(core.db, 'Twice', { connectorId: 'twice', adminUserIds: [mixed.id] }),
  )
  const ref = { entitlementId: 'g2', resourceType: '', resourceId: '' }
  await acme.synced(directory, 'The group', { ...ref, entitlementType: 'group' })
  await acme.synced(directory, 'The role', { ...ref, entitlementType: 'role' })
  const standing = await acme.synced(
    directory,
    'Stands for it',
    { ...ref, entitlementId: 'other', entitlementType: 'team' },
    {
      request_fulfillment_config: { provisioning_group: await groupOf(directory, 'g2') },
    },
  )
  const id = await acme.asked(ada, {
    app_id: directory,
    requestable_permission_ids: [standing],
  })
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
  expect((await acme.openTask(id)).instructions).toBeNull()
})

it('people cannot decide on their own request by joining or naming a group of approvers', async () => {
  const boss = await person(core.db, 'boss@acme.example')
  const team = await group(core.db, 'Team', [boss])
  const appId = await acme.inStore(await app(core.db, 'Grouped'), {
    approvers: { groups: [{ id: team }] },
  })
  const id = await acme.asked(ada, { app_id: appId })
  await core.db
    .insert(groupMembers)
    .values({ domainId: await domainOf(core.db), groupId: team, userId: ada.id })
  const task = await acme.openTask(id)
  const act = (verb: string, body?: object) =>
    core.call('POST', `/tasks/${task.id}/${verb}`, { token: ada.token, body })
  expect((await act('complete')).status).toBe(403)
  expect((await act('dismiss')).status).toBe(403)
  const own = await group(core.db, 'Only Ada', [ada])
  const given = await act('reassign', { group_ids: [own], replace: true })
  expect(given.status).toBe(403)
  expect((await act('complete')).status).toBe(403)
})

it('an approval cannot be reassigned to people none of whom can decide', async () => {
  const appId = await acme.inStore(await app(core.db, 'Handed on'))
  const id = await acme.asked(ada, { app_id: appId })
  const task = await acme.openTask(id)
  const reassign = (body: object) => core.call('POST', `/tasks/${task.id}/reassign`, { body })
  const gone = await person(core.db, 'gone@acme.example')
  await core.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, gone.id))
  const empty = await group(core.db, 'Nobody', [])
  const own = await group(core.db, 'Ada herself', [ada])
  for (const body of [{ user_ids: [gone.id] }, { group_ids: [empty] }, { group_ids: [own] }])
    expect((await reassign({ ...body, replace: true })).status).toBe(400)
  expect((await reassign({ group_ids: [empty], replace: false })).status).toBe(204)
})
