/** Offboarding of accounts whose ids have changed: all accounts of the person are closed, and no others. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { person } from '../host.ts'
import { type BadCompany, startBadCompany } from '../requests/faults/bad-company.ts'
import { ask, sync } from '../sync/synced.ts'
import { leaving } from './leaving.ts'

let company: BadCompany
let people: ReturnType<typeof leaving>
let count = 0

beforeAll(async () => {
  company = await startBadCompany()
  people = leaving(company.core)
})
afterAll(() => company.stop())
beforeEach(() => {
  const { system } = company
  system.listing.of = null
  system.extra.clear()
  system.accounts.clear()
  system.behave(() => 'well')
})

/** A person with an account in an app of their own. */
async function somebody() {
  count += 1
  const { system, acme, core } = company
  const base_url = `${system.app.settings.base_url}/tenant-${count}`
  const appId = await acme.connected({ ...system.app, settings: { base_url } })
  const [email, account] = [`leaver-${count}@acme.example`, `account-${count}`]
  const { id: userId } = await person(core.db, email)
  system.accounts.set(account, { email, status: 'ACTIVE', atMs: 0 })
  return { appId, email, account, userId }
}

async function left(userId: string): Promise<string> {
  const id = await people.offboard(userId)
  await people.reaches(id, 'COMPLETED')
  return id
}

const stepsOf = (id: string) =>
  ask<{ account: string }>(
    company.core,
    sql`select account from offboarding_steps where offboarding_id = ${id} order by id`,
  )

const statusOf = (account: string) => company.system.accounts.get(account)?.status

test('an account that had another id for a while is closed under its first id', async () => {
  const { appId, account, userId } = await somebody()
  await sync(company.core, appId)
  company.system.rename(account, 'another-name')
  await sync(company.core, appId)
  company.system.rename('another-name', account)
  await left(userId)
  expect(statusOf(account)).toBe('SUSPENDED')
})

test('an account that no sync has seen, but a request was provisioned in, is closed', async () => {
  const { system, acme, core } = company
  count += 1
  const base_url = `${system.app.settings.base_url}/tenant-${count}`
  const { appId, permission } = await acme.connectedWithGroup({
    ...system.app,
    settings: { base_url },
  })
  const email = `leaver-${count}@acme.example`
  system.accounts.set('never-synced', { email, status: 'ACTIVE', atMs: 0 })
  const who = await person(core.db, email)
  const asked = { app_id: appId, requestable_permission_ids: [permission] }
  const request = await acme.asked({ ...who }, asked)
  await acme.settle(request, 'complete')
  await acme.reachesSoon(request, 'COMPLETED')
  system.rename('never-synced', 'renamed-unseen')
  await left(who.id)
  expect(statusOf('renamed-unseen')).toBe('SUSPENDED')
})

test('an account that a first offboarding found missing is closed by the next one', async () => {
  const { appId, account, userId } = await somebody()
  await sync(company.core, appId)
  company.system.rename(account, 'renamed-first')
  await left(userId)
  company.system.rename('renamed-first', 'renamed-again')
  company.system.accounts.set('renamed-again', {
    ...{ email: `leaver-${count}@acme.example`, status: 'ACTIVE', atMs: 0 },
  })
  await sync(company.core, appId)
  await left(userId)
  expect(statusOf('renamed-again')).toBe('SUSPENDED')
})

test('an account is closed although the run that saw its old id has been deleted', async () => {
  const { appId, account, userId } = await somebody()
  await sync(company.core, appId)
  company.system.rename(account, 'renamed-long-ago')
  await sync(company.core, appId)
  await ask(company.core, sql`delete from sync_runs where app_id = ${appId} returning id`)
  await left(userId)
  expect(statusOf('renamed-long-ago')).toBe('SUSPENDED')
})

test('an account is found after twenty service accounts with the same address, which stay active', async () => {
  const { appId, email, account, userId } = await somebody()
  const { accounts, extra } = company.system
  accounts.clear()
  for (let n = 10; n < 30; n += 1) {
    accounts.set(`a-service-${n}`, { email, status: 'ACTIVE', atMs: 0 })
    extra.set(`a-service-${n}`, { account_type: 'service' })
  }
  accounts.set(account, { email, status: 'ACTIVE', atMs: 0 })
  await sync(company.core, appId)
  await ask(
    company.core,
    sql`update accounts set user_id = null where app_id = ${appId} and account_type = 'SERVICE' returning id`,
  )
  company.system.rename(account, 'behind-them')
  await left(userId)
  expect(statusOf('behind-them')).toBe('SUSPENDED')
  expect(statusOf('a-service-10')).toBe('ACTIVE')
})

test('a service account with the same address that no sync has seen stays active', async () => {
  const { appId, email, account, userId } = await somebody()
  await sync(company.core, appId)
  company.system.accounts.delete(account)
  company.system.accounts.set('service', { email, status: 'ACTIVE', atMs: 0 })
  company.system.extra.set('service', { account_type: 'service' })
  await left(userId)
  expect(statusOf('service')).toBe('ACTIVE')
})

test('an account that is known to belong to another person stays active, despite its address', async () => {
  const { appId, email, account, userId } = await somebody()
  await sync(company.core, appId)
  const { id: otherId } = await person(company.core.db, `other-${count}@acme.example`)
  company.system.accounts.delete(account)
  company.system.accounts.set('of-another', { email, status: 'ACTIVE', atMs: 0 })
  await people.known(otherId, 'of-another', appId, { discoveredAt: new Date() })
  await left(userId)
  expect(statusOf('of-another')).toBe('ACTIVE')
})

test('an id that cannot be stored does not keep other accounts from being closed', async () => {
  const { appId, email, account, userId } = await somebody()
  await sync(company.core, appId)
  const { accounts } = company.system
  accounts.delete(account)
  for (const id of ['nul\u0000', 'x'.repeat(5000), 'kept'])
    accounts.set(id, { email, status: 'ACTIVE', atMs: 0 })
  await left(userId)
  expect(statusOf('kept')).toBe('SUSPENDED')
})

test('a system that lists new ids each time is followed only once', async () => {
  const { appId, email, account, userId } = await somebody()
  await sync(company.core, appId)
  company.system.accounts.delete(account)
  let made = 0
  company.system.listing.of = () =>
    Array.from({ length: 5 }, () => {
      made += 1
      return { integration_specific_id: `made-up-${made}`, email, user_status: 'ACTIVE' }
    })
  expect(await stepsOf(await left(userId))).toHaveLength(6)
})

test('a listing that is refused does not block an offboarding: the missing account counts as gone', async () => {
  const { appId, account, userId } = await somebody()
  await sync(company.core, appId)
  company.system.accounts.delete(account)
  company.system.behave((name) => (name === 'list_accounts' ? 'refused' : 'well'))
  expect(await stepsOf(await left(userId))).toEqual([{ account }])
})
