/** How a request is approved or denied. The app is a custom one, so access is provisioned by hand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { app, type CoreHost, group, type Person, person, startCore } from '../host.ts'

let core: CoreHost
let employee: Person
let manager: Person
let approver: Person
let second: Person

beforeAll(async () => {
  core = await startCore()
  manager = await person(core.db, 'manager@acme.example')
  employee = await person(core.db, 'employee@acme.example')
  approver = await person(core.db, 'approver@acme.example')
  second = await person(core.db, 'second@acme.example')
  await setManager(employee.id, manager.id)
})
afterAll(() => core.stop())

async function setManager(userId: string, managerId: string | null) {
  const { users } = await import('../../../runtime/database/schema/people.ts')
  const { eq } = await import('drizzle-orm')
  await core.db.update(users).set({ managerId }).where(eq(users.id, userId))
}

/** An app in the store, with settings. */
async function storeApp(name: string, request_flow = {}, provisioning = {}): Promise<string> {
  const id = await app(core.db, name)
  const added = await core.call('POST', '/appstore/apps', {
    body: { app_id: id, request_flow, provisioning },
  })
  expect(added.status).toBe(200)
  return id
}

const ask = (token: string, body: object) =>
  core.call('POST', '/appstore/access_request', { token, body })

const statusOf = async (id: string) =>
  (await core.call('GET', `/appstore/access_requests/${id}`)).body.status

/** The one open task of a request, as a person sees it. */
async function taskOf(requestId: string, { token }: { token: string }) {
  const list = await core.call('GET', `/tasks?access_request_id=${requestId}&status=PENDING`, {
    token,
  })
  return list.body.items[0]?.id as string | undefined
}

const act = async (requestId: string, who: Person, verb: 'complete' | 'dismiss') => {
  const id = await taskOf(requestId, who)
  return core.call('POST', `/tasks/${id}/${verb}`, { token: who.token })
}

