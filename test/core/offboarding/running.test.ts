/** Offboarding of a person: accounts in a real SCIM server, access, tokens and policies. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '../../../runtime/database/schema/apps.ts'
import { SAMPLE_TOKEN } from '../../../runtime/sample/tenants.ts'
import { type Directory, startDirectory } from '../directory.ts'
import { app, type CoreHost, domainOf, logged, startCore } from '../host.ts'
import { type Acme, acme } from '../policies/acme.ts'
import { company } from '../requests/company.ts'
import { leaving } from './leaving.ts'

let directory: Directory
let core: CoreHost
let people: Acme
let leavers: ReturnType<typeof leaving>
let appId: string

beforeAll(async () => {
  directory = await startDirectory()
  core = await startCore({
    KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}`,
    KEYWAY_REQUESTS_PER_MINUTE: '100000',
  })
  await core.host.settled
  people = acme(core)
  leavers = leaving(core)
  appId = await company(core).connected(directory.app)
})
afterAll(async () => {
  await core.stop()
  await directory.close()
})

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
const scim = async (path: string): Promise<any> =>
  (
    await fetch(directory.app.settings.base_url + path, {
      headers: { authorization: `Bearer ${SAMPLE_TOKEN}` },
    })
  ).json()

test('accounts are disabled, access is revoked, tokens end, and policies grant nothing more', async () => {
  await people.policy('Sales', [{ id: appId, is_preapproved: true }])
  const ada = await people.worker('ada', 'Sales')
  await people.reach(ada.id, 'COMPLETED')
  const own = (await scim('/Users?count=100')).Resources.filter(
    (one: { active: boolean; userName: string }) => one.active && one.userName !== ada.email,
  )[0]
  await leavers.known(ada.id, own.id, appId)
  const id = await leavers.offboard(ada.id)
  expect(await leavers.reaches(id, 'COMPLETED')).toMatchObject({ completed_at: expect.any(String) })
  expect((await scim(`/Users/${own.id}`)).active).toBe(false)
  const { body: calls } = await core.call('GET', `/operator/calls?cause=offboarding:${id}`)
  expect(calls.items).toContainEqual(
    expect.objectContaining({ capability: 'deactivate_account', app_id: appId }),
  )
  const made = (await scim('/Users?count=1000')).Resources.find(
    ({ userName }: { userName: string }) => userName === ada.email,
  )
  expect(made.active).toBe(false)
  expect((await core.call('GET', `/users/${ada.id}`)).body.status).toBe('INACTIVE')
  expect((await core.call('GET', '/users/current', { token: ada.token })).status).toBe(401)
  await people.untilCompared()
  await people.reach(ada.id, 'REVERTED')
  expect((await leavers.cancel(id)).status).toBe(409)
})

test('an account in an app without a connector becomes a manual task that completes the offboarding', async () => {
  const wiki = await app(core.db, 'Wiki')
  const bob = await people.worker('bob', 'Legal')
  await leavers.known(bob.id, 'b1ff43a1', wiki, { attributes: { username: 'bob-in-the-wiki' } })
  const id = await leavers.offboard(bob.id)
  const task = await leavers.taskOf(bob.id)
  expect(task).toMatchObject({ task_category: 'DEPROVISIONING', target_user: { id: bob.id } })
  expect(task.description).toContain('the account b1ff43a1 (bob-in-the-wiki) in Wiki')
  expect(await leavers.statusOf(id)).toBe('IN_PROGRESS')
  expect(logged(core, 'offboarding', id)).toEqual([
    'warn: an account of a leaving user could not be closed; a person has a task to do it by hand',
  ])
  expect((await leavers.cancel(id)).status).toBe(409)
  expect((await core.call('POST', `/tasks/${task.id}/complete`)).status).toBe(204)
  await leavers.reaches(id, 'COMPLETED')
})

test('an account that is already gone does not block an offboarding', async () => {
  const cleo = await people.worker('cleo', 'Legal')
  await leavers.known(cleo.id, 'nobody-knows-this-id', appId)
  await leavers.reaches(await leavers.offboard(cleo.id), 'COMPLETED')
})

test('an account that a sync found before the person was known is closed, too', async () => {
  const dora = await people.worker('dora', 'Legal')
  const domainId = await domainOf(core.db)
  const own = (await scim('/Users?count=100')).Resources.filter(
    (one: { active: boolean }) => one.active,
  )[1]
  const withoutOwner = { domainId, appId, uniqueIdentifier: own.id, email: 'Dora@acme.example' }
  await core.db.insert(accounts).values({ ...withoutOwner, status: 'ACTIVE' })
  await leavers.reaches(await leavers.offboard(dora.id), 'COMPLETED')
  expect((await scim(`/Users/${own.id}`)).active).toBe(false)
  const { body } = await core.call('GET', `/accounts?app_id=${appId}&size=100`)
  expect(body.items).toContainEqual(
    expect.objectContaining({ unique_identifier: own.id, user_id: dora.id, status: 'SUSPENDED' }),
  )
})
