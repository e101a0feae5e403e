/** Somebody leaves: accounts in a real SCIM server, access, tokens and policies. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '../../../runtime/database/schema/apps.ts'
import { SAMPLE_TOKEN } from '../../../runtime/sample/scim-server.ts'
import { until } from '../../e2e/until.ts'
import { type Directory, startDirectory } from '../directory.ts'
import { app, type CoreHost, domainOf, startCore } from '../host.ts'
import { type Acme, acme } from '../policies/acme.ts'
import { company } from '../requests/company.ts'

const PATH = '/lifecycle-management/user-offboardings'

let directory: Directory
let core: CoreHost
let people: Acme
let appId: string

beforeAll(async () => {
  directory = await startDirectory()
  core = await startCore({
    KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}`,
    KEYWAY_REQUESTS_PER_MINUTE: '100000',
  })
  await core.host.settled
  people = acme(core)
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

async function offboard(user_id: string): Promise<string> {
  const { status, body } = await core.call('POST', PATH, { body: { user_id } })
  expect(status).toBe(201)
  return body.id
}

const reaches = (id: string, status: string) =>
  until(
    `the offboarding is ${status}`,
    async () => {
      const { body } = await core.call('GET', `${PATH}/${id}`)
      return body.status === status ? body : null
    },
    60_000,
  )

/** An account that was there before anybody asked, as a sync tells it. */
async function known(userId: string, uniqueIdentifier: string, of = appId): Promise<void> {
  const domainId = await domainOf(core.db)
  await core.db.insert(accounts).values({ domainId, appId: of, userId, uniqueIdentifier })
}

test('accounts are disabled, access is taken back, tokens end, and policies give nothing more', async () => {
  await people.policy('Sales', [{ id: appId, is_preapproved: true }])
  const ada = await people.worker('ada', 'Sales')
  await people.reach(ada.id, 'COMPLETED')
  const own = (await scim('/Users?count=100')).Resources.filter(
    (one: { active: boolean; userName: string }) => one.active && one.userName !== ada.email,
  )[0]
  await known(ada.id, own.id)
  const id = await offboard(ada.id)
  expect(await reaches(id, 'COMPLETED')).toMatchObject({ completed_at: expect.any(String) })
  expect((await scim(`/Users/${own.id}`)).active).toBe(false)
  const made = (await scim('/Users?count=1000')).Resources.find(
    ({ userName }: { userName: string }) => userName === ada.email,
  )
  expect(made.active).toBe(false)
  expect((await core.call('GET', `/users/${ada.id}`)).body.status).toBe('INACTIVE')
  expect((await core.call('GET', '/users/current', { token: ada.token })).status).toBe(401)
  await people.quiet()
  await people.reach(ada.id, 'REVERTED')
  expect((await core.call('POST', `${PATH}/${id}/cancel`)).status).toBe(409)
})

test('what an app cannot do itself is somebody’s task, and done with it', async () => {
  const wiki = await app(core.db, 'Wiki')
  const bob = await people.worker('bob', 'Legal')
  await known(bob.id, 'bob-in-the-wiki', wiki)
  const id = await offboard(bob.id)
  const task = await until('there is a task', async () => {
    const { body } = await core.call('GET', `/tasks?show_all_tasks=true&product_area=OFFBOARDING`)
    return body.items[0] ?? null
  })
  expect(task).toMatchObject({ task_category: 'DEPROVISIONING', target_user: { id: bob.id } })
  expect(task.description).toContain('bob-in-the-wiki')
  expect((await core.call('GET', `${PATH}/${id}`)).body.status).toBe('IN_PROGRESS')
  expect((await core.call('POST', `${PATH}/${id}/cancel`)).status).toBe(409)
  expect((await core.call('POST', `/tasks/${task.id}/complete`)).status).toBe(204)
  await reaches(id, 'COMPLETED')
})

test('an account that is gone already is no obstacle', async () => {
  const cleo = await people.worker('cleo', 'Legal')
  await known(cleo.id, 'nobody-knows-this-id')
  await reaches(await offboard(cleo.id), 'COMPLETED')
})
