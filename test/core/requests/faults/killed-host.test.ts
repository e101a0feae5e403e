/** Two hosts on one database process many requests; one of them is killed while it works. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../../e2e/until.ts'
import { person } from '../../host.ts'
import { type Hosts, startHosts } from '../../two-hosts.ts'
import { company } from '../company.ts'

/** More requests than one host processes at once. */
const PEOPLE = 12

let hosts: Hosts

beforeAll(async () => {
  hosts = await startHosts()
})
afterAll(() => hosts.stop())

test('the surviving host finishes the requests of the killed one, and nothing is done twice', async () => {
  const { core, system } = hosts
  const other = await hosts.other()
  const acme = company(core)
  const { appId, permission } = await acme.connectedWithGroup(system.app)
  const killed = Promise.withResolvers<'well'>()
  let held = 0
  system.behave((name) => {
    if (name !== 'create_account' || held >= PEOPLE) return 'well'
    held += 1
    return killed.promise
  })
  const body = { app_id: appId, requestable_permission_ids: [permission] }
  const emails = Array.from({ length: PEOPLE }, (_, n) => `person-${n}@acme.example`)
  const ids: string[] = []
  for (const email of emails) ids.push(await acme.asked(await person(core.db, email), body))
  await Promise.all(ids.map((id) => acme.settle(id, 'complete')))
  // This host runs three requests of an app at once, so the other host has begun some, too.
  await until('both hosts call the system', () => held > 3)
  const killedMs = performance.now()
  other.kill('SIGKILL')
  await other.ended
  killed.resolve('well')
  // Calls held beyond the connector's deadline are retried, on a slow machine after more than a minute.
  for (const id of ids) await acme.reachesSoon(id, 'COMPLETED')
  console.log(`all were given ${Math.round(performance.now() - killedMs)} ms after the kill`)
  for (const email of emails) expect(system.accountsOf(email)).toHaveLength(1)
  expect(system.held.size).toBe(PEOPLE)
})
