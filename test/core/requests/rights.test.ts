/** What somebody with several roles, each for something else, may do with the requests of others. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { app, type CoreHost, type Person, person, startCore } from '../host.ts'
import { type Company, company } from './company.ts'

let core: CoreHost
let acme: Company
let ada: Person
let mixed: Person

beforeAll(async () => {
  core = await startCore({ KEYWAY_REQUESTS_PER_MINUTE: '100000' })
  acme = company(core)
  ada = await person(core.db, 'ada@acme.example')
  mixed = await person(core.db, 'mixed@acme.example', ['Read Only Admin', 'App Admin'])
})
afterAll(() => core.stop())

it('does not let who reads all requests, and manages one app, take back those of other apps', async () => {
  const own = await acme.inStore(await app(core.db, 'Own', { adminUserIds: [mixed.id] }))
  const foreign = await acme.inStore(await app(core.db, 'Foreign'))
  const cancel = async (appId: string) => {
    const id = await acme.asked(ada, { app_id: appId })
    const path = `/appstore/access_requests/${id}`
    return (await core.call('DELETE', path, { token: mixed.token })).status
  }
  expect(await cancel(foreign)).toBe(403)
  expect(await cancel(own)).toBe(204)
})