describe('a request', () => {
  it('passes the manager and two approval stages, then is provisioned by hand', async () => {
    const appId = await storeApp('Stages', {
      require_manager_approval: true,
      require_additional_approval: true,
      approvers: { users: [{ id: approver.id }] },
      approvers_stage_2: { users: [{ id: second.id }] },
    })
    const made = await ask(employee.token, { app_id: appId, note: 'for the audit' })
    expect(made.status).toBe(201)
    const [{ id, notes, status, requested_at, expires_at, supporter_user }] = made.body
    expect({ notes, status, expires_at, supporter_user }).toEqual({
      notes: { PENDING: 'for the audit', PENDING_MANAGER_APPROVAL: null },
      status: 'PENDING_MANAGER_APPROVAL',
      expires_at: null,
      supporter_user: null,
    })
    expect(requested_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
    expect((await act(id, manager, 'complete')).status).toBe(204)
    expect(await statusOf(id)).toBe('PENDING_APPROVAL')
    expect(await taskOf(id, second)).toBeUndefined()
    expect((await act(id, approver, 'complete')).status).toBe(204)
    expect(await statusOf(id)).toBe('PENDING_APPROVAL')
    expect((await act(id, second, 'complete')).status).toBe(204)
    expect(await statusOf(id)).toBe('PENDING_MANUAL_PROVISIONING')
    const tasks = await core.call('GET', `/tasks?show_all_tasks=true&access_request_id=${id}`)
    const give = tasks.body.items.find(
      (one: { task_category: string }) => one.task_category === 'PROVISIONING',
    )
    expect(give.description).toBe(
      'Give access in Stages for employee@acme.example. Reason: for the audit',
    )
    expect((await core.call('POST', `/tasks/${give.id}/complete`)).status).toBe(204)
    const { body } = await core.call('GET', `/appstore/access_requests/${id}?expand=tasks`, {
      token: employee.token,
    })
    expect(body.status).toBe('COMPLETED')
    expect(body.tasks.map((one: { status: string }) => one.status)).toEqual(
      Array(4).fill('COMPLETED'),
    )
  })

  it('ends with the first denial', async () => {
    const flow = { approvers: { users: [{ id: approver.id }] } }
    const byManager = await storeApp('NoManager', { ...flow, require_manager_approval: true })
    const [one] = (await ask(employee.token, { app_id: byManager })).body
    await act(one.id, manager, 'dismiss')
    expect(await statusOf(one.id)).toBe('MANAGER_DENIED')
    const byApprover = await storeApp('NoApprover', flow)
    const [other] = (await ask(employee.token, { app_id: byApprover })).body
    await act(other.id, approver, 'dismiss')
    expect(await statusOf(other.id)).toBe('DENIED')
  })

  it('is decided by admins when no approver is named', async () => {
    const appId = await storeApp('Nobody')
    const [{ id, status }] = (await ask(employee.token, { app_id: appId })).body
    expect(status).toBe('PENDING_APPROVAL')
    expect(await taskOf(id, approver)).toBeUndefined()
    const list = await core.call('GET', `/tasks?access_request_id=${id}`)
    expect(list.body.items).toHaveLength(1)
  })

  it('answers the second of two concurrent approvals with 409', async () => {
    const team = await group(core.db, 'deciders', [approver, second])
    const appId = await storeApp('Two', { approvers: { groups: [{ id: team }] } })
    const [{ id }] = (await ask(employee.token, { app_id: appId })).body
    const task = await taskOf(id, approver)
    const both = await Promise.all(
      [approver, second].map(({ token }) =>
        core.call('POST', `/tasks/${task}/complete`, { token }),
      ),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([204, 409])
    expect(await statusOf(id)).toBe('PENDING_MANUAL_PROVISIONING')
  })

  it('cannot be cancelled again or decided once it is cancelled', async () => {
    const appId = await storeApp('Cancelled', { approvers: { users: [{ id: approver.id }] } })
    const [{ id }] = (await ask(employee.token, { app_id: appId })).body
    const task = await taskOf(id, approver)
    const cancel = () =>
      core.call('DELETE', `/appstore/access_requests/${id}?reason=changed%20my%20mind`, {
        token: employee.token,
      })
    expect((await cancel()).status).toBe(204)
    expect((await cancel()).status).toBe(409)
    expect(
      (await core.call('POST', `/tasks/${task}/complete`, { token: approver.token })).status,
    ).toBe(409)
    const { body } = await core.call('GET', `/appstore/access_requests/${id}`)
    expect([body.status, body.notes.CANCELLED]).toEqual(['CANCELLED', 'changed my mind'])
  })

  it('cannot be decided by its requester, who is also its target', async () => {
    const team = await group(core.db, 'with the requester', [employee, approver])
    const appId = await storeApp('Own', { approvers: { groups: [{ id: team }] } })
    const [{ id }] = (await ask(employee.token, { app_id: appId })).body
    const task = await taskOf(id, employee)
    const own = await core.call('POST', `/tasks/${task}/complete`, { token: employee.token })
    expect(own.status).toBe(403)
    expect(await statusOf(id)).toBe('PENDING_APPROVAL')
    expect((await act(id, approver, 'complete')).status).toBe(204)
  })

  it('cannot be decided by its requester or its target, if they are different people', async () => {
    const team = await group(core.db, 'with both', [employee, second, approver])
    const appId = await storeApp('Both', { approvers: { groups: [{ id: team }] } })
    const made = await core.call('POST', '/appstore/access_request', {
      body: { app_id: appId, requester_user_id: employee.id, target_user_id: second.id },
    })
    const [{ id, requester_user, target_user }] = made.body
    expect([requester_user.id, target_user.id]).toEqual([employee.id, second.id])
    for (const party of [employee, second])
      expect((await act(id, party, 'complete')).status).toBe(403)
    expect(await statusOf(id)).toBe('PENDING_APPROVAL')
    expect((await act(id, approver, 'complete')).status).toBe(204)
  })

  it('goes to the admins when the only approver is the requester, or when managers form a cycle', async () => {
    const appId = await storeApp('OnlyOwn', { approvers: { users: [{ id: employee.id }] } })
    const [own] = (await ask(employee.token, { app_id: appId })).body
    expect(await taskOf(own.id, employee)).toBeUndefined()
    const a = await person(core.db, 'ring-a@acme.example')
    const b = await person(core.db, 'ring-b@acme.example')
    await setManager(a.id, b.id)
    await setManager(b.id, a.id)
    const cyclicApp = await storeApp('Ring', { require_manager_approval: true })
    const asked = await ask(a.token, { app_id: cyclicApp, target_user_id: b.id })
    expect(asked.body[0].status).toBe('PENDING_MANAGER_APPROVAL')
    const { body } = await core.call('GET', `/tasks?access_request_id=${asked.body[0].id}`)
    expect(body.items).toHaveLength(1)
  })

  it('may be made twice, which creates two requests', async () => {
    const appId = await storeApp('Twice')
    const one = await ask(employee.token, { app_id: appId })
    const two = await ask(employee.token, { app_id: appId })
    expect([one.status, two.status]).toEqual([201, 201])
    expect(one.body[0].id).not.toBe(two.body[0].id)
  })
})

describe('the validation of a request', () => {
  it.each([
    ['an app that is not in the store', async () => ({ app_id: await app(core.db, 'Hidden') })],
    ['an unknown app', async () => ({ app_id: 'none' })],
    ['an unknown user', async () => ({ app_id: await storeApp('W1'), target_user_id: 'x' })],
    [
      'an unknown permission',
      async () => ({ app_id: await storeApp('W2'), requestable_permission_ids: ['x'] }),
    ],
    [
      'a length that the app does not offer',
      async () => ({
        app_id: await storeApp('W3', {}, { time_based_access: ['2 hours'] }),
        access_length: '90 days',
      }),
    ],
    [
      'unlimited access where a length is required',
      async () => ({ app_id: await storeApp('W4', {}, { time_based_access: ['2 hours'] }) }),
    ],
    [
      'more seconds than the longest length has',
      async () => ({
        app_id: await storeApp('W5', {}, { time_based_access: ['2 hours'] }),
        expiration_in_seconds: 7201,
      }),
    ],
    [
      'both a length and seconds',
      async () => ({
        app_id: await storeApp('W6'),
        expiration_in_seconds: 60,
        access_length: '2 hours',
      }),
    ],
    ['zero seconds', async () => ({ app_id: await storeApp('W7'), expiration_in_seconds: 0 })],
  ])('rejects %s', async (_, body) => {
    const reply = await ask(employee.token, await body())
    expect(reply.status).toBe(422)
    expect(reply.body.detail[0].msg).not.toBe('')
  })

  it('rejects another person as the requester, unless the caller is an admin', async () => {
    const appId = await storeApp('Names')
    const body = { app_id: appId, requester_user_id: manager.id }
    expect((await ask(employee.token, body)).status).toBe(403)
    const { body: made } = await core.call('POST', '/appstore/access_request', { body })
    expect(made[0].requester_user.id).toBe(manager.id)
  })

  it('rejects a target to whom the app is not open', async () => {
    const team = await group(core.db, 'insiders', [approver])
    const appId = await storeApp('Insiders', {
      allowed_groups: { type: 'SPECIFIED_GROUPS', groups: [{ id: team }] },
    })
    expect((await ask(employee.token, { app_id: appId })).status).toBe(403)
    expect((await ask(employee.token, { app_id: appId, target_user_id: approver.id })).status).toBe(
      201,
    )
  })
})

describe('the visibility of a request', () => {
  it('is limited to its requester, its target and admins', async () => {
    const appId = await storeApp('Seen')
    const [{ id }] = (await ask(employee.token, { app_id: appId, target_user_id: second.id })).body
    const read = (token?: string) =>
      core.call('GET', `/appstore/access_requests/${id}`, token ? { token } : {})
    expect((await read()).status).toBe(200)
    expect((await read(employee.token)).status).toBe(200)
    expect((await read(second.token)).status).toBe(200)
    expect((await read(approver.token)).status).toBe(404)
    const list = (token: string, query = '') =>
      core.call('GET', `/appstore/access_requests?sort=desc&size=100${query}`, { token })
    const ids = ({ body }: { body: { items: { id: string }[] } }) => body.items.map((one) => one.id)
    expect(ids(await list(second.token))).toContain(id)
    expect(ids(await list(second.token, `&user_id=${employee.id}`))).toContain(id)
    expect(ids(await list(approver.token))).not.toContain(id)
    expect((await list(approver.token, `&requester_user_id=${employee.id}`)).status).toBe(403)
    expect(ids(await list(employee.token, '&statuses=DENIED&statuses=EXPIRED'))).not.toContain(id)
  })
})

describe('a request for a person who was suspended while it waited', () => {
  const suspend = async (who: Person, status: 'SUSPENDED' | 'ACTIVE') => {
    const { users } = await import('../../../runtime/database/schema/people.ts')
    const { eq } = await import('drizzle-orm')
    await core.db.update(users).set({ status }).where(eq(users.id, who.id))
  }

  it('cannot be approved, but can be denied, or approved once the person is active again', async () => {
    const approvers = { users: [{ id: approver.id }] }
    const appId = await storeApp('Suspended', { approvers })
    const away = await person(core.db, 'away@acme.example')
    const ids: string[] = []
    for (const _each of [1, 2]) {
      const other = await storeApp(`Suspended ${ids.length}`, { approvers })
      const made = await ask(away.token, { app_id: ids.length === 0 ? appId : other })
      ids.push(made.body[0].id)
    }
    const [first = '', second = ''] = ids
    await suspend(away, 'SUSPENDED')
    const refused = await act(first, approver, 'complete')
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      'The person to receive the access is SUSPENDED and gets nothing until they are ACTIVE: deny the request, or approve it then',
    ])
    expect(await statusOf(first)).toBe('PENDING_APPROVAL')
    expect((await act(second, approver, 'dismiss')).status).toBe(204)
    expect(await statusOf(second)).toBe('DENIED')
    await suspend(away, 'ACTIVE')
    expect((await act(first, approver, 'complete')).status).toBe(204)
    expect(await statusOf(first)).toBe('PENDING_MANUAL_PROVISIONING')
  })
})
