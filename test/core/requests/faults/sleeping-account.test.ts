/** Accounts that are activated and deactivated, where each of these calls fails once, in each way. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, type Person, person } from '../../host.ts'
import type { Company } from '../company.ts'
import { type BadCompany, startBadCompany } from './bad-company.ts'
import type { BadSystem, End } from './bad-system.ts'

let bad: BadCompany
let system: BadSystem
let core: CoreHost
let acme: Company
let appId: string
let permission: string
let people = 0
let who: Person & { email: string }

beforeAll(async () => {
  bad = await startBadCompany()
  ;({ system, core, acme } = bad)
  ;({ appId, permission } = await acme.connectedWithGroup(system.app))
})
afterAll(() => bad.stop())
beforeEach(async () => {
  people += 1
  const email = `person-${people}@acme.example`
  who = { ...(await person(core.db, email)), email }
  system.behave(() => 'well')
})

async function approved(expiration_in_seconds: number, more: object = {}): Promise<string> {
  const id = await acme.asked(who, { app_id: appId, expiration_in_seconds, ...more })
  await acme.settle(id, 'complete')
  return id
}

const status = () => system.accountsOf(who.email)[0]?.[1].status
const words = async (id: string) => Object.keys((await acme.read(id)).notes).join()

const ENDS: End[] = ['before', 'after', 'lie', 'hang']

describe.each(ENDS)('a call that ends once with “%s”', (end) => {
  it('still lets deactivate_account suspend the account and activate_account reactivate it', async () => {
    system.once('deactivate_account', end)
    const first = await approved(1)
    await acme.reachesSoon(first, 'TIME_BASED_EXPIRED')
    expect(status()).toBe('SUSPENDED')
    system.once('activate_account', end)
    const second = await approved(1000)
    await acme.reachesSoon(second, 'COMPLETED')
    expect(status()).toBe('ACTIVE')
    expect(system.accountsOf(who.email)).toHaveLength(1)
    expect(`${await words(first)},${await words(second)}`).not.toMatch(/MANUAL/)
  })
})

it('account lists show SUSPENDED and ACTIVE before any sync', async () => {
  const listed = async () => {
    const { body } = await core.call('GET', '/accounts?size=100')
    const all: { email: string; status: string }[] = body.items
    return all.find(({ email }) => email === who.email)?.status
  }
  await acme.reachesSoon(await approved(1), 'TIME_BASED_EXPIRED')
  expect(await listed()).toBe('SUSPENDED')
  await acme.reachesSoon(await approved(1000), 'COMPLETED')
  expect(await listed()).toBe('ACTIVE')
})

it('a refused deactivate_account becomes a MANUAL_DEPROVISIONING task and a warning in the log', async () => {
  system.behave((name) => (name === 'deactivate_account' ? 'refused' : 'well'))
  const id = await approved(1)
  await acme.reachesSoon(id, 'PENDING_MANUAL_DEPROVISIONING')
  expect(await acme.openTask(id)).toMatchObject({ task_type: 'MANUAL_DEPROVISIONING' })
  expect(status()).toBe('ACTIVE')
  const warnings = core.lines
    .map((line) => JSON.parse(line))
    .filter((line) => line.access_request === id)
  expect(warnings).toMatchObject([
    { level: 40, msg: expect.stringMatching(/^access to be revoked: .*people got a task/) },
  ])
})

it('a refused activate_account becomes a MANUAL_PROVISIONING task', async () => {
  await acme.reachesSoon(await approved(1), 'TIME_BASED_EXPIRED')
  system.behave((name) => (name === 'activate_account' ? 'refused' : 'well'))
  const id = await approved(1000)
  await acme.reachesSoon(id, 'PENDING_MANUAL_PROVISIONING')
  expect(await acme.openTask(id)).toMatchObject({ task_type: 'MANUAL_PROVISIONING' })
})

it('an account whose app access expires while a permission is granted is suspended after the permission', async () => {
  const app = await approved(1000)
  await acme.reachesSoon(app, 'COMPLETED')
  const held = Promise.withResolvers<End>()
  system.once('assign_entitlement', held.promise)
  const other = await approved(1000, { requestable_permission_ids: [permission] })
  await until('the access is being granted', () => system.count('assign_entitlement') > 0)
  await acme.endTime(app)
  held.resolve('well')
  await acme.reachesSoon(other, 'COMPLETED')
  await acme.reachesSoon(app, 'TIME_BASED_EXPIRED')
  expect(status()).toBe('ACTIVE')
  await acme.endTime(other)
  await acme.reachesSoon(other, 'TIME_BASED_EXPIRED')
  await expect.poll(status, { timeout: 20_000 }).toBe('SUSPENDED')
})
