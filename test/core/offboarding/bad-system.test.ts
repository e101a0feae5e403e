/** Offboarding from an app whose system misbehaves. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../e2e/until.ts'
import { logged, person } from '../host.ts'
import { type BadCompany, startBadCompany } from '../requests/faults/bad-company.ts'
import type { End } from '../requests/faults/bad-system.ts'
import { sync } from '../sync/synced.ts'
import { leaving } from './leaving.ts'

let company: BadCompany
let people: ReturnType<typeof leaving>
let appId: string
let count = 0

beforeAll(async () => {
  company = await startBadCompany()
  people = leaving(company.core)
  appId = await company.acme.connected(company.system.app)
})
afterAll(() => company.stop())

/** Offboards a new user whose account may have changed, with a deactivation that ends in this way. */
async function leaves(
  end: End,
  happens: (account: string) => void = () => {},
): Promise<{ id: string; userId: string; account: string }> {
  const { system, core } = company
  count += 1
  const email = `person-${count}@acme.example`
  const account = `account-of-${count}`
  const { id: userId } = await person(core.db, email)
  system.accounts.set(account, { email, status: 'ACTIVE', atMs: 0 })
  await people.known(userId, account, appId, { status: 'ACTIVE' })
  happens(account)
  system.once('deactivate_account', end)
  return { id: await people.offboard(userId), userId, account }
}

async function listed(account: string): Promise<string | undefined> {
  const { body } = await company.core.call('GET', `/accounts?size=100`)
  const all: { unique_identifier: string; status: string }[] = body.items
  return all.find((one) => one.unique_identifier === account)?.status
}

test.each<End>(['before', 'after', 'lie', 'hang'])(
  'an account whose deactivation ends with “%s” is checked again and suspended in the end',
  async (end) => {
    const { id, account } = await leaves(end)
    await people.reaches(id, 'COMPLETED')
    expect(company.system.accounts.get(account)?.status).toBe('SUSPENDED')
  },
)

test('a closed account is listed as SUSPENDED before any sync', async () => {
  const { id, account } = await leaves('well')
  await people.reaches(id, 'COMPLETED')
  expect(await listed(account)).toBe('SUSPENDED')
})

test('a finding LEAVER_ACCOUNT is resolved when the account is closed, before any sync', async () => {
  const { system, core } = company
  const account = 'account-of-a-leaver'
  const email = 'leaver@acme.example'
  const { id: userId } = await person(core.db, email)
  system.accounts.set(account, { email, status: 'ACTIVE', atMs: 0 })
  await sync(core, appId)
  system.behave((name) => (name === 'deactivate_account' ? 'before' : 'well'))
  const id = await people.offboard(userId)
  const isFound = async () => {
    const { body } = await core.call('GET', '/findings?kind=LEAVER_ACCOUNT&state=OPEN')
    return JSON.stringify(body.items).includes(`"${account}"`)
  }
  await expect.poll(isFound, { timeout: 60_000 }).toBe(true)
  system.behave(() => 'well')
  await people.reaches(id, 'COMPLETED')
  await expect.poll(isFound, { timeout: 60_000 }).toBe(false)
  await sync(core, appId)
  const { body } = await core.call('GET', `/users/${userId}/access`)
  const [held, ...others] = body.items
  expect(held).toMatchObject({ unique_identifier: account, status: 'SUSPENDED' })
  expect(others).toEqual([])
})

test('an account that was renamed since it was known is found by its address, and closed', async () => {
  const { system } = company
  const { id, account } = await leaves('well', (known) => system.rename(known, `${known}-renamed`))
  await people.reaches(id, 'COMPLETED')
  expect(system.accounts.get(`${account}-renamed`)?.status).toBe('SUSPENDED')
})

test('an account that is gone completes the offboarding, and no other account is closed', async () => {
  const other = 'account-of-nobody'
  company.system.accounts.set(other, { email: 'no@acme.example', status: 'ACTIVE', atMs: 0 })
  const { id } = await leaves('well', (account) => company.system.accounts.delete(account))
  await people.reaches(id, 'COMPLETED')
  expect(company.system.accounts.get(other)?.status).toBe('ACTIVE')
})

