/** Policies that change while people have access by them. The apps have no connector, so people decide. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RequestContext } from '../../../runtime/core/kernel/context/context.ts'
import { CHANGED_USERS } from '../../../runtime/core/policies/changed.ts'
import { POLICY_JOB } from '../../../runtime/core/policies/job.ts'
import { reconcile } from '../../../runtime/core/policies/reconcile.ts'
import { LISTENERS } from '../../../runtime/core/wiring/listeners.ts'
import { alone } from '../../../runtime/database/exclusive-work.ts'
import { accessPolicies, policyWants } from '../../../runtime/database/schema/policies.ts'
import { app, type CoreHost, domainOf, startCore } from '../host.ts'
import { type Company, company } from '../requests/company.ts'
import { type Acme, acme, inDepartment } from './acme.ts'

let core: CoreHost
let firm: Company
let people: Acme
let wiki: string
let forum: string

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  await core.host.settled
  firm = company(core)
  people = acme(core)
  wiki = await app(core.db, 'Wiki')
  forum = await app(core.db, 'Forum')
})
afterAll(() => core.stop())
beforeEach(async () => {
  await core.db.delete(accessPolicies)
})

test('access that needs approval is requested; a denial lasts until the apps of the policy change', async () => {
  const id = await people.policy('One', [{ id: wiki }])
  const ada = await people.worker('ada', 'One')
  const [row] = await people.reach(ada.id, 'PENDING_APPROVAL')
  await firm.settle(row?.id ?? '', 'dismiss')
  await people.reach(ada.id, 'DENIED')
  await people.change(ada.id, { givenName: 'Ada' })
  await people.untilCompared()
  await people.reach(ada.id, 'DENIED')
  await people.edit(id, { name: 'Another name' })
  await people.untilCompared()
  await people.reach(ada.id, 'DENIED')
  await people.edit(id, { apps: [{ id: wiki }, { id: forum }] })
  await people.reach(ada.id, 'DENIED', 'PENDING_APPROVAL', 'PENDING_APPROVAL')
})

test('a cancelled request is made again after the person has stopped matching for a while', async () => {
  await people.policy('Two', [{ id: wiki }])
  const bob = await people.worker('bob', 'Two')
  const [row] = await people.reach(bob.id, 'PENDING_APPROVAL')
  expect((await core.call('DELETE', `/appstore/access_requests/${row?.id}`)).status).toBe(204)
  await people.change(bob.id, { givenName: 'Bob' })
  await people.untilCompared()
  await people.reach(bob.id, 'CANCELLED')
  await people.moveTo(bob.id, 'Elsewhere')
  await people.untilCompared()
  await people.moveTo(bob.id, 'Two')
  await people.reach(bob.id, 'CANCELLED', 'PENDING_APPROVAL')
})

test('making an app preapproved replaces requests that wait for approval', async () => {
  const id = await people.policy('Three', [{ id: wiki }])
  const cleo = await people.worker('cleo', 'Three')
  await people.reach(cleo.id, 'PENDING_APPROVAL')
  await people.edit(id, { apps: [{ id: wiki, is_preapproved: true }] })
  await people.reach(cleo.id, 'CANCELLED', 'PENDING_MANUAL_PROVISIONING')
})

test.each([
  ['disabled', { is_enabled: false }],
  ['changed to a draft', { status: 'DRAFT' }],
  ['changed to match others', { access_condition: inDepartment('Nobody') }],
])('a policy that is %s reverts the access that it gave', async (how, changes) => {
  const department = `Four ${how}`
  const id = await people.policy(department, [{ id: wiki, is_preapproved: true }])
  const dan = await people.worker(how.replaceAll(' ', '-'), department)
  await people.reach(dan.id, 'PENDING_MANUAL_PROVISIONING')
  await people.edit(id, changes)
  await people.untilCompared()
  const [row] = await people.requestsOf(dan.id)
  expect(row?.notes['REVERTING']).toEqual(expect.any(String))
})

test('removing an app from a policy cancels its requests and keeps those of other apps', async () => {
  const id = await people.policy('Five', [{ id: wiki }, { id: forum }])
  const eve = await people.worker('eve', 'Five')
  await people.reach(eve.id, 'PENDING_APPROVAL', 'PENDING_APPROVAL')
  await people.edit(id, { apps: [{ id: forum }] })
  await people.untilCompared()
  const byApp = new Map((await people.requestsOf(eve.id)).map((one) => [one.appId, one.status]))
  expect(byApp.get(wiki)).toBe('CANCELLED')
  expect(byApp.get(forum)).toBe('PENDING_APPROVAL')
})

test('comparing a user ten times at once makes one request', async () => {
  const id = await people.policy('Six', [{ id: wiki }])
  await people.untilCompared()
  const fay = await people.worker('fay', 'Six')
  const who = { domainId: await domainOf(core.db), userId: fay.id }
  const means = { send: async () => {}, now: async () => new Date(), listeners: LISTENERS }
  await Promise.all(
    Array.from({ length: 10 }, (_, n) => reconcile(core.db, who, n % 2 === 0 ? id : null, means)),
  )
  await people.untilCompared()
  expect(await people.requestsOf(fay.id)).toHaveLength(1)
})

test('a change of a person during a failing try is due at once, not after the pause of that try', async () => {
  await people.policy('Ten', [{ id: wiki }])
  await people.policy('Eleven', [{ id: forum }])
  await people.untilCompared()
  const vic = await people.worker('vic', 'None')
  await people.untilCompared()
  let hasFailed = false
  const failing = {
    send: async () => {},
    now: async () => {
      if (!hasFailed) {
        hasFailed = true
        throw new Error('the try fails')
      }
      // A change that comes between the failure and its record.
      await people.moveTo(vic.id, 'Eleven')
      return new Date()
    },
    listeners: LISTENERS,
    signal: new AbortController().signal,
    // The cast: a try that fails uses only these parts.
  } as unknown as RequestContext
  // Alone, so that the host does not take the first change.
  await alone(core.db, POLICY_JOB.turnOf?.(CHANGED_USERS) ?? '', async () => {
    await people.moveTo(vic.id, 'Ten')
    await POLICY_JOB.handle(core.db, CHANGED_USERS, failing)
    expect(hasFailed).toBe(true)
    const [want] = await core.db.select().from(policyWants)
    expect(want).toMatchObject({ userId: vic.id, attempts: 0 })
  })
  await people.untilCompared()
  const [request] = await people.requestsOf(vic.id)
  expect(request?.appId).toBe(forum)
})

test('a policy that cannot be evaluated creates one task for the admins, and blocks no other policy', async () => {
  const bad = await people.policy('Seven', [{ id: wiki }])
  await people.policy('Eight', [{ id: forum }])
  await people.untilCompared()
  await core.db
    .update(accessPolicies)
    .set({ condition: { lumos_expression: 'true' } })
    .where(eq(accessPolicies.id, bad))
  const gus = await people.worker('gus', 'Eight')
  const hal = await people.worker('hal', 'Eight')
  await people.reach(gus.id, 'PENDING_APPROVAL')
  await people.reach(hal.id, 'PENDING_APPROVAL')
  const { body } = await core.call('GET', '/tasks?show_all_tasks=true&task_category=ERROR')
  expect(body.items.map((one: { description: string }) => one.description)).toEqual([
    'The access policy “Policy of Seven” cannot be evaluated: a lumos_expression cannot be evaluated.',
  ])
})

test('deleting the only permission of an app cancels its requests and removes the app from the policy', async () => {
  const body = { app_id: wiki, label: 'Reader' }
  await firm.inStore(wiki)
  const made = await core.call('POST', '/appstore/requestable_permissions', { body })
  const permission = made.body.id
  const id = await people.policy('Nine', [{ id: wiki, permissions: [{ id: permission }] }])
  const ida = await people.worker('ida', 'Nine')
  await people.reach(ida.id, 'PENDING_APPROVAL')
  const path = `/appstore/requestable_permissions/${permission}`
  expect((await core.call('DELETE', path)).status).toBe(204)
  await people.reach(ida.id, 'CANCELLED')
  expect((await core.call('GET', `/access_policies/${id}`)).body.apps).toEqual([])
})
