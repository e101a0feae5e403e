/** Requests that are provisioned and deprovisioned in a real SCIM server. */

import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { accounts, apps } from '../../../runtime/database/schema/apps.ts'
import { SAMPLE_TOKEN } from '../../../runtime/sample/tenants.ts'
import { type Directory, startDirectory } from '../directory.ts'
import { type CoreHost, domainOf, type Person, person, QUICK_PACE, startCore } from '../host.ts'
import { type Company, company } from './company.ts'

let directory: Directory
let core: CoreHost
let acme: Company
let appId: string
let groups: { id: string; displayName: string; members?: { value: string }[] }[]

beforeAll(async () => {
  directory = await startDirectory()
  core = await startCore(
    { KEYWAY_PRIVATE_EGRESS: `scim=${directory.host}`, KEYWAY_REQUESTS_PER_MINUTE: '100000' },
    { pace: QUICK_PACE },
  )
  await core.host.settled
  acme = company(core)
  appId = await acme.connected(directory.app)
  groups = (await scim('/Groups?count=100')).Resources
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

/** Accounts in the server itself, by address. */
const accountsOf = async ({ email }: { email: string }) =>
  (await scim('/Users?count=1000')).Resources.filter(
    (one: { userName: string; emails?: { value: string }[] }) =>
      one.userName === email || one.emails?.some(({ value }) => value === email),
  )

const membersOf = async (group: string): Promise<string[]> =>
  ((await scim(`/Groups/${group}`)).members ?? []).map(({ value }: { value: string }) => value)

const permission = (index: number, label: string, document = {}) =>
  acme.synced(
    appId,
    label,
    {
      entitlementType: 'GROUP',
      entitlementId: groups[index]?.id ?? '',
      resourceType: '',
      resourceId: '',
    },
    document,
  )

const someone = async (name: string): Promise<Person & { email: string }> => {
  const email = `${name}@acme.example`
  return { ...(await person(core.db, email)), email }
}

it('creates an account, adds it to the group, and removes it when the access expires', async () => {
  const ada = await someone('timed')
  const label = 'Timed'
  const id = await acme.asked(ada, {
    app_id: appId,
    requestable_permission_ids: [await permission(0, label)],
    expiration_in_seconds: 4,
  })
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'COMPLETED')
  const [account] = await accountsOf(ada)
  expect(await membersOf(groups[0]?.id ?? '')).toContain(account.id)
  const { expires_at } = await acme.read(id)
  expect(expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  await acme.reaches(id, 'TIME_BASED_EXPIRED')
  expect(await membersOf(groups[0]?.id ?? '')).not.toContain(account.id)
  const { body } = await core.call('GET', `/operator/calls?cause=access_request:${id}`)
  const made = body.items.map((one: { capability: string }) => one.capability)
  expect(made).toEqual(
    expect.arrayContaining(['create_account', 'assign_entitlement', 'unassign_entitlement']),
  )
  expect(new Set(body.items.map((one: { app_id: string }) => one.app_id))).toEqual(new Set([appId]))
  const log = await core.call('GET', '/activity_logs?limit=100')
  const events = log.body.items.map((one: { event_type: string }) => one.event_type)
  expect(events).toContain('APP_STORE_AUTOMATIC_PROVISIONING_FOR_ACCESS_REQUEST')
  expect(events).toContain('APP_STORE_AUTOMATIC_DEPROVISIONING_FOR_ACCESS_REQUEST')
})

it('creates one account for concurrent requests for the app, and disables it when they expire', async () => {
  const bob = await someone('account')
  const body = { app_id: appId, expiration_in_seconds: 3600 }
  const ids = await Promise.all([acme.asked(bob, body), acme.asked(bob, body)])
  for (const id of ids) await acme.settle(id, 'complete')
  for (const id of ids) await acme.reaches(id, 'COMPLETED')
  expect(await accountsOf(bob)).toHaveLength(1)
  expect((await accountsOf(bob))[0].active).toBe(true)
  const listed = await core.call('GET', `/users/${bob.id}/accounts`)
  expect(listed.body.items).toHaveLength(1)
  for (const id of ids) await acme.endTime(id)
  for (const id of ids) await acme.reaches(id, 'TIME_BASED_EXPIRED')
  expect((await accountsOf(bob))[0].active).toBe(false)
})

it('uses an account that a sync found before the person was known, and creates no second one', async () => {
  const eve = await someone('known-later')
  const own = (await scim('/Users?count=5')).Resources[4]
  const domainId = await domainOf(core.db)
  const [synced] = await core.db
    .insert(accounts)
    .values({ domainId, appId, uniqueIdentifier: own.id, email: eve.email.toUpperCase() })
    .returning()
  const status = (value: 'SUCCESS' | null) =>
    core.db.update(apps).set({ syncStatus: value }).where(eq(apps.id, appId))
  await status('SUCCESS')
  const id = await acme.asked(eve, {
    app_id: appId,
    requestable_permission_ids: [await permission(2, 'Known later')],
  })
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'COMPLETED')
  await status(null)
  expect(await accountsOf(eve)).toEqual([])
  expect(await membersOf(groups[2]?.id ?? '')).toContain(own.id)
  const listed = await core.call('GET', `/users/${eve.id}/accounts`)
  expect(listed.body.items).toEqual([expect.objectContaining({ id: synced?.id })])
})

it('keeps access that existed before the request', async () => {
  const [group] = groups
  const member = group?.members?.[0]?.value ?? ''
  const { userName, emails } = await scim(`/Users/${member}`)
  const cleo = await person(core.db, emails?.[0]?.value ?? userName)
  const id = await acme.asked(cleo, {
    app_id: appId,
    requestable_permission_ids: [await permissionOnce('Timed')],
    expiration_in_seconds: 1,
  })
  await acme.settle(id, 'complete')
  await acme.reaches(id, 'TIME_BASED_EXPIRED')
  expect(await membersOf(group?.id ?? '')).toContain(member)
  // Neither the request nor the log claims that the access was removed.
  expect((await acme.read(id)).notes['TIME_BASED_EXPIRED']).toBe(
    'The access existed before this request and stays',
  )
  expect(await ends(id)).toEqual([expect.objectContaining({ how: 'connector', kept: 'was_there' })])
})

/** Log metadata of the deprovisioning of a request. */
async function ends(id: string): Promise<object[]> {
  const { body } = await core.call('GET', '/activity_logs?limit=100')
  return body.items
    .filter(
      ({ event_type, targets }: { event_type: string; targets: { id: string }[] }) =>
        event_type.includes('_DEPROVISIONING_') && targets.some((one) => one.id === id),
    )
    .map(({ event_metadata }: { event_metadata: object }) => event_metadata)
}

it('keeps access that another request still grants, until that request expires', async () => {
  const dan = await someone('two')
  const ids = [await permission(1, 'Shared')]
  const short = await acme.asked(dan, {
    app_id: appId,
    requestable_permission_ids: ids,
    expiration_in_seconds: 3600,
  })
  await acme.settle(short, 'complete')
  await acme.reaches(short, 'COMPLETED')
  const long = await acme.asked(dan, {
    app_id: appId,
    requestable_permission_ids: ids,
    expiration_in_seconds: 7200,
  })
  await acme.settle(long, 'complete')
  await acme.reaches(long, 'COMPLETED')
  const [account] = await accountsOf(dan)
  await acme.endTime(short)
  await acme.reaches(short, 'TIME_BASED_EXPIRED')
  expect(await membersOf(groups[1]?.id ?? '')).toContain(account.id)
  await acme.endTime(long)
  await acme.reaches(long, 'TIME_BASED_EXPIRED')
  expect(await membersOf(groups[1]?.id ?? '')).not.toContain(account.id)
})

/** The permission with a label, created by an earlier test. */
async function permissionOnce(label: string): Promise<string> {
  const { body } = await core.call(
    'GET',
    `/appstore/requestable_permissions?app_id=${appId}&search_term=${label}&exact_match=true`,
  )
  return body.items[0].id
}
