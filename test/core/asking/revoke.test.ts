/** Revoking granted access: who may do it, when, and its effect in a real system. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Access } from '../../../runtime/contract/models/access.ts'
import { MAIL_CONTENTS } from '../../../runtime/core/mail/contents.ts'
import { apps } from '../../../runtime/database/schema/apps.ts'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { databaseTime } from '../../../runtime/database/transactions.ts'
import { until } from '../../e2e/until.ts'
import { signedIn } from '../../http/settings/visitor.ts'
import { app, type CoreHost, group, type Person, person } from '../host.ts'
import { acme as policies } from '../policies/acme.ts'
import type { Company } from '../requests/company.ts'
import { type BadCompany, startBadCompany } from '../requests/faults/bad-company.ts'
import type { BadSystem, End } from '../requests/faults/bad-system.ts'
import { lastEvents } from '../store.ts'

let bad: BadCompany
let system: BadSystem
let core: CoreHost
let acme: Company
let appId: string
let permission: string
let manager: Person
let approver: Person
let people = 0

beforeAll(async () => {
  bad = await startBadCompany()
  ;({ system, core, acme } = bad)
  manager = await person(core.db, 'manager@acme.example', ['App Admin'])
  approver = await person(core.db, 'approver@acme.example')
  const approvers = { users: [{ id: approver.id }], groups: [] }
  appId = await acme.connected(system.app, { approvers })
  await core.db
    .update(apps)
    .set({ adminUserIds: [manager.id] })
    .where(eq(apps.id, appId))
  permission = await acme.group(appId)
})
afterAll(() => bad.stop())
beforeEach(() => system.behave(() => 'well'))

async function someone(): Promise<Person & { email: string }> {
  people += 1
  const email = `person-${people}@acme.example`
  return { ...(await person(core.db, email)), email }
}

const revoke = (
  id: string,
  { token }: { token?: string } = {},
  body: object = { reason: 'Shared' },
) =>
  core.call('POST', `/appstore/access_requests/${id}/revoke`, { body, ...(token ? { token } : {}) })

const wanted = (more: object = {}) => ({
  ...{ app_id: appId, requestable_permission_ids: [permission] },
  ...more,
})

/** A request that was approved and provisioned through the connector. */
async function held(who: Person, more: object = {}): Promise<string> {
  const id = await acme.asked(who, wanted(more))
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'COMPLETED')
  return id
}

const holds = ({ email }: { email: string }) =>
  system.accountsOf(email).some(([id]) => system.held.has(`${id} group`))

