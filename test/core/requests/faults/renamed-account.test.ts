/** Access of an account that was renamed or moved in its system: the id is gone, the entitlements are not. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '../../../../runtime/database/schema/apps.ts'
import { domainOf } from '../../host.ts'
import { ask, sync } from '../../sync/synced.ts'
import { type BadCompany, startBadCompany } from './bad-company.ts'

let bad: BadCompany
let tenants = 0

beforeAll(async () => {
  bad = await startBadCompany()
})
afterAll(() => bad.stop())

/** Grants a new person an app, or a permission in it, and returns the id of the created account. */
async function given(
  what: 'app' | 'permission',
  before: (appId: string) => Promise<unknown> = async () => {},
) {
  // Each call uses its own app, because a sync of this system finds no permissions.
  tenants += 1
  const { app: first } = bad.system
  const base_url = `${first.settings.base_url}/tenant-${tenants}`
  const app = { ...first, settings: { base_url } }
  const appId = await bad.acme.connected(app)
  await before(appId)
  const permission = await bad.acme.group(appId)
  const body = {
    app_id: appId,
    expiration_in_seconds: 1000,
    ...(what === 'permission' ? { requestable_permission_ids: [permission] } : {}),
  }
  const { id, email, who } = await bad.approved(body)
  await bad.acme.reachesSoon(id, 'COMPLETED')
  const [[account] = ['']] = bad.system.accountsOf(email)
  return { id, appId, email, who, account }
}

const holders = () => [...bad.system.held.keys()].map((key) => key.split(' ')[0])

test('a permission is revoked in time although no sync has seen the account’s new id', async () => {
  const { id, account } = await given('permission')
  const renamed = `${account}-renamed`
  bad.system.rename(account, renamed)
  expect(holders()).toContain(renamed)
  await bad.acme.endTime(id)
  await bad.acme.reachesSoon(id, 'TIME_BASED_EXPIRED')
  expect(holders()).not.toContain(renamed)
})

test('a permission is revoked in time although a sync has found the account’s old id gone', async () => {
  const { id, appId, account } = await given('permission')
  await sync(bad.core, appId)
  const renamed = `${account}-renamed`
  bad.system.rename(account, renamed)
  await sync(bad.core, appId)
  expect(holders()).toContain(renamed)
  await bad.acme.endTime(id)
  await bad.acme.reachesSoon(id, 'TIME_BASED_EXPIRED')
  expect(holders()).not.toContain(renamed)
})

test('a permission is revoked in time although the account was renamed again after the sync', async () => {
  const { id, appId, account } = await given('permission')
  await sync(bad.core, appId)
  bad.system.rename(account, `${account}-second`)
  await sync(bad.core, appId)
  bad.system.rename(`${account}-second`, `${account}-third`)
  await bad.acme.endTime(id)
  await bad.acme.reachesSoon(id, 'TIME_BASED_EXPIRED')
  expect(holders()).not.toContain(`${account}-third`)
})

test('an account that a sync found gone without a successor is not searched for in the system', async () => {
  const { id, appId, account } = await given('permission')
  await sync(bad.core, appId)
  bad.system.accounts.delete(account)
  await sync(bad.core, appId)
  const asked = bad.system.count('list_accounts')
  await bad.acme.endTime(id)
  await bad.acme.reachesSoon(id, 'TIME_BASED_EXPIRED')
  expect(bad.system.count('list_accounts')).toBe(asked)
})

test.each([
  ['', sql`select 1`],
  [
    ', even if the history of the first is pruned',
    sql`delete from account_spans where until is not null returning 1`,
  ],
])(
  'a second account, known before the first was gone, keeps its entitlements%s',
  async (_, prune) => {
    const { id, appId, email, account } = await given('permission')
    const second = `${account}-second`
    bad.system.accounts.set(second, { email, status: 'ACTIVE', atMs: 0 })
    const [key = ''] = [...bad.system.held.keys()].filter((one) => one.startsWith(`${account} `))
    bad.system.held.set(`${second}${key.slice(account.length)}`, { atMs: 0 })
    await sync(bad.core, appId)
    bad.system.accounts.delete(account)
    bad.system.held.delete(key)
    await sync(bad.core, appId)
    await ask(bad.core, prune)
    await bad.acme.endTime(id)
    await bad.acme.reachesSoon(id, 'TIME_BASED_EXPIRED')
    expect(holders()).toContain(second)
  },
)

test('an older account that is later matched with the person keeps its entitlements', async () => {
  bad.system.accounts.set('older', { email: 'private@else.example', status: 'ACTIVE', atMs: 0 })
  const { id, appId, who, account } = await given('permission', (one) => sync(bad.core, one))
  await ask(
    bad.core,
    sql`update accounts set user_id = ${who.id}
      where app_id = ${appId} and unique_identifier = 'older' returning id`,
  )
  const [key = ''] = [...bad.system.held.keys()].filter((one) => one.startsWith(`${account} `))
  bad.system.held.set(`older${key.slice(account.length)}`, { atMs: 0 })
  bad.system.accounts.delete(account)
  bad.system.held.delete(key)
  await bad.acme.endTime(id)
  await bad.acme.reachesSoon(id, 'TIME_BASED_EXPIRED')
  expect(holders()).toContain('older')
})

test('an undiscovered account with the same address is not closed; a manual task names it', async () => {
  const { id, account } = await given('app')
  const renamed = `${account}-renamed`
  bad.system.rename(account, renamed)
  await bad.acme.endTime(id)
  await bad.acme.reachesSoon(id, 'PENDING_MANUAL_DEPROVISIONING')
  expect((await bad.acme.openTask(id)).instructions).toContain(`its owner now has ${renamed}`)
  expect(bad.system.accounts.get(renamed)?.status).toBe('ACTIVE')
})

test('an account that a sync matched with its owner by a rule is found although its address differs', async () => {
  const { id, appId, who, account } = await given('permission')
  const renamed = `${account}-renamed`
  bad.system.rename(account, renamed)
  const moved = bad.system.accounts.get(renamed)
  if (!moved) throw new Error('the renamed account is missing')
  bad.system.accounts.set(renamed, { ...moved, email: 'shared@acme.example' })
  await bad.core.db.insert(accounts).values({
    ...{ domainId: await domainOf(bad.core.db), appId, userId: who.id },
    ...{ uniqueIdentifier: renamed, discoveredAt: new Date() },
  })
  await bad.acme.endTime(id)
  await bad.acme.reachesSoon(id, 'TIME_BASED_EXPIRED')
  expect(holders()).not.toContain(renamed)
})
