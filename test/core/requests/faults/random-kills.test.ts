/** Two hosts on one database process requests; one is killed repeatedly. `KILLS=30` for more rounds. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { person } from '../../host.ts'
import { type Hosts, startHosts } from '../../two-hosts.ts'
import { company } from '../company.ts'
import type { End } from './bad-system.ts'

const KILLS = Number(process.env['KILLS'] ?? 2)
/** Requests per round. */
const PEOPLE = 8

let hosts: Hosts

beforeAll(async () => {
  hosts = await startHosts()
})
afterAll(() => hosts.stop())

test(
  'repeated kills of a host lose no request and grant nothing twice',
  async () => {
    const { core, system } = hosts
    const acme = company(core)
    const { appId, permission } = await acme.connectedWithGroup(system.app)
    // Slow enough for a kill to interrupt running work.
    system.behave(async (): Promise<End> => {
      await pause(100 + Math.random() * 200)
      return 'well'
    })
    const body = { app_id: appId, requestable_permission_ids: [permission] }
    for (let round = 0; round < KILLS; round += 1) {
      const other = await hosts.other()
      const emails = Array.from({ length: PEOPLE }, (_, n) => `person-${round}-${n}@acme.example`)
      const ids: string[] = []
      for (const email of emails) ids.push(await acme.asked(await person(core.db, email), body))
      await Promise.all(ids.map((id) => acme.settle(id, 'complete')))
      const afterMs = Math.round(Math.random() * 1500)
      await pause(afterMs)
      other.kill('SIGKILL')
      await other.ended
      for (const id of ids) await acme.reaches(id, 'COMPLETED')
      const words = `round ${round}, killed after ${afterMs} ms`
      for (const email of emails) {
        const own = system.accountsOf(email)
        expect(own, words).toHaveLength(1)
        expect(system.held.has(`${own[0]?.[0]} group`), words).toBe(true)
      }
    }
  },
  60_000 + KILLS * 90_000,
)