describe('granted access', () => {
  test('is removed from the system when revoked; the request records who revoked it and why', async () => {
    const ada = await someone()
    const id = await held(ada)
    expect(holds(ada)).toBe(true)
    expect((await revoke(id, manager, { reason: '  The laptop was stolen ' })).status).toBe(204)
    await acme.reaches(id, 'REVERTED')
    expect(holds(ada)).toBe(false)
    const { body } = await core.call('GET', `/appstore/access_requests/${id}`, { token: ada.token })
    expect(body.revoked_by.email).toBe('manager@acme.example')
    expect(body.notes.REVERTING).toBe('The laptop was stolen')
    const [, metadata] = (await lastEvents(core, 20)).find(
      ([event]) => event === 'APP_STORE_REVOKE_ACCESS',
    ) as [string, object]
    expect(metadata).toMatchObject({
      ...{ from: 'COMPLETED', reason: 'The laptop was stolen' },
      ...{ app_id: appId, target_user_id: ada.id },
    })
    const listed = await core.call('GET', `/appstore/access_requests?target_user_id=${ada.id}`)
    expect(listed.body.items[0].revoked_by.id).toBe(manager.id)
  })

  test('shows its revocation in the holder’s mail, in past access and in the grounds of a new request', async () => {
    const ada = await someone()
    const id = await held(ada)
    const during = new Date(await databaseTime(core.db)).toISOString()
    const mailOf = (userId: string) =>
      MAIL_CONTENTS.revoked(core.db, { userId, about: id, now: new Date() })
    expect(await mailOf(ada.id)).toBeNull()
    await revoke(id, manager, { reason: 'The laptop was stolen' })
    await acme.reaches(id, 'REVERTED')
    expect(await mailOf(ada.id)).toMatchObject({
      ...{ text: 'revoked', path: `/access/requests/${id}` },
      matter: { revoker: 'manager Test', thing: 'Group', note: 'The laptop was stolen' },
    })
    expect(await mailOf(approver.id)).toBeNull()
    const then = await core.call('GET', `/users/${ada.id}/access?as_of=${during}`)
    const revocation = { end_reason: 'The laptop was stolen', revoked_by_user_id: manager.id }
    const reasons = (then.body.items as Access[]).flatMap((one) => one.reasons)
    expect(reasons.find((one) => one.request_id === id)).toMatchObject(revocation)
    const again = await acme.asked(ada, wanted())
    const { id: task } = await acme.openTask(again)
    const grounds = await core.call('GET', `/tasks/${task}/grounds`, { token: approver.token })
    expect(grounds.body.held_before).toMatchObject([revocation])
    const page = await (await signedIn(core, approver.token)).get(`/inbox/${task}`)
    expect(page.text).toContain('It was revoked: “The laptop was stolen”')
  })

  test('is revoked once; a repeated call changes nothing', async () => {
    const id = await held(await someone())
    await revoke(id, manager)
    await acme.reaches(id, 'REVERTED')
    const { length } = await lastEvents(core, 100)
    expect((await revoke(id, {}, { reason: 'Another reason' })).status).toBe(204)
    expect((await lastEvents(core, 100)).length).toBe(length)
    expect((await acme.read(id)).notes.REVERTING).toBe('Shared')
  })

  test('ends once when several people revoke it while its holder gives it back', async () => {
    const ada = await someone()
    const id = await held(ada)
    const back = `/appstore/access_requests/${id}/give_back`
    const all = await Promise.all([
      ...[revoke(id, manager), revoke(id), revoke(id, manager)],
      core.call('POST', back, { token: ada.token }),
    ])
    await acme.reaches(id, 'REVERTED')
    expect(holds(ada)).toBe(false)
    const codes = all.map(({ status }) => status)
    expect(codes.filter((code) => code !== 204 && code !== 409)).toEqual([])
    const { revoked_by: by, notes } = await acme.read(id)
    // The first call to take effect sets the reason; the others change nothing.
    if (by === null)
      expect([codes, notes.REVERTING]).toEqual([
        [409, 409, 409, 204],
        expect.stringContaining('Given back'),
      ])
    else expect([codes, notes.REVERTING]).toEqual([[204, 204, 204, 409], 'Shared'])
  })

  test('ends together with duplicate grants and with pending requests for the same permission', async () => {
    const ada = await someone()
    const first = await held(ada, { expiration_in_seconds: 3600 })
    const second = await held(ada, { expiration_in_seconds: 7200 })
    const third = await acme.asked(ada, wanted())
    expect((await revoke(first, manager)).status).toBe(204)
    await acme.reaches(first, 'REVERTED')
    await acme.reaches(second, 'REVERTED')
    expect(holds(ada)).toBe(false)
    const { status, notes } = await acme.read(third)
    expect([status, notes.CANCELLED]).toEqual(['CANCELLED', 'Shared'])
  })

  test('that existed before the request stays in the system', async () => {
    const ada = await someone()
    const first = await held(ada)
    await core.db
      .update(accessRequests)
      .set({ preExisting: true })
      .where(eq(accessRequests.id, first))
    await revoke(first, manager)
    await acme.reaches(first, 'REVERTED')
    expect(holds(ada)).toBe(true)
    expect((await acme.read(first)).notes.REVERTED).toMatch(/existed before this request/)
  })
})

describe('a refused revocation', () => {
  test('returns 404, or a 403 that names who can revoke, and changes nothing', async () => {
    const [ada, reader] = [
      await someone(),
      await person(core.db, 'reader@acme.example', ['Read Only Admin']),
    ]
    const id = await held(ada)
    for (const who of [ada, reader]) {
      const { status, body } = await revoke(id, who)
      expect([status, body.detail]).toEqual([
        403,
        expect.stringMatching(
          /^Only an admin, or an admin of the app, can revoke .*Ask an admin: manager@acme\.example\.$/,
        ),
      ])
    }
    expect((await revoke(id, ada)).body.detail).toContain('You can give back')
    // Approvers and admins of other apps cannot see the request, so they get 404.
    const other = await person(core.db, 'other@acme.example', ['App Admin'])
    await acme.inStore(await app(core.db, 'Other', { adminUserIds: [other.id] }))
    for (const who of [approver, other, await someone()])
      expect((await revoke(id, who)).status).toBe(404)
    const { readOnlyToken: token } = manager
    expect((await revoke(id, { token })).status).toBe(403)
    expect(await acme.statusOf(id)).toBe('COMPLETED')
  })

  test('returns 422 without a valid reason and 404 for an unknown id', async () => {
    const id = await held(await someone())
    for (const body of [{}, { reason: ' ' }, { reason: 'x'.repeat(1001) }, { reason: 7 }])
      expect((await revoke(id, manager, body)).status).toBe(422)
    expect((await revoke('no-id', manager)).status).toBe(404)
    expect(await acme.statusOf(id)).toBe('COMPLETED')
  })
})

