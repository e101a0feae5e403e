/** Requests on which no one may decide, from the beginning or later. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { usersChanged } from '../../../runtime/core/policies/changed.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { groupMembers, userRoles, users } from '../../../runtime/database/schema/people.ts'
import { app, type CoreHost, domainOf, group, type Person, person, startCore } from '../host.ts'
import { type Company, company } from './company.ts'

let core: CoreHost
let acme: Company
let ada: Person
let adminId: string
let apple = 0

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  acme = company(core)
  ada = await person(core.db, 'ada@acme.example')
  adminId = (await core.call('GET', '/users/current')).body.id
})
afterAll(() => core.stop())

const inStore = async (flow: object = {}) => {
  apple += 1
  return acme.inStore(await app(core.db, `App ${apple}`), flow)
}

/** The only admin requests access for himself. */
const askSelf = (appId: string) =>
  core.call('POST', '/appstore/access_request', { body: { app_id: appId } })

async function leaves(id: string): Promise<void> {
  const domainId = await domainOf(core.db)
  await core.db.transaction(async (tx) => {
    await tx.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, id))
    await usersChanged(tx, domainId, [id], null)
  })
}

const assignees = async (id: string) => {
  const path = `/tasks?show_all_tasks=true&access_request_id=${id}&status=PENDING&expand=assignees`
  const [task] = (await core.call('GET', path)).body.items
  return task?.assignees.map((one: { id: string }) => one.id)
}

describe('a request of the only admin', () => {
  const refused = expect.stringMatching(/^No one may decide on it.*role Admin.*pre-approval rule/)

  it.each([
    ['if no approver is named', async () => ({})],
    [
      'if the admin is the only approver',
      async () => ({ approvers: { users: [{ id: adminId }] } }),
    ],
    [
      'if the group of approvers has no other member',
      async () => {
        const own = await group(core.db, 'Only the admin', [{ id: adminId } as Person])
        return { approvers: { groups: [{ id: own }] } }
      },
    ],
    [
      'if the manager must decide and there is none',
      async () => ({ require_manager_approval: true }),
    ],
    [
      'if only the second stage has no other approver',
      async () => ({
        approvers: { users: [{ id: ada.id }] },
        require_additional_approval: true,
        approvers_stage_2: { users: [{ id: adminId }] },
      }),
    ],
  ])('for themself is refused with advice %s', async (_, flow) => {
    const appId = await inStore(await flow())
    const { status, body } = await askSelf(appId)
    expect([status, body.detail]).toEqual([409, refused])
    const { rows } = await core.db.execute(sql`select from access_requests where app_id = ${appId}`)
    expect(rows).toEqual([])
  })

  it.each([
    ['another approver', async () => inStore({ approvers: { users: [{ id: ada.id }] } })],
    [
      'an admin of the app',
      async () => {
        const appId = await inStore()
        await core.db
          .update(apps)
          .set({ adminUserIds: [ada.id] })
          .where(eq(apps.id, appId))
        return appId
      },
    ],
    [
      'a matching pre-approval rule',
      async () => {
        const appId = await inStore()
        const preapproved_users_by_attribute = [{ attribute: 'email', value: 'admin@localhost' }]
        const body = { app_id: appId, justification: 'own', preapproved_users_by_attribute }
        await core.call('POST', '/appstore/pre_approval_rules', { body })
        return appId
      },
    ],
  ])('for themself is accepted if there is %s', async (_, made) => {
    expect((await askSelf(await made())).status).toBe(201)
  })

  it('for another person is refused if that person may not decide either', async () => {
    const body = { app_id: await inStore(), target_user_id: ada.id }
    expect((await core.call('POST', '/appstore/access_request', { body })).status).toBe(409)
  })
})

describe('when an approver leaves', () => {
  it.each([
    ['a named person', (id: string) => ({ approvers: { users: [{ id }] } })],
    ['the manager', () => ({ require_manager_approval: true })],
  ])('and was the only approver as %s, the admins are asked', async (name, flow) => {
    const boss = await person(core.db, `${name.replaceAll(' ', '-')}@acme.example`)
    await acme.setManager(ada.id, boss.id)
    const id = await acme.asked(ada, { app_id: await inStore(flow(boss.id)) })
    expect(await assignees(id)).toEqual([boss.id])
    await leaves(boss.id)
    await expect.poll(() => assignees(id), { timeout: 30_000 }).toEqual([adminId])
    await acme.settle(id, 'complete')
    await acme.setManager(ada.id, null)
  })

  it('and leaves a group of approvers empty, the admins are asked at the next check', async () => {
    const boss = await person(core.db, 'in-group@acme.example')
    const team = await group(core.db, 'Deciders', [boss])
    const id = await acme.asked(ada, {
      app_id: await inStore({ approvers: { groups: [{ id: team }] } }),
    })
    await core.db.delete(groupMembers).where(eq(groupMembers.groupId, team))
    const look = await core.db.execute<{ hours: number }>(
      sql`select extract(epoch from wake_at - created_at)::int / 3600 as hours from access_requests where id = ${id}`,
    )
    expect(look.rows[0]?.hours).toBe(24)
    await core.db.execute(sql`update access_requests set wake_at = now() where id = ${id}`)
    await expect.poll(() => assignees(id), { timeout: 30_000 }).toEqual([adminId])
  })

  it('and only the requester is an admin, the request is cancelled and a task for admins says why', async () => {
    const boss = await person(core.db, 'last@acme.example')
    const asked = await askSelf(await inStore({ approvers: { users: [{ id: boss.id }] } }))
    const [{ id }] = asked.body
    await leaves(boss.id)
    await acme.reaches(id, 'CANCELLED')
    expect((await acme.read(id)).notes.CANCELLED).toMatch(/^No one may decide on it/)
    const { body } = await core.call('GET', '/tasks?task_type=ACCESS_REQUEST_ERROR')
    expect(body.items[0].instructions).toContain('role Admin')
    expect(await assignees(id)).toBeUndefined()
  })

  it('and another approver stays, the admins are not asked', async () => {
    const [one, other] = [
      await person(core.db, 'one@a.example'),
      await person(core.db, 'two@a.example'),
    ]
    const approvers = { users: [{ id: one.id }, { id: other.id }] }
    const id = await acme.asked(ada, { app_id: await inStore({ approvers }) })
    await leaves(one.id)
    const nextCheck = () =>
      core.db.execute<{ later: boolean }>(
        sql`select wake_at > now() as later from access_requests where id = ${id}`,
      )
    await expect
      .poll(async () => (await nextCheck()).rows[0]?.later, { timeout: 30_000 })
      .toBe(true)
    expect((await assignees(id))?.sort()).toEqual([one.id, other.id].sort())
  })
})

it('a request of an admin goes to the second admin, who can decide it', async () => {
  const second = await person(core.db, 'second@acme.example', ['Admin'])
  const [{ id }] = (await askSelf(await inStore())).body
  expect(await assignees(id)).toEqual([second.id])
  const task = await acme.openTask(id)
  expect((await core.call('POST', `/tasks/${task.id}/complete`)).status).toBe(403)
  const done = await core.call('POST', `/tasks/${task.id}/complete`, { token: second.token })
  expect(done.status).toBe(204)
  await core.db.delete(userRoles).where(eq(userRoles.userId, second.id))
})
