/** An app with a slow system does not delay other apps. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CoreHost, person, startCore } from '../../host.ts'
import { type Company, company } from '../company.ts'
import { type BadSystem, type End, startBadSystem } from './bad-system.ts'

let slow: BadSystem
let quick: BadSystem
let core: CoreHost
let acme: Company

beforeAll(async () => {
  // The deadline is long because an abandoned call goes on in the system and would run in parallel with its
  // successors, for example on a loaded machine.
  slow = await startBadSystem({ deadlineMs: 20_000 })
  quick = await startBadSystem()
  const both = [slow, quick].map(({ env }) => env.KEYWAY_PRIVATE_EGRESS).join(' ')
  core = await startCore({ ...slow.env, KEYWAY_PRIVATE_EGRESS: both })
  await core.host.settled
  acme = company(core)
})
afterAll(async () => {
  await core.stop()
  await slow.close()
  await quick.close()
})

it('at most three requests of an app run at once, so that other apps are served', async () => {
  const slowApp = await acme.connected(slow.app)
  const quickApp = await acme.connected({ ...quick.app, name: 'Quick' })
  let under = 0
  let most = 0
  slow.behave(async (): Promise<End> => {
    under += 1
    most = Math.max(most, under)
    await pause(500)
    under -= 1
    return 'well'
  })
  const ask = async (email: string, app_id: string) => {
    const id = await acme.asked(await person(core.db, email), { app_id })
    await acme.settle(id, 'complete')
    return id
  }
  const waiting: string[] = []
  for (let n = 0; n < 12; n += 1) waiting.push(await ask(`slow-${n}@acme.example`, slowApp))
  const other = await ask('quick@acme.example', quickApp)
  await acme.reaches(other, 'COMPLETED')
  expect(await Promise.all(waiting.map(acme.statusOf))).toContain('PENDING_PROVISIONING')
  for (const id of waiting) await acme.reaches(id, 'COMPLETED')
  expect(most).toBe(3)
})