describe('a request that is not, or no longer, granted', () => {
  test('cannot be revoked while pending; the message names the call that cancels it', async () => {
    const id = await acme.asked(await someone(), wanted())
    const { status, body } = await revoke(id, manager)
    expect([status, body.detail]).toEqual([
      409,
      expect.stringContaining(`DELETE /appstore/access_requests/${id}`),
    ])
    expect(await acme.statusOf(id)).toBe('PENDING_APPROVAL')
  })

  test('cannot be revoked after it was given back', async () => {
    const ada = await someone()
    const id = await held(ada)
    await core.call('POST', `/appstore/access_requests/${id}/give_back`, { token: ada.token })
    expect((await revoke(id, manager)).status).toBe(409)
    await acme.reaches(id, 'REVERTED')
    expect((await acme.read(id)).revoked_by).toBe(null)
  })

  test('cannot be revoked after offboarding has reverted it', async () => {
    const ada = await someone()
    const id = await held(ada)
    const body = { user_id: ada.id }
    expect(
      (await core.call('POST', '/lifecycle-management/user-offboardings', { body })).status,
    ).toBe(201)
    await acme.reaches(id, 'REVERTED')
    const { status, body: answer } = await revoke(id, manager)
    expect([status, answer.detail]).toEqual([
      409,
      'The request is REVERTED, so there is nothing to revoke',
    ])
  })
})

test('access that is revoked while it is being provisioned is removed again', async () => {
  const ada = await someone()
  const { promise, resolve } = Promise.withResolvers<End>()
  const before = system.count('assign_entitlement')
  system.once('assign_entitlement', promise)
  const id = await acme.asked(ada, wanted())
  await acme.settle(id, 'complete')
  await until('the access is being granted', () => system.count('assign_entitlement') > before)
  expect((await revoke(id, manager)).status).toBe(204)
  expect((await acme.read(id)).status).toBe('REVERTING')
  resolve('well')
  await acme.reaches(id, 'REVERTED')
  expect(holds(ada)).toBe(false)
})

test('revoking access that waits for manual provisioning creates a manual deprovisioning task', async () => {
  const ada = await someone()
  const byHand = await acme.inStore(await app(core.db, 'Safe', { adminUserIds: [manager.id] }))
  const id = await acme.asked(ada, { app_id: byHand })
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
  expect((await revoke(id, manager)).status).toBe(204)
  await acme.reaches(id, 'PENDING_MANUAL_DEPROVISIONING')
  const task = await acme.openTask(id)
  expect(task.task_type).toBe('MANUAL_DEPROVISIONING')
  expect(task.description).toContain('Reason: Shared')
  expect(task.instructions).toContain('Make sure that the access does not exist')
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'REVERTED')
})

test('access given by a policy cannot be revoked; it is reverted when the policy no longer applies', async () => {
  const firm = policies(core)
  await firm.policy('Sales', [
    { id: appId, is_preapproved: true, permissions: [{ id: permission }] },
  ])
  const ada = await firm.worker('ada', 'Sales')
  const [row] = await firm.reach(ada.id, 'COMPLETED')
  const refused = await revoke(row?.id ?? '', manager)
  expect([refused.status, refused.body.detail]).toEqual([
    409,
    expect.stringMatching(
      /^The access policy “Policy of Sales” gives this access and keeps giving it\. /,
    ),
  ])
  expect(holds(ada)).toBe(true)
  await firm.moveTo(ada.id, 'Finance')
  await firm.reach(ada.id, 'REVERTED')
  expect(holds(ada)).toBe(false)
})

test('break-glass access can be revoked, and its use is still reviewed', async () => {
  const ada = await someone()
  const oncall = await group(core.db, 'On call', [ada])
  const mark = { group_ids: [oncall], max_minutes: 60 }
  expect((await core.call('PUT', `/break_glass/${permission}`, { body: mark })).status).toBe(200)
  const taken = await core.call('POST', `/break_glass/${permission}/take`, {
    ...{ token: ada.token, body: { reason: 'The site is down' } },
  })
  const { id } = taken.body
  await acme.reaches(id, 'COMPLETED')
  expect((await revoke(id, manager)).status).toBe(204)
  await acme.reaches(id, 'REVERTED')
  expect(holds(ada)).toBe(false)
  const review = await acme.openTask(id)
  expect(review.task_type).toBe('BREAK_GLASS_REVIEW')
  const verdict = { action_type: 'deny', reason: 'It was for fun' }
  const path = `/tasks/${review.id}/perform-action`
  expect((await core.call('POST', path, { body: verdict })).status).toBe(204)
  expect((await acme.read(id)).notes.REVERTING).toBe('Shared')
})
