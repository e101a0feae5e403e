/** Accounts with ids that the database cannot store: they get no access, and none is created twice. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { until } from '../../../e2e/until.ts'
import { type BadCompany, startBadCompany } from './bad-company.ts'

let bad: BadCompany
let appId: string

beforeAll(async () => {
  bad = await startBadCompany()
  appId = await bad.acme.connected(bad.system.app)
})
afterAll(() => bad.stop())
afterEach(() => bad.system.setCreatedId(null))

const WORDS = 'the account of this person has an id that Keyway cannot store'

test.each([
  ['NUL', 'a\u0000b'],
  ['a lone surrogate', 'a\ud83d'],
  ['too many characters', 'x'.repeat(513)],
  ['an empty text', ''],
])('an account that is created with %s as its id becomes a manual task', async (_what, id) => {
  const { acme, system } = bad
  system.setCreatedId(id)
  const { id: request } = await bad.approved({ app_id: appId })
  await acme.reaches(request, 'PENDING_MANUAL_PROVISIONING')
  expect((await acme.openTask(request)).instructions).toContain(WORDS)
})

test('a listed account with an id that cannot be stored is not created again', async () => {
  const { core, system } = bad
  const before = system.calls.length
  system.setCreatedId('a\u0000c', false)
  const { id: request } = await bad.approved({ app_id: appId })
  await until('the accounts have been listed for two attempts', async () => {
    const { body } = await core.call('GET', `/operator/calls?app_id=${appId}`)
    expect(body.items.length).toBeGreaterThan(0)
    return system.calls.slice(before).filter((name) => name === 'list_accounts').length > 3
  })
  expect(system.calls.slice(before).filter((name) => name === 'create_account')).toHaveLength(1)
  expect(await bad.acme.statusOf(request)).toBe('PENDING_PROVISIONING')
})
