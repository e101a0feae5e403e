/** Policies apply to people who are imported from a file. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { app, type CoreHost, startCore } from '../host.ts'
import { type Acme, acme } from './acme.ts'

let core: CoreHost
let people: Acme

beforeAll(async () => {
  core = await startCore()
  await core.host.settled
  people = acme(core)
})
afterAll(() => core.stop())

const send = (raw: string) =>
  core.call('POST', '/operator/users/import', { raw, headers: { 'content-type': 'text/csv' } })

const idOf = async (email: string): Promise<string> =>
  (await core.call('GET', `/users?search_term=${encodeURIComponent(email)}`)).body.items[0].id

test('an import makes and cancels the requests of a policy', async () => {
  await people.policy('Sales', [{ id: await app(core.db, 'Wiki') }])
  const first = await send('email,Department\nnew@acme.example,Sales\nold@acme.example,Finance\n')
  expect(first.status).toBe(200)
  const id = await idOf('new@acme.example')
  await people.reach(id, 'PENDING_APPROVAL')
  await send('email,Department\nnew@acme.example,Finance\n')
  await people.reach(id, 'CANCELLED')
  expect(await people.requestsOf(await idOf('old@acme.example'))).toEqual([])
})
