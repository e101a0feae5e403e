/** A host is killed while it offboards people. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../e2e/until.ts'
import { person } from '../host.ts'
import { company } from '../requests/company.ts'
import { type Hosts, startHosts } from '../two-hosts.ts'
import { leaving } from './leaving.ts'

/** More offboardings than one host runs at once. */
const PEOPLE = 6

let hosts: Hosts

beforeAll(async () => {
  hosts = await startHosts()
})
afterAll(() => hosts.stop())

test('another host continues the offboardings of a killed one, and every account is closed', async () => {
  const { core, system } = hosts
  const other = await hosts.other()
  const people = leaving(core)
  const appId = await company(core).connected(system.app)
  const killed = Promise.withResolvers<'well'>()
  let held = 0
  system.behave((name) => {
    if (name !== 'deactivate_account' || held >= PEOPLE) return 'well'
    held += 1
    return killed.promise
  })
  const ids: string[] = []
  for (let n = 0; n < PEOPLE; n += 1) {
    const email = `person-${n}@acme.example`
    const { id } = await person(core.db, email)
    system.accounts.set(`account-of-${n}`, { email, status: 'ACTIVE', atMs: 0 })
    await people.known(id, `account-of-${n}`, appId)
    ids.push(await people.offboard(id))
  }
  // More than this host runs at once, so the other host has begun some, too.
  await until('both hosts call the system', () => held > 2)
  other.kill('SIGKILL')
  await other.ended
  killed.resolve('well')
  for (const id of ids) await people.reaches(id, 'COMPLETED')
  expect([...system.accounts.values()].map(({ status }) => status)).toEqual(
    Array.from({ length: PEOPLE }, () => 'SUSPENDED'),
  )
})
