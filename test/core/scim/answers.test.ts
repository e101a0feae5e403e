/** The content of replies: requested attributes, versions and members. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCIM_LIMITS, SCIM_URNS } from '../../../runtime/contract/models/scim.ts'
import { domainOf } from '../host.ts'
import { type Provider, refusal, startProvider } from './provider.ts'

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.core.stop())

describe('a reply has only the requested attributes', () => {
  test.each<[string, object]>([
    [
      `attributes=${SCIM_URNS.enterprise}:department`,
      { [SCIM_URNS.enterprise]: { department: 'Sales' } },
    ],
    ['attributes=costCenter', { [SCIM_URNS.enterprise]: { costCenter: '7' } }],
    [`attributes=${SCIM_URNS.user}:userName`, { userName: 'shape@acme.example' }],
    ['attributes=NAME.givenName', { name: { givenName: 'Ada' } }],
    ['attributes=emails.value,title', { title: 'Dr', emails: [{ value: 'shape@acme.example' }] }],
    [
      `excludedAttributes=name.formatted,meta,emails,${SCIM_URNS.enterprise}:department,schemas,id`,
      {
        ...{ userName: 'shape@acme.example', title: 'Dr', active: true },
        name: { givenName: 'Ada', familyName: 'L' },
        [SCIM_URNS.enterprise]: { costCenter: '7' },
      },
    ],
  ])('%s', async (query, wanted) => {
    const filter = 'userName eq "shape@acme.example"'
    const [known] = (await provider.found(filter)).Resources
    const id =
      known?.id ??
      (await provider.user('shape@acme.example', {
        ...{ title: 'Dr', name: { givenName: 'Ada', familyName: 'L' } },
        [SCIM_URNS.enterprise]: { department: 'Sales', costCenter: '7' },
      }))
    const schemas = [SCIM_URNS.user, SCIM_URNS.enterprise]
    expect((await provider.scim('GET', `/Users/${id}?${query}`)).body).toEqual({
      schemas,
      id,
      ...wanted,
    })
    const list = await provider.scim('GET', `/Users?filter=${encodeURIComponent(filter)}&${query}`)
    expect(list.body.Resources).toEqual([{ schemas, id, ...wanted }])
  })
})

test.each(['attributes', 'excludedAttributes'])(
  'too many names in %s are refused',
  async (name) => {
    const of = (n: number) => Array.from({ length: n }, (_, at) => `a${at}`).join()
    const asked = (list: string) => provider.scim('GET', `/Users?count=1&${name}=${list}`)
    for (const list of [of(101), 'x,'.repeat(1001)]) {
      const reply = await asked(list)
      expect(refusal(reply)).toEqual([400, 'invalidValue'])
      expect(reply.body.detail).toMatch(/at most/)
    }
    expect((await asked(`${of(100)},${of(100)}`)).status).toBe(200)
  },
)

test('only a complete resource has a version', async () => {
  const id = await provider.group('Versions', [await provider.user('version@acme.example')])
  const bare = await provider.scim('GET', `/Groups/${id}?excludedAttributes=members`)
  expect([bare.headers.get('etag'), bare.body.meta.version]).toEqual([null, undefined])
  const etag = (await provider.scim('GET', `/Groups/${id}`)).headers.get('etag') ?? ''
  const renamed = { Operations: [{ op: 'replace', path: 'displayName', value: 'Versions 2' }] }
  const send = (tag: string) =>
    provider.scim('PATCH', `/Groups/${id}`, renamed, { 'if-match': tag })
  expect((await send('W/"other"')).status).toBe(412)
  expect((await send(etag)).status).toBe(204)
  expect((await send('*')).status).toBe(204)
  const list = '/Users?filter=userName%20eq%20%22version@acme.example%22&excludedAttributes=groups'
  expect((await provider.scim('GET', list)).body.Resources[0].meta).not.toHaveProperty('version')
})

test('changing a group succeeds even if it has too many members to be returned', async () => {
  const id = await provider.group('Crowd')
  const domainId = await domainOf(provider.core.db)
  await provider.core.db.execute(sql`
    with crowd as (insert into users (domain_id, email)
      select ${domainId}::uuid, 'crowd-' || n || '@acme.example' from generate_series(0, ${SCIM_LIMITS.members}) n
      returning id)
    insert into group_members (domain_id, group_id, user_id) select ${domainId}, ${id}::uuid, id from crowd`)
  const renamed = { Operations: [{ op: 'replace', path: 'displayName', value: 'Crowds' }] }
  const reply = await provider.scim(
    'PATCH',
    `/Groups/${id}?attributes=displayName,members`,
    renamed,
  )
  expect([reply.status, reply.body.displayName]).toEqual([200, 'Crowds'])
  expect(reply.body).not.toHaveProperty('members')
  expect(refusal(await provider.scim('GET', `/Groups/${id}`))).toEqual([400, 'tooMany'])
})
