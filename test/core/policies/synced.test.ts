/** Policies apply to people of the identity source, and to changes of these people there. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { app, type CoreHost } from '../host.ts'
import { connect, startSynced, sync } from '../sync/synced.ts'
import { account, startUpstream, type Upstream } from '../sync/upstream.ts'
import { type Acme, acme } from './acme.ts'

let upstream: Upstream
let core: CoreHost
let people: Acme

beforeAll(async () => {
  upstream = await startUpstream()
  core = await startSynced(upstream)
  await core.host.settled
  people = acme(core)
})
afterAll(async () => {
  await core.stop()
  await upstream.close()
})

const works = (id: string, department: string) => account(id, { custom_attributes: { department } })
const holds = (...accounts: object[]) => {
  upstream.holds = { accounts, resources: [], entitlements: [], associations: [], activity: [] }
}

test('a sync makes and cancels the requests of a policy', async () => {
  await people.policy('Sales', [{ id: await app(core.db, 'Wiki') }])
  holds(works('ada', 'Sales'), works('ben', 'Finance'))
  const source = await connect(core, upstream)
  const mapping = { manager: null, groups: null, attributes: { Department: 'department' } }
  const settings = { identity_source: mapping }
  const set = await core.call('PUT', `/operator/apps/${source}/sync`, { body: { settings } })
  expect(set.status).toBe(200)
  expect((await sync(core, source)).state).toBe('SUCCEEDED')
  const { body } = await core.call('GET', '/users?search_term=ada')
  const id = body.items[0].id
  await people.reach(id, 'PENDING_APPROVAL')
  holds(works('ada', 'Finance'), works('ben', 'Finance'))
  expect((await sync(core, source)).state).toBe('SUCCEEDED')
  await people.reach(id, 'CANCELLED')
})
