/** An account granted by a request for the app stays open while other requests need it, and no longer. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type CoreHost, type Person, person } from '../host.ts'
import type { Company } from './company.ts'
import { type BadCompany, startBadCompany } from './faults/bad-company.ts'
import type { BadSystem } from './faults/bad-system.ts'

/** Longer than any test; each test ends the time itself. */
const SECONDS = 3600

let bad: BadCompany
let system: BadSystem
let core: CoreHost
let acme: Company
let appId: string
let permission: string
let withoutEntitlement: string
let people = 0
let who: Person & { email: string }

beforeAll(async () => {
  bad = await startBadCompany()
  ;({ system, core, acme } = bad)
  appId = await acme.connected(system.app)
  const ref = { entitlementType: 'GROUP', resourceType: '', resourceId: '' }
  permission = await acme.synced(appId, 'Group', { ...ref, entitlementId: 'group' })
  // A permission that no sync found, so it has no entitlement.
  withoutEntitlement = await acme.synced(appId, 'By hand', {
    ...ref,
    entitlementType: null as never,
    entitlementId: null as never,
  })
})
afterAll(() => bad.stop())
beforeEach(async () => {
  people += 1
  const email = `person-${people}@acme.example`
  who = { ...(await person(core.db, email)), email }
  system.behave(() => 'well')
})

async function given(permissionId: string | null, byHand = false) {
  const id = await acme.asked(who, {
    app_id: appId,
    ...(permissionId === null ? {} : { requestable_permission_ids: [permissionId] }),
    expiration_in_seconds: SECONDS,
  })
  await acme.settle(id, 'complete')
  if (byHand) {
    await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
    await acme.settle(id, 'complete')
  }
  await acme.reaches(id, 'COMPLETED')
  return id
}

/** Grants the app by hand, because the connector refuses to create the account. */
async function accountByHand(): Promise<string> {
  system.behave((name) => (name === 'create_account' ? 'refused' : 'well'))
  const at = { atMs: performance.now() }
  const id = await acme.asked(who, { app_id: appId, expiration_in_seconds: SECONDS })
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
  system.accounts.set(`hand-${people}`, { email: who.email, status: 'ACTIVE', ...at })
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'COMPLETED')
  return id
}

const expectTaskToClose = (id: string) =>
  expect
    .poll(async () => (await acme.openTask(id))?.task_type, { timeout: 10_000 })
    .toBe('MANUAL_DEPROVISIONING')

const statusOfAccount = () => system.accountsOf(who.email)[0]?.[1].status

it('a manually created account gets a task to close it after its last permission expires', async () => {
  const app = await accountByHand()
  const other = await given(permission)
  await acme.endTime(app)
  await acme.reaches(app, 'TIME_BASED_EXPIRED')
  expect(await acme.openTask(app)).toBeUndefined()
  await acme.endTime(other)
  await acme.reaches(other, 'TIME_BASED_EXPIRED')
  await expectTaskToClose(app)
  expect(await acme.openTask(other)).toBeUndefined()
  await acme.settle(app, 'complete')
  expect(await acme.statusOf(app)).toBe('TIME_BASED_EXPIRED')
})

it('an account created by the connector is suspended when its last permission, granted by hand, expires', async () => {
  const app = await given(null)
  const other = await given(withoutEntitlement, true)
  await acme.endTime(app)
  await acme.reaches(app, 'TIME_BASED_EXPIRED')
  expect(statusOfAccount()).toBe('ACTIVE')
  await acme.endTime(other)
  await acme.reaches(other, 'PENDING_MANUAL_DEPROVISIONING')
  await expect.poll(statusOfAccount, { timeout: 20_000 }).toBe('SUSPENDED')
})

it('a task to close an account ends when a permission is granted, and reopens after it expires', async () => {
  const app = await accountByHand()
  await acme.endTime(app)
  await acme.reaches(app, 'PENDING_MANUAL_DEPROVISIONING')
  const other = await given(permission)
  await acme.reaches(app, 'TIME_BASED_EXPIRED')
  expect(await acme.openTask(app)).toBeUndefined()
  await acme.endTime(other)
  await acme.reaches(other, 'TIME_BASED_EXPIRED')
  await expectTaskToClose(app)
  const third = await given(permission)
  await expect.poll(() => acme.openTask(app)).toBeUndefined()
  await acme.endTime(third)
  await acme.reaches(third, 'TIME_BASED_EXPIRED')
  await expectTaskToClose(app)
})
