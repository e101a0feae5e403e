/** Users and groups that a provider deleted and that another source restores. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { users } from '../../../runtime/database/schema/people.ts'
import { until } from '../../e2e/until.ts'
import { type Provider, refusal, startProvider } from './provider.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.core.stop())

const personOf = async (id: string) => (await provider.core.call('GET', `/users/${id}`)).body

/** Creates a user, deletes it, and waits until it is offboarded. */
async function deleted(userName: string, more: object = {}): Promise<string> {
  const id = await provider.user(userName, more)
  expect((await provider.scim('DELETE', `/Users/${id}`)).status).toBe(204)
  await until('the offboarding is COMPLETED', async () =>
    (await provider.offboardings(id)).includes('COMPLETED') ? true : null,
  )
  return id
}

test('a deleted user that is imported again is visible, without what was pushed before', async () => {
  const address = 'back@acme.example'
  const more = { emails: [{ value: address }], externalId: 'e-back' }
  const id = await deleted('back', more)
  expect((await provider.scim('GET', `/Users/${id}`)).status).toBe(404)
  await provider.imported(`email,status\n${address},ACTIVE\n`)
  const { status, body } = await provider.scim('GET', `/Users/${id}`)
  expect([status, body.userName, body.externalId]).toEqual([200, address, undefined])
  for (const filter of [`userName eq "${address}"`, `emails eq "${address}"`, `id eq "${id}"`])
    expect((await provider.found(filter)).Resources).toMatchObject([{ id, active: true }])
  expect((await provider.found('externalId eq "e-back"')).totalResults).toBe(0)
  await provider.group('Those who came back', [id])
  await provider.user('of-back@acme.example', { manager: id })
})

test('a deleted user who is reactivated keeps the address and can be changed', async () => {
  const userName = 'keeps@acme.example'
  const id = await deleted(userName)
  // As a sync of the identity source does.
  await provider.core.db.update(users).set({ status: 'ACTIVE' }).where(eq(users.id, id))
  const anew = await provider.scim('POST', '/Users', { userName, active: false })
  expect(refusal(anew)).toEqual([409, 'uniqueness'])
  expect(await personOf(id)).toMatchObject({ email: userName, status: 'ACTIVE' })

  const off = await provider.patch(`/Users/${id}`, { op: 'replace', value: { active: false } })
  expect([off.status, off.body.active]).toEqual([200, false])
  expect((await provider.scim('GET', `/Users/${id}`)).status).toBe(200)
  expect((await provider.found(`userName eq "${userName}"`)).Resources).toMatchObject([{ id }])
  expect((await provider.scim('DELETE', `/Users/${id}`)).status).toBe(204)
  expect((await provider.scim('GET', `/Users/${id}`)).status).toBe(404)
})

test('a deleted group is visible again once an import adds members, until an import removes them', async () => {
  const id = await provider.group('Filled', [await provider.user('in-filled@acme.example')])
  expect((await provider.scim('DELETE', `/Groups/${id}`)).status).toBe(204)
  await provider.imported('email,groups\nfilled@acme.example,Filled\n')
  expect((await provider.found('displayName eq "Filled"', 'Groups')).Resources).toMatchObject([
    { id, members: [{ display: 'filled@acme.example' }] },
  ])
  expect(refusal(await provider.scim('POST', '/Groups', { displayName: 'Filled' }))).toEqual([
    409,
    'uniqueness',
  ])
  await provider.imported('email,groups\nfilled@acme.example,\n')
  expect((await provider.scim('GET', `/Groups/${id}`)).status).toBe(404)

  await provider.imported('email,groups\nfilled@acme.example,Filled\n')
  const nobody = { op: 'remove', path: 'members' }
  expect((await provider.patch(`/Groups/${id}`, nobody)).status).toBe(204)
  expect((await provider.scim('GET', `/Groups/${id}`)).status).toBe(200)
})

test('an import adds people to the group that has a name, not to a deleted one that had it', async () => {
  const address = 'in-sales@acme.example'
  const former = await provider.group('Sales')
  expect((await provider.scim('DELETE', `/Groups/${former}`)).status).toBe(204)
  const id = await provider.group('Sellers')
  const renamed = { op: 'replace', path: 'displayName', value: 'SALES' }
  expect((await provider.patch(`/Groups/${id}`, renamed)).status).toBe(204)
  const person = await provider.user(address)
  await provider.imported(`email,groups\n${address},Sales\n`)
  const { Resources } = await provider.found('displayName eq "Sales"', 'Groups')
  expect(Resources).toMatchObject([{ id, displayName: 'SALES', members: [{ value: person }] }])
})
