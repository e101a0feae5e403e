/** Birthright access is granted and removed in a real SCIM server. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SAMPLE_TOKEN } from '../../../runtime/sample/tenants.ts'
import { until } from '../../e2e/until.ts'
import { type Directory, startDirectory } from '../directory.ts'
import { type CoreHost, startCore } from '../host.ts'
import { type Company, company } from '../requests/company.ts'
import { type Acme, acme, inDepartment } from './acme.ts'

let directory: Directory
let core: CoreHost
let firm: Company
let people: Acme
let appId: string
let group: string
let permission: string

beforeAll(async () => {
  directory = await startDirectory()
  core = await startCore({
    KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}`,
    KEYWAY_REQUESTS_PER_MINUTE: '100000',
  })
  await core.host.settled
  firm = company(core)
  people = acme(core)
  appId = await firm.connected(directory.app)
  group = (await scim('/Groups?count=1')).Resources[0].id
  permission = await firm.group(appId, group, 'Wiki')
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

const accountOf = async ({ email }: { email: string }) =>
  (await scim('/Users?count=1000')).Resources.find(
    (one: { userName: string; emails?: { value: string }[] }) =>
      one.userName === email || one.emails?.some(({ value }) => value === email),
  )

const members = async (): Promise<string[]> =>
  ((await scim(`/Groups/${group}`)).members ?? []).map(({ value }: { value: string }) => value)

const given = () => [{ id: appId, is_preapproved: true, permissions: [{ id: permission }] }]

test('a person gets access when they join a department, and loses it when they leave', async () => {
  const id = await people.policy('Sales', given())
  const ada = await people.worker('ada', 'Sales')
  const [row] = await people.reach(ada.id, 'COMPLETED')
  const account = await accountOf(ada)
  expect(await members()).toContain(account.id)
  expect(row).toMatchObject({ policyId: id, requesterId: null })
  const request = await firm.read(row?.id ?? '')
  expect(request.requester_user.id).toBe(ada.id)
  expect(request.notes.PENDING).toBe('They need it.')
  expect(request.notes.APPROVED).toBe('By the access policy “Policy of Sales”')
  await people.moveTo(ada.id, 'Finance')
  const [gone] = await people.reach(ada.id, 'REVERTED')
  expect(gone?.notes['REVERTING']).toContain('no longer applies')
  expect(await members()).not.toContain(account.id)
})

test('a person who leaves and returns quickly ends up with the access', async () => {
  await people.policy('Support', given())
  const bob = await people.worker('bob', 'Support')
  await people.reach(bob.id, 'COMPLETED')
  await people.moveTo(bob.id, 'Finance')
  await people.moveTo(bob.id, 'Support')
  await people.untilCompared()
  const rows = await until('no request has a pending operation', async () => {
    const now = await people.requestsOf(bob.id)
    return now.every(({ pendingOperation }) => pendingOperation === null) ? now : null
  })
  expect(rows.filter(({ status }) => status === 'COMPLETED')).toHaveLength(1)
  expect(await members()).toContain((await accountOf(bob)).id)
})

test('deleting a policy removes the access that it gave', async () => {
  const id = await people.policy('Legal', given())
  const cleo = await people.worker('cleo', 'Legal')
  await people.reach(cleo.id, 'COMPLETED')
  expect((await core.call('DELETE', `/access_policies/${id}`)).status).toBe(204)
  expect((await core.call('GET', `/access_policies/${id}`)).status).toBe(404)
  const [row] = await people.reach(cleo.id, 'REVERTED')
  expect(row?.notes['REVERTING']).toContain('was deleted')
  expect(await members()).not.toContain((await accountOf(cleo)).id)
})

test('a suspended person loses the access that a policy gave', async () => {
  await people.policy('Audit', given(), {
    access_condition: { and: [inDepartment('Audit'), { not: inDepartment('Sales') }] },
  })
  const dan = await people.worker('dan', 'Audit')
  await people.reach(dan.id, 'COMPLETED')
  await people.change(dan.id, { status: 'SUSPENDED' })
  await people.reach(dan.id, 'REVERTED')
})