test('an account that the system refuses to close becomes a manual task that says why', async () => {
  const { id, userId, account } = await leaves('refused')
  const task = await people.taskOf(userId)
  expect(task.instructions).toContain('could not do it yet')
  expect(logged(company.core, 'offboarding', id)).toEqual([
    'warn: an account of a leaving user could not be closed yet; a person has a task, and Keyway keeps trying',
  ])
  expect(await people.statusOf(id)).toBe('IN_PROGRESS')
  expect(company.system.accounts.get(account)?.status).toBe('ACTIVE')
  await company.core.call('POST', `/tasks/${task.id}/complete`)
  await people.reaches(id, 'COMPLETED')
})

test('a completed manual task is opened again until the system shows the account closed', async () => {
  const { system, core } = company
  const { id, userId, account } = await leaves('refused')
  system.behave((name) => (name === 'deactivate_account' ? 'refused' : 'well'))
  const first = await people.taskOf(userId)
  await core.call('POST', `/tasks/${first.id}/complete`)
  const second = await people.taskOf(userId)
  expect(second.id).not.toBe(first.id)
  expect(second.instructions).toContain('but the system still shows the account in use')
  expect(await people.statusOf(id)).toBe('IN_PROGRESS')
  system.accounts.set(account, { email: `${account}@acme.example`, status: 'SUSPENDED', atMs: 0 })
  await core.call('POST', `/tasks/${second.id}/complete`)
  await people.reaches(id, 'COMPLETED')
  system.behave(() => 'well')
})

test('a task that is completed while a try is refused is considered at once', async () => {
  const { system, core } = company
  const { id, userId, account } = await leaves('refused')
  const task = await people.taskOf(userId)
  let end: (how: End) => void = () => {}
  const begun = new Promise<void>((begin) => {
    system.behave((name) => {
      if (name !== 'deactivate_account') return 'well'
      begin()
      return new Promise<End>((resolve) => {
        end = resolve
      })
    })
  })
  await core.db.execute(
    sql`update offboarding_steps set wake_at = now() where offboarding_id = ${id}`,
  )
  await core.db.execute(sql`update user_offboardings set wake_at = now() where id = ${id}`)
  await begun
  expect((await core.call('POST', `/tasks/${task.id}/complete`)).status).toBe(204)
  system.behave(() => 'well')
  end('refused')
  // The pause after a second refusal is two minutes.
  await until(
    'the account is closed',
    () => system.accounts.get(account)?.status === 'SUSPENDED',
    45_000,
  )
  await people.reaches(id, 'COMPLETED')
})

test('an account that a person decides to leave is counted and logged, and can be closed later', async () => {
  const { system, core } = company
  const { id, userId, account } = await leaves('refused')
  system.behave((name) => (name === 'deactivate_account' ? 'refused' : 'well'))
  await core.call('POST', `/tasks/${(await people.taskOf(userId)).id}/dismiss`)
  await people.reaches(id, 'COMPLETED')
  expect(system.accounts.get(account)?.status).toBe('ACTIVE')
  const path = `/lifecycle-management/user-offboardings?user_id=${userId}`
  const [offboarding] = (await core.call('GET', path)).body.items
  expect(offboarding.accounts).toEqual({ all: 1, done: 0, by_hand: 0, left: 1 })
  const { body: log } = await core.call('GET', `/activity_logs?target=${id}`)
  const left = log.items.find(
    (one: { event_type: string }) => one.event_type === 'USER_OFFBOARDING_ACCOUNT_LEFT',
  )
  const acted = '/activity_logs?event_type=TASK_ACTION_PERFORMED&newest_first=true&limit=1'
  expect(left.actor).toEqual((await core.call('GET', acted)).body.items[0].actor)
  system.behave(() => 'well')
  await people.reaches(await people.offboard(userId), 'COMPLETED')
  expect(system.accounts.get(account)?.status).toBe('SUSPENDED')
})
