/** What the activity log says of a request: who moved it, and why the host did. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { app, type CoreHost, type Person, person, startCore } from '../host.ts'
import { storedLog } from '../log.ts'
import { type Company, company } from './company.ts'
import { type BadSystem, startBadSystem } from './faults/bad-system.ts'

const SYSTEM = 'the host'

let system: BadSystem
let core: CoreHost
let acme: Company
let ada: Person
let connected: string
let byHand: string
const admin = 'admin@localhost'

beforeAll(async () => {
  system = await startBadSystem()
  core = await startCore(system.env)
  await core.host.settled
  acme = company(core)
  ada = await person(core.db, 'ada@acme.example')
  connected = await acme.connected(system.app)
  byHand = await acme.inStore(await app(core.db, 'By hand'))
})
afterAll(async () => {
  await core.stop()
  await system.close()
})

/** The entries about a request, each with who did it. */
const logOf = async (id: string) =>
  (await storedLog(core.db))
    .filter(({ targets }) => targets[0]?.['id'] === id)
    .map(({ eventType, actor, metadata }) => ({
      event: eventType.replace('APP_STORE_', '').replace('_FOR_ACCESS_REQUEST', ''),
      by: actor['actor_type'] === 'Lumos system' ? SYSTEM : actor['email'],
      metadata,
    }))

const actorsOf = async (id: string) => (await logOf(id)).map(({ event, by }) => `${event}: ${by}`)

describe('work by hand', () => {
  it('that a person confirms is told as theirs', async () => {
    const id = await acme.asked(ada, { app_id: byHand, expiration_in_seconds: 3600 })
    await acme.settle(id, 'complete')
    await acme.settle(id, 'complete')
    await acme.endTime(id)
    await acme.reaches(id, 'PENDING_MANUAL_DEPROVISIONING')
    await acme.settle(id, 'complete')
    expect(await acme.statusOf(id)).toBe('TIME_BASED_EXPIRED')
    expect(await actorsOf(id)).toEqual([
      'CREATE_ACCESS_REQUEST: ada@acme.example',
      `APPROVE_ACCESS_REQUEST: ${admin}`,
      `MANUAL_CONFIRM_PROVISIONING: ${admin}`,
      `MANUAL_CONFIRM_DEPROVISIONING: ${admin}`,
    ])
  })

  it('that nobody has to do any more is told as the host’s', async () => {
    const bob = await person(core.db, 'bob@acme.example')
    system.behave((name) => (name === 'create_account' ? 'refused' : 'well'))
    const wanted = { app_id: connected, expiration_in_seconds: 3600 }
    const id = await acme.asked(bob, wanted)
    await acme.settle(id, 'complete')
    await acme.reaches(id, 'PENDING_MANUAL_PROVISIONING')
    await acme.settle(id, 'complete')
    await acme.endTime(id)
    await acme.reaches(id, 'PENDING_MANUAL_DEPROVISIONING')
    const again = await acme.asked(bob, { app_id: connected })
    system.behave(() => 'well')
    await acme.settle(again, 'complete')
    await acme.reaches(again, 'COMPLETED')
    await acme.reaches(id, 'TIME_BASED_EXPIRED')
    expect((await actorsOf(id)).slice(2)).toEqual([
      `MANUAL_CONFIRM_PROVISIONING: ${admin}`,
      `AUTOMATIC_DEPROVISIONING: ${SYSTEM}`,
    ])
    expect((await actorsOf(again)).at(-1)).toBe(`AUTOMATIC_PROVISIONING: ${SYSTEM}`)
  })
})
