/** Personal data is stored outside the chain of the log: it can be erased, and the chain still verifies. */

import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordActivity } from '../../../../runtime/core/kernel/audit/activity.ts'
import { verifyActivity } from '../../../../runtime/core/kernel/audit/chain.ts'
import { bodyOf } from '../../../../runtime/core/kernel/audit/entry-hash.ts'
import { chainWaiting } from '../../../../runtime/core/kernel/audit/unchained-entries.ts'
import { lockNumber } from '../../../../runtime/database/locks.ts'
import { type CoreHost, domainOf, type Person, person, startCore } from '../../host.ts'
import { storedLog } from '../../log.ts'
import { eventNamed } from './event-named.ts'

let core: CoreHost
let domainId: string
let owner: Client
let ada: Person

beforeAll(async () => {
  core = await startCore()
  domainId = await domainOf(core.db)
  owner = new Client(await core.login())
  await owner.connect()
  ada = await person(core.db, 'Ada@Analytical.example', ['Admin'])
  await core.call('POST', `/users/${ada.id}/roles/Auditor`)
  await core.call('POST', `/users/${ada.id}/roles/App%20Admin`, { token: ada.token })
})
afterAll(async () => {
  await owner.end()
  await core.stop()
})

const chainText = async (): Promise<string> => {
  await chainWaiting(core.db, domainId)
  const { rows } = await owner.query('select t::text from activity_logs t')
  return rows.map(({ t }) => t).join('\n')
}

const latest = async () => (await storedLog(core.db)).at(-1)

test('the chain has only ids and commitments, while readers see names and addresses', async () => {
  expect(await chainText()).not.toMatch(/ada@|analytical/i)
  expect(await chainText()).toContain(ada.id)
  const { body } = await core.call('GET', '/activity_logs?limit=100')
  expect(body.items.at(-1)).toMatchObject({
    event_type: 'USER_ROLE_ADDED',
    actor: { actor_type: 'Lumos user', email: 'Ada@Analytical.example', family_name: 'Test' },
    targets: [{ target_type: 'User', name: 'Ada@Analytical.example', id: ada.id }],
    event_metadata: { role: 'App Admin' },
  })
  expect(Object.keys(body.items.at(-1).actor).sort()).toEqual([
    ...['actor_type', 'email', 'family_name', 'given_name'],
  ])
})

test('a text with an address is stored outside the chain, wherever it occurs', async () => {
  const metadata = { told: ['for grace@navy.example, soon', 7], deep: { by: 'GRACE@navy.example' } }
  const targets = [{ target_type: 'Offboarding', name: 'grace@navy.example', id: '1' }]
  await recordActivity(core.db, { domainId, userId: null }, eventNamed('TOLD'), targets, metadata)
  expect(await chainText()).not.toMatch(/grace/i)
  expect(await latest()).toMatchObject({ eventType: 'TOLD', targets, metadata })
})

test('data that only looks like a commitment is read as it was written', async () => {
  const metadata = { odd: { $personal: '0'.repeat(64) }, even: { $personal: 1, more: true } }
  await recordActivity(core.db, { domainId, userId: null }, eventNamed('ODD'), [], metadata)
  expect((await latest())?.metadata).toEqual(metadata)
  expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null, erased: 0 })
})

test('an entry of a host of the previous version is read as it is', async () => {
  const actor = {
    actor_type: 'Lumos user',
    email: 'old@x.example',
    given_name: '',
    family_name: '',
  }
  const entry = { domainId, eventType: 'OLD', outcome: 'Succeeded' as const }
  const lock = lockNumber('chaining the log')
  const body = bodyOf({ ...entry, actor, targets: [], metadata: {} })
  await core.db.execute(sql`select write_activity(${domainId}, array[${body}], ${lock})`)
  expect(await latest()).toMatchObject({ eventType: 'OLD', actor })
})

test('a transaction that is rolled back leaves no personal value', async () => {
  const count = async () => (await owner.query('select from activity_personal')).rowCount
  const before = await count()
  const failed = core.db.transaction(async (tx) => {
    await recordActivity(tx, { domainId, userId: ada.id }, eventNamed('LOST'), [], {})
    throw new Error('roll back')
  })
  await expect(failed).rejects.toThrow('roll back')
  expect(await count()).toBe(before)
})

test('a changed value breaks the chain at its entry; neither the host nor the owner may change one', async () => {
  const change = `update activity_personal set value = '"eve@example.com"'`
  await expect(core.db.execute(sql.raw(change))).rejects.toThrow()
  await expect(owner.query(change)).rejects.toThrow('append-only')
  await chainWaiting(core.db, domainId)
  const trigger = 'trigger activity_personal_unchanged'
  await owner.query('begin')
  await owner.query(`alter table activity_personal disable ${trigger}`)
  await owner.query(`${change} where user_id = '${ada.id}'`)
  await owner.query(`alter table activity_personal enable always ${trigger}`)
  await owner.query('commit')
  const { broken } = await verifyActivity(core.db, domainId)
  expect(broken).toMatchObject({ eventType: 'USER_ROLE_ADDED' })
})

test('the chain verifies without the values of a person, and counts the erased ones', async () => {
  const { rowCount } = await owner.query('delete from activity_personal where user_id = $1', [
    ada.id,
  ])
  expect(rowCount).toBe(3)
  expect(await verifyActivity(core.db, domainId)).toMatchObject({ broken: null, erased: 3 })
  const { body } = await core.call('GET', '/activity_logs?limit=100')
  expect(JSON.stringify(body)).not.toMatch(/ada@|eve@/i)
  const about = body.items.filter(({ targets }: { targets: { id: string }[] }) =>
    targets.some(({ id }) => id === ada.id),
  )
  expect(about).toMatchObject([
    { actor: { email: 'admin@localhost' }, targets: [{ name: 'erased' }] },
    { actor: { email: '', given_name: '', family_name: '' }, targets: [{ name: 'erased' }] },
  ])
})
