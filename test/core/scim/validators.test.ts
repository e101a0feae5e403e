/** The calls and checks of Okta's test suite for SCIM servers and of the validator of Entra ID. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCIM_URNS } from '../../../runtime/contract/models/scim.ts'
import { type Provider, refusal, startProvider } from './provider.ts'

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.core.stop())

test('Okta: lists, creates, finds, replaces and deactivates a user, and refuses a duplicate', async () => {
  const { scim, patch, found } = provider
  const list = await scim('GET', '/Users?startIndex=1&count=1')
  expect(list.body).toMatchObject({ schemas: [SCIM_URNS.list], startIndex: 1 })
  for (const name of ['totalResults', 'itemsPerPage']) expect(typeof list.body[name]).toBe('number')
  expect((await scim('GET', '/Users?count=0')).body).toMatchObject({ Resources: [] })
  const none = await scim('GET', '/Users/010101001010101011001010101011')
  expect(none.body).toEqual({
    ...{ schemas: [SCIM_URNS.error], status: '404', detail: expect.any(String) },
  })
  const nobody = { totalResults: 0, Resources: [] }
  expect(await found('userName eq "abcdefgh@acme.example"')).toMatchObject(nobody)

  const runner = {
    ...{ schemas: [SCIM_URNS.user], userName: 'runner@acme.example', externalId: '00u1' },
    name: { givenName: 'Run', familyName: 'Scope' },
    emails: [{ primary: true, value: 'runner@acme.example', type: 'work' }],
    ...{ displayName: 'Run Scope', locale: 'en-US', groups: [], password: 'unread', active: true },
  }
  const { groups, password, ...kept } = runner
  const created = await scim('POST', '/Users', runner)
  expect([created.status, created.body]).toMatchObject([201, { ...kept, id: expect.any(String) }])
  expect(created.body).not.toHaveProperty('password')
  const { id } = created.body
  const path = `/Users/${id}`
  const got = (await scim('GET', path)).body
  expect(got.meta.location).toMatch(new RegExp(`/scim/v2/Users/${id}$`))
  expect(refusal(await scim('POST', '/Users', runner))).toEqual([409, 'uniqueness'])
  const { totalResults, Resources } = await found('userName eq "RUNNER@acme.example"')
  expect([totalResults, Resources]).toEqual([1, [got]])
  const name = { givenName: 'Another', familyName: 'Scope' }
  const put = await scim('PUT', path, { ...runner, id, name, meta: got.meta })
  expect([put.status, put.body]).toMatchObject([200, { ...kept, id, name }])
  const off = await patch(path, { op: 'replace', value: { active: false } })
  expect([off.status, off.body]).toMatchObject([200, { ...kept, id, name, active: false }])
})

test('Entra ID: creates, finds, changes and deletes a user with all mapped attributes', async () => {
  const { scim, patch, found } = provider
  const enterprise = { employeeNumber: 'E', department: 'D', costCenter: 'C' }
  const mapped = {
    ...{ schemas: [SCIM_URNS.user, SCIM_URNS.enterprise], userName: 'entra@acme.example' },
    ...{ externalId: 'ext-entra', active: true, displayName: 'BCLKM', title: 'T' },
    emails: [{ type: 'work', value: 'entra@acme.example', primary: true }],
    name: { formatted: 'G F', familyName: 'F', givenName: 'G', honorificPrefix: 'P' },
    addresses: [{ type: 'work', formatted: 'F', locality: 'L', primary: true }],
    phoneNumbers: [{ type: 'mobile', value: '2' }],
    [SCIM_URNS.enterprise]: enterprise,
  }
  const created = await scim('POST', '/Users', mapped)
  expect([created.status, created.body[SCIM_URNS.enterprise]]).toEqual([201, enterprise])
  expect((await scim('POST', '/Users', mapped)).status).toBe(409)
  for (const filter of [
    'userName eq "ENTRA@acme.example"',
    'externalId eq "ext-entra"',
    'userName eq "x" or userName eq "entra@acme.example"',
    'emails[type eq "work"].value eq "entra@acme.example"',
  ])
    expect((await found(filter)).totalResults).toBe(1)
  const path = `/Users/${created.body.id}`
  const renamed = { op: 'replace', path: 'userName', value: 'entra2@acme.example' }
  expect((await patch(path, renamed)).body.userName).toBe('entra2@acme.example')
  const changed = await patch(
    path,
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'n@acme.example' },
    { op: 'replace', path: 'emails[type eq "work"].primary', value: true },
    { op: 'add', path: 'phoneNumbers[type eq "mobile"].value', value: '3' },
    { op: 'add', path: 'addresses[type eq "work"].formatted', value: 'N' },
    {
      op: 'replace',
      value: { 'name.givenName': 'N', [`${SCIM_URNS.enterprise}:employeeNumber`]: 'N' },
    },
  )
  expect([changed.status, changed.body]).toMatchObject([
    200,
    {
      ...{ name: { givenName: 'N', familyName: 'F' }, emails: [{ value: 'n@acme.example' }] },
      [SCIM_URNS.enterprise]: { ...enterprise, employeeNumber: 'N' },
    },
  ])
  const off = await patch(path, { op: 'Replace', path: 'active', value: 'False' })
  expect([off.status, off.body.active]).toEqual([200, false])
  const ends = []
  for (const method of ['DELETE', 'GET', 'DELETE']) ends.push((await scim(method, path)).status)
  expect(ends).toEqual([204, 404, 404])
})

test('Entra ID: creates, changes and deletes a group, and finds whether a user is a member', async () => {
  const { scim, patch, user, found } = provider
  const member = await user('member@acme.example')
  const theirs = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'
  const created = await scim('POST', '/Groups', {
    ...{ schemas: [SCIM_URNS.group, theirs], displayName: 'Entra', externalId: 'eg' },
    meta: { resourceType: 'Group' },
  })
  expect([created.status, created.body.members]).toEqual([201, []])
  const { id } = created.body
  const path = `/Groups/${id}`
  for (const query of ['?', '?filter=displayName%20eq%20%22Entra%22&']) {
    const { body } = await scim('GET', `/Groups${query}excludedAttributes=members`)
    expect(body.Resources).toMatchObject([{ id, displayName: 'Entra' }])
    expect(body.Resources[0]).not.toHaveProperty('members')
  }
  const isIn = async () =>
    (await found(`id eq "${id}" and members eq "${member}"`, 'Groups')).totalResults
  const value = [{ $ref: null, value: member }]
  const answers = []
  for (const op of ['Add', 'Remove'])
    answers.push((await patch(path, { op, path: 'members', value })).status, await isIn())
  expect(answers).toEqual([204, 1, 204, 0])
  const renamed = { op: 'Replace', path: 'displayName', value: 'Entra 2' }
  expect((await patch(path, renamed)).status).toBe(204)
  expect((await scim('DELETE', path)).status).toBe(204)
})
