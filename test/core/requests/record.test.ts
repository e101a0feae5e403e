/** Activity log entries of a request: who changed it, and why the host did. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessRequests } from '../../../runtime/database/schema/requests.ts'
import { app, type CoreHost, type Person, person, startCore } from '../host.ts'
import { storedLog } from '../log.ts'
import { leaving } from '../offboarding/leaving.ts'
import { acme as withPolicies } from '../policies/acme.ts'
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

/** The log entries of a request, each with its actor. */
const logOf = async (id: string) =>
  (await storedLog(core.db))
    .filter(({ targets }) => targets[0]?.['id'] === id)
    .map(({ eventType, actor, metadata }) => ({
      event: eventType.replace('APP_STORE_', '').replace('_FOR_ACCESS_REQUEST', ''),
      by: actor['actor_type'] === 'Lumos system' ? SYSTEM : actor['email'],
      metadata,
    }))

const actorsOf = async (id: string) => (await logOf(id)).map(({ event, by }) => `${event}: ${by}`)

describe('manual work', () => {
  it('is logged with the person who confirmed it', async () => {
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

  it('is logged with the host as the actor when it is no longer needed', async () => {
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

it('access that was not revoked in time is logged as DEPROVISIONING_EXPIRED', async () => {
  const id = await acme.asked(ada, { app_id: byHand, expiration_in_seconds: 3600 })
  await acme.settle(id, 'complete')
  await acme.settle(id, 'complete')
  await acme.endTime(id)
  await acme.reaches(id, 'PENDING_MANUAL_DEPROVISIONING')
  await core.db
    .update(accessRequests)
    .set({ wakeAt: sql`clock_timestamp()` })
    .where(eq(accessRequests.id, id))
  await acme.reaches(id, 'TIME_BASED_EXPIRED_FAILED')
  expect((await actorsOf(id)).at(-1)).toBe(`DEPROVISIONING_EXPIRED: ${SYSTEM}`)
})

describe('a request that the host ends while it waits for approval', () => {
  const cancelled = (because: string) => ({
    ...{ event: 'CANCEL_ACCESS_REQUEST', by: SYSTEM },
    metadata: expect.objectContaining({ from: 'PENDING_APPROVAL', because }),
  })

  it('is logged as cancelled because its permission was deleted', async () => {
    const body = {
      ...{ app_id: byHand, label: 'Editors' },
      request_config: { appstore_visibility: 'VISIBLE' },
    }
    const { id: wanted } = (await core.call('POST', '/appstore/requestable_permissions', { body }))
      .body
    const id = await acme.asked(ada, { app_id: byHand, requestable_permission_ids: [wanted] })
    await core.call('DELETE', `/appstore/requestable_permissions/${wanted}`)
    const log = await logOf(id)
    expect(log.slice(1)).toEqual([cancelled('The permission was deleted')])
  })

  it('is logged as cancelled because the person is being offboarded', async () => {
    const zoe = await person(core.db, 'zoe@acme.example')
    const id = await acme.asked(zoe, { app_id: byHand })
    await leaving(core).offboard(zoe.id)
    await acme.reaches(id, 'CANCELLED')
    const log = await logOf(id)
    expect(log.slice(1)).toEqual([cancelled('The person is being offboarded')])
  })

  it('is logged as cancelled because its policy was deleted', async () => {
    const people = withPolicies(core)
    const policy = await people.policy('Sales', [{ id: byHand }])
    const sam = await people.worker('sam', 'Sales')
    const [row] = await people.reach(sam.id, 'PENDING_APPROVAL')
    await core.call('DELETE', `/access_policies/${policy}`)
    await people.reach(sam.id, 'CANCELLED')
    const log = await logOf(row?.id ?? '')
    expect(log.slice(1)).toEqual([cancelled('The access policy “Policy of Sales” was deleted')])
  })
})

it('a policy request that a rule of separation of duties blocks is logged as denied, with the cause', async () => {
  const side = (app: string) => ({ apps: [app], permissions: [] })
  const other = await acme.inStore(await app(core.db, 'Ledger'))
  const rule = {
    ...{ name: 'Not both', on_request: 'BLOCK', left: side(byHand), right: side(other) },
  }
  expect((await core.call('POST', '/separation_of_duties', { body: rule })).status).toBe(201)
  const people = withPolicies(core)
  const kim = await people.worker('kim', 'Books')
  await acme.asked(kim, { app_id: byHand })
  await people.policy('Books', [{ id: other }])
  const [row] = await people.reach(kim.id, 'PENDING_APPROVAL', 'DENIED')
  const rows = await people.requestsOf(kim.id)
  const denied = rows.find(({ status }) => status === 'DENIED') ?? row
  expect((await logOf(denied?.id ?? '')).slice(1)).toEqual([
    {
      ...{ event: 'DENY_ACCESS_REQUEST', by: SYSTEM },
      metadata: expect.objectContaining({ status: 'DENIED', because: 'separation of duties' }),
    },
  ])
})
