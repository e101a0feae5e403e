/**
 * An identity provider pushes people and groups: with bodies as Entra ID and Okta send them, and with our own
 * SCIM connector as the client. The person's access follows.
 */
import { serve } from '@hono/node-server'
import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCIM_NOT_OFFERED } from '../../../runtime/contract/endpoints/scim.ts'
import { SCIM_URNS } from '../../../runtime/contract/models/scim.ts'
import { FIRST_ADMIN } from '../../../runtime/core/sign-in/first-admin.ts'
import { groups, userRoles, users } from '../../../runtime/database/schema/people.ts'
import { scimTokens } from '../../../runtime/database/schema/scim.ts'
import { SAMPLE_TOKEN } from '../../../runtime/sample/tenants.ts'
import { until } from '../../e2e/until.ts'
import { type Directory, startDirectory } from '../directory.ts'
import {
  app,
  type CoreHost,
  domainOf,
  otherDomain,
  person,
  type Reply,
  startCore,
} from '../host.ts'
import { acme } from '../policies/acme.ts'
import { company } from '../requests/company.ts'

let core: CoreHost
let directory: Directory
let server: ReturnType<typeof serve>
let base: string
let token: string

beforeAll(async () => {
  directory = await startDirectory()
  const listening = Promise.withResolvers<number>()
  server = serve(
    {
      fetch: (request) => core.host.app.fetch(request),
      hostname: '127.0.0.1',
      port: 0,
    },
    ({ port }) => listening.resolve(port),
  )
  const own = `127.0.0.1:${await listening.promise}`
  base = `http://${own}/scim/v2`
  core = await startCore({
    KEYWAY_PRIVATE_EGRESS: `scim=${directory.host} scim=${own}`,
    KEYWAY_REQUESTS_PER_MINUTE: '100000',
  })
  await core.host.settled
  token = (await made('Entra ID')).token
})
afterAll(async () => {
  await core.stop()
  await directory.close()
  await new Promise((resolve) => server.close(resolve))
})

const made = async (name: string) =>
  (await core.call('POST', '/scim_tokens', { body: { name } })).body

/** Sends as a provider does. */
const scim = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  core.call(method, `/scim/v2${path}`, {
    token,
    ...(body === undefined ? {} : { raw: JSON.stringify(body) }),
    headers: { 'content-type': 'application/scim+json', ...headers },
  })
const patch = (path: string, ...Operations: object[]) =>
  scim('PATCH', path, { schemas: [SCIM_URNS.patch], Operations })
const found = async (filter: string, what = 'Users') =>
  (await scim('GET', `/${what}?filter=${encodeURIComponent(filter)}`)).body
const create = async (userName: string, more: object = {}): Promise<string> => {
  const { status, body } = await scim('POST', '/Users', {
    schemas: [SCIM_URNS.user],
    ...{ userName, active: true, ...more },
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.id
}
const expectRefused = ({ status, body, headers }: Reply, wanted: number, scimType?: string) => {
  expect(body).toMatchObject({ schemas: [SCIM_URNS.error], status: String(wanted) })
  expect([status, body.scimType]).toEqual([wanted, scimType])
  expect(headers.get('content-type')).toMatch(/^application\/scim\+json/)
}
const statusOf = async (id: string) => (await core.call('GET', `/users/${id}`)).body.status
const events = async (type: string) =>
  (await core.call('GET', `/activity_logs?event_type=${type}&limit=100`)).body.items.filter(
    (one: { event_type: string }) => one.event_type === type,
  )

describe('tokens', () => {
  test('are valid only for SCIM, and SCIM accepts no other tokens', async () => {
    expect(token).toMatch(/^lss_/)
    expect((await core.call('GET', '/users/current', { token })).status).toBe(401)
    expect((await core.call('GET', '/users', { token })).status).toBe(401)
    for (const other of [null, 'lss_', `lss_${'x'.repeat(43)}`, token.slice(0, -1), undefined]) {
      const reply = await core.call(
        'GET',
        '/scim/v2/Users',
        other === undefined ? {} : { token: other },
      )
      expectRefused(reply, 401)
      expect(reply.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('are created and revoked by an admin, stored as hashes, and revocations are logged', async () => {
    const plain = await person(core.db, 'plain@acme.example')
    const body = { name: 'Mine' }
    const refused = await core.call('POST', '/scim_tokens', { token: plain.token, body })
    expect(refused.status).toBe(403)
    const { id, token: second, prefix } = await made('Okta')
    expect(second.startsWith(prefix)).toBe(true)
    const [row] = await core.db.select().from(scimTokens).where(eq(scimTokens.id, id))
    expect(JSON.stringify(row)).not.toContain(second)
    const seen = async () =>
      (await core.call('GET', '/scim/v2/Users?count=0', { token: second })).status
    expect(await seen()).toBe(200)
    for (const _twice of [1, 2])
      expect((await core.call('DELETE', `/scim_tokens/${id}`)).status).toBe(204)
    expect(await seen()).toBe(401)
    const { items } = (await core.call('GET', '/scim_tokens')).body
    expect(items.map((one: { name: string }) => one.name)).toEqual(['Okta', 'Entra ID'])
    expect(await events('SCIM_TOKEN_REVOKED')).toHaveLength(1)
  })
})

test('replies show the remaining requests, and have no Retry-After below the limit', async () => {
  for (const path of ['/Users?count=0', '/Users/none']) {
    const { headers } = await scim('GET', path)
    expect(Number(headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0)
    expect(headers.get('retry-after')).toBeNull()
  }
})

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/scim+json, text/plain'])(
  'a body of the content type %s is refused with a message that names it',
  async (type) => {
    const reply = await scim(
      'POST',
      '/Users',
      { userName: 'a@b.example' },
      { 'content-type': type },
    )
    expectRefused(reply, 400, 'invalidSyntax')
    expect(reply.body.detail).toBe(`The content type is "${type}"; send application/scim+json`)
  },
)

test('locations use the scheme that a TLS proxy reports', async () => {
  const located = async (headers: Record<string, string>) => {
    const reply = await fetch(`${base}/ServiceProviderConfig`, {
      headers: { authorization: `Bearer ${token}`, ...headers },
    })
    return ((await reply.json()) as { meta: { location: string } }).meta.location
  }
  expect(await located({})).toBe(`${base}/ServiceProviderConfig`)
  expect(await located({ 'x-forwarded-proto': 'https' })).toBe(
    `${base.replace('http:', 'https:')}/ServiceProviderConfig`,
  )
})

test('the service describes itself, and returns 501 for what it does not offer', async () => {
  const config = (await scim('GET', '/ServiceProviderConfig')).body
  expect(config).toMatchObject({ patch: { supported: true }, bulk: { supported: false } })
  const { user, enterprise, group: groupSchema } = SCIM_URNS
  for (const [path, ids] of [
    ['/ResourceTypes', ['User', 'Group']],
    ['/Schemas', [user, enterprise, groupSchema]],
  ] as const) {
    const { Resources } = (await scim('GET', path)).body
    expect(Resources.map(({ id }: { id: string }) => id)).toEqual(ids)
    for (const { id } of Resources)
      expect((await scim('GET', `${path}/${encodeURIComponent(id)}`)).body.id).toBe(id)
    expectRefused(await scim('GET', `${path}/none`), 404)
    expectRefused(await scim('GET', `${path}?filter=${encodeURIComponent('id eq "User"')}`), 403)
  }
  // Called without the OpenAPI check, because the document has no such paths.
  const statusAt = async (path: string) => {
    const reply = await core.host.app.request(`/scim/v2${path}`, { headers: { host: 'localhost' } })
    return ((await reply.json()) as { status: string }).status
  }
  expect(await Promise.all(SCIM_NOT_OFFERED.map(statusAt))).toEqual(
    SCIM_NOT_OFFERED.map(() => '501'),
  )
  expect(await statusAt('/Devices')).toBe('404')
  expectRefused(await scim('PUT', '/Users', {}), 405)
})

describe('users', () => {
  test('are created, found, changed and returned as Entra ID expects', async () => {
    expect(await found('userName eq "Grace@acme.example"')).toMatchObject({ totalResults: 0 })
    const eve = await create('eve@acme.example')
    const reply = await scim('POST', '/Users', {
      schemas: [SCIM_URNS.user, SCIM_URNS.enterprise],
      externalId: '00ujl29u0le5T6Aj10h7',
      userName: 'Grace@acme.example',
      active: true,
      displayName: 'Grace Hopper',
      emails: [{ primary: true, type: 'work', value: 'grace.hopper@acme.example' }],
      name: { formatted: 'Grace Hopper', familyName: 'Hopper', givenName: 'Grace' },
      meta: { resourceType: 'User' },
      phoneNumbers: [{ type: 'work', value: '1' }],
      shoeSize: 38,
      [SCIM_URNS.enterprise]: { department: 'Navy', manager: { value: eve } },
    })
    expect(reply.status).toBe(201)
    const { id, meta } = reply.body
    expect(meta).toMatchObject({ resourceType: 'User', location: reply.headers.get('location') })
    expect(reply.body).toMatchObject({
      userName: 'Grace@acme.example',
      externalId: '00ujl29u0le5T6Aj10h7',
      name: { givenName: 'Grace' },
      emails: [{ value: 'grace.hopper@acme.example', type: 'work', primary: true }],
      [SCIM_URNS.enterprise]: { department: 'Navy', manager: { value: eve } },
    })
    expect(reply.body).not.toHaveProperty('shoeSize')
    expect((await found('userName eq "GRACE@acme.example"')).Resources[0].id).toBe(id)
    const { body: known } = await core.call('GET', `/users/${id}?expand=custom_attributes`)
    expect(known).toMatchObject({ email: 'grace.hopper@acme.example', status: 'ACTIVE' })
    expect(known.custom_attributes.department.value).toBe('Navy')

    const operations = [
      { op: 'Replace', path: 'name.familyName', value: 'Murray' },
      { op: 'Add', path: 'emails[type eq "work"].value', value: 'grace@acme.example' },
      { op: 'Replace', value: { [`${SCIM_URNS.enterprise}:department`]: 'Yale', active: 'True' } },
    ]
    const changed = await patch(`/Users/${id}`, ...operations)
    expect(changed.body).toMatchObject({
      name: { familyName: 'Murray' },
      emails: [{ value: 'grace@acme.example' }],
      [SCIM_URNS.enterprise]: { department: 'Yale' },
    })
    const before = (await events('PUSHED_USER_CHANGED')).length
    expect((await patch(`/Users/${id}`, ...operations)).body).toEqual(changed.body)
    expect(await events('PUSHED_USER_CHANGED')).toHaveLength(before)

    const put = await scim('PUT', `/Users/${id}`, { userName: 'grace@acme.example' })
    expect(put.body.active).toBe(true)
    expect(put.body).not.toHaveProperty('name')
    expect(put.body).not.toHaveProperty([SCIM_URNS.enterprise])
  })

  test('have unique names and addresses', async () => {
    const id = await create('twice@acme.example', { emails: [{ value: 'one@acme.example' }] })
    const again = (userName: string, value: string) =>
      scim('POST', '/Users', { userName, emails: [{ value }] })
    expectRefused(await again('TWICE@acme.example', 'two@acme.example'), 409, 'uniqueness')
    expectRefused(await again('other@acme.example', 'ONE@acme.example'), 409, 'uniqueness')
    const other = await create('other@acme.example')
    const taken = { op: 'replace', path: 'userName', value: 'twice@acme.example' }
    expectRefused(await patch(`/Users/${other}`, taken), 409, 'uniqueness')
    const both = await Promise.all(
      [1, 2].map(() => again('race@acme.example', 'race@acme.example')),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    expect((await scim('GET', `/Users/${id}`)).body.userName).toBe('twice@acme.example')
  })

  test.each<[string, object, string]>([
    ['a user without a userName', { active: true }, 'invalidValue'],
    ['a userName that is not an address', { userName: 'ada' }, 'invalidValue'],
    ['a userName that is a list', { userName: ['a@x.org'] }, 'invalidValue'],
    ['an unknown manager', { userName: 'm@x.org', manager: 'nobody' }, 'invalidValue'],
    ['a userName with NUL', { userName: 'a\u0000@x.org' }, 'invalidSyntax'],
  ])('%s is refused', async (_, body, scimType) => {
    expectRefused(await scim('POST', '/Users', body), 400, scimType)
  })

  test('are not changed if the caller has seen another version', async () => {
    const id = await create('etag@acme.example')
    const { headers } = await scim('GET', `/Users/${id}`)
    const etag = headers.get('etag') ?? ''
    const same = await scim('GET', `/Users/${id}`, undefined, { 'if-none-match': etag })
    expect(same.status).toBe(304)
    const titled = { Operations: [{ op: 'replace', path: 'title', value: 'Dr' }] }
    const put = (tag: string) => scim('PATCH', `/Users/${id}`, titled, { 'if-match': tag })
    expectRefused(await put('W/"other"'), 412)
    expect((await put(etag)).status).toBe(200)
    expectRefused(await put(etag), 412)
  })

  test.each([
    ['userName sw "filter-"', ['filter-a', 'filter-b']],
    ['userName eq "filter-A@acme.example"', ['filter-a']],
    ['externalId eq "ext-a"', ['filter-a']],
    ['externalId eq "EXT-A"', []],
    ['emails.value eq "filter-b@acme.example"', ['filter-b']],
    ['emails[type eq "work"].value eq "Filter-B@acme.example"', ['filter-b']],
    ['emails[type eq "work" and value co "FILTER-"]', ['filter-a', 'filter-b']],
    ['emails[type eq "home"] and userName sw "filter-"', []],
    ['userName sw "filter-" and (emails.type eq "work")', ['filter-a', 'filter-b']],
    ['userName sw "filter-" and emails.primary eq false', []],
    ['userName co "filter-" and active eq false', ['filter-b']],
    ['emails pr and userName sw "filter-b"', ['filter-b']],
    ['userName sw "filter-" and not (title pr)', ['filter-b']],
    ['title eq "o\'clock % _ \\\\"', ['filter-a']],
    [`${SCIM_URNS.enterprise}:department eq "Filters"`, ['filter-a']],
    ['name.givenName ew "ter" and (title pr or title eq null)', ['filter-a']],
    [
      'meta.created gt "2020-01-01T00:00:00Z" and userName ew "filter-b@acme.example"',
      ['filter-b'],
    ],
  ])('filter %s', async (filter, names) => {
    if ((await found('userName sw "filter-"')).totalResults === 0) {
      await create('filter-a@acme.example', {
        ...{ externalId: 'ext-a', title: "o'clock % _ \\", name: { givenName: 'Filter' } },
        [SCIM_URNS.enterprise]: { department: 'Filters' },
      })
      await create('filter-b@acme.example', { active: false })
    }
    const { Resources } = await found(filter)
    expect(Resources.map((one: { userName: string }) => one.userName.split('@')[0])).toEqual(names)
  })

  test.each([
    'userName eq',
    'shoeSize eq 38',
    'active gt true',
    'emails[value',
    'meta.created eq "x"',
    'meta.created gt "0000-01-01T00:00:00Z"',
    'meta.created gt "+275760-09-13T00:00:00Z"',
    'meta.created gt "0001-01-01T00:00:00+14:00"',
    'meta.lastModified lt "9999-12-31T23:59:59-14:00"',
    'meta.created gt "2026-02-31T00:00:00Z"',
    'emails[constructor eq "x"]',
    `${'('.repeat(900)}userName pr${')'.repeat(900)}`,
    `${'not ('.repeat(300)}userName pr${')'.repeat(300)}`,
    `${'emails['.repeat(200)}value pr${']'.repeat(200)}`,
    `userName eq "${'\\'.repeat(900)}`,
    `id eq "a\\u0000"`,
    `id eq "\\ud800"`,
  ])('filter %s is refused', async (filter) => {
    const path = `/Users?filter=${encodeURIComponent(filter)}`
    expectRefused(await scim('GET', path), 400, 'invalidFilter')
  })

  test('are paged without duplicates, with only the requested attributes', async () => {
    const { totalResults: total } = (await scim('GET', '/Users?count=0')).body
    const ids = new Set<string>()
    for (let startIndex = 1; startIndex <= total; startIndex += 2) {
      const path = `/Users?startIndex=${startIndex}&count=2&attributes=userName`
      for (const one of (await scim('GET', path)).body.Resources) {
        expect(Object.keys(one).sort()).toEqual(['id', 'schemas', 'userName'])
        ids.add(one.id)
      }
    }
    expect(ids.size).toBe(total)
    expectRefused(await scim('GET', '/Users?startIndex=x'), 400, 'invalidValue')
  })
})

describe('groups', () => {
  test('are created, changed and deleted as Okta and Entra ID do it', async () => {
    const [a, b, c] = [
      await create('group-a@acme.example'),
      await create('group-b@acme.example'),
      await create('group-c@acme.example'),
    ]
    const reply = await scim('POST', '/Groups', {
      schemas: [SCIM_URNS.group],
      ...{ displayName: 'Pilots', externalId: 'g-1', members: [{ value: a }] },
    })
    expect(reply.status).toBe(201)
    const at = `/Groups/${reply.body.id}`
    const members = async () =>
      (await scim('GET', at)).body.members.map(({ value }: { value: string }) => value).sort()
    expectRefused(await scim('POST', '/Groups', { displayName: 'Pilots' }), 409, 'uniqueness')
    const join = { op: 'Add', path: 'members', value: [{ value: b }, { value: c }] }
    for (const _twice of [1, 2]) expect((await patch(at, join)).status).toBe(204)
    expect(await members()).toEqual([a, b, c].sort())
    await patch(at, { op: 'remove', path: `members[value eq "${a}"]` })
    await patch(at, { op: 'Remove', path: 'members', value: [{ value: b }] })
    expect(await members()).toEqual([c])
    expect((await scim('GET', `/Users/${c}`)).body.groups).toMatchObject([{ display: 'Pilots' }])
    await patch(at, { op: 'replace', value: { id: reply.body.id, displayName: 'Captains' } })
    const inCore = await core.call('GET', '/groups?name=Captains&exact_match=true')
    expect(inCore.body.items).toMatchObject([{ id: reply.body.id, group_lifecycle: 'NATIVE' }])
    const list = await scim('GET', '/Groups?excludedAttributes=members')
    expect(list.body.Resources[0]).not.toHaveProperty('members')
    for (const filter of [
      'displayName eq "captains"',
      'externalId eq "g-1"',
      `members.value eq "${c}"`,
    ])
      expect((await found(filter, 'Groups')).totalResults).toBe(1)
    const nobody = { op: 'add', path: 'members', value: [{ value: reply.body.id }] }
    expectRefused(await patch(at, nobody), 400, 'invalidValue')
    expect((await scim('PUT', at, { displayName: 'Captains' })).body.members).toEqual([])
    expect((await scim('DELETE', at)).status).toBe(204)
    expectRefused(await scim('GET', at), 404)
    const again = await scim('POST', '/Groups', {
      displayName: 'Captains',
      members: [{ value: a }],
    })
    expect(again.body.id).toBe(reply.body.id)
    expect(await events('PUSHED_GROUP_CHANGED')).toHaveLength(5)
  })

  test('of apps are not visible to a provider', async () => {
    const appId = await app(core.db, 'Synced')
    const domainId = await domainOf(core.db)
    await core.db.insert(groups).values({ domainId, appId, name: 'Of an app' })
    expect((await found('displayName eq "Of an app"', 'Groups')).totalResults).toBe(0)
  })
})

test('a token sees and changes only its own domain', async () => {
  const other = await otherDomain(core.db)
  const theirs = await person(core.db, 'theirs@other.example', [], other)
  expectRefused(await scim('GET', `/Users/${theirs.id}`), 404)
  expectRefused(await patch(`/Users/${theirs.id}`, { op: 'remove', path: 'title' }), 404)
  expectRefused(await scim('DELETE', `/Users/${theirs.id}`), 404)
  expect((await found('userName eq "theirs@other.example"')).totalResults).toBe(0)
  const members = [{ value: theirs.id }]
  expectRefused(await scim('POST', '/Groups', { displayName: 'X', members }), 400, 'invalidValue')
  const body = { userName: 'm@acme.example', manager: theirs.id }
  expectRefused(await scim('POST', '/Users', body), 400, 'invalidValue')
  const { id, token: second } = await made('Theirs')
  await core.db.update(scimTokens).set({ domainId: other }).where(eq(scimTokens.id, id))
  const seen = await core.call('GET', '/scim/v2/Users', { token: second })
  expect(seen.body.Resources.map((one: { id: string }) => one.id)).toEqual([theirs.id])
  const name = { userName: 'eve@acme.example' }
  const same = await core.call('POST', '/scim/v2/Users', { token: second, body: name })
  expect(same.status).toBe(201)
})

test('the last admin cannot be removed, and the host’s own admin is not visible', async () => {
  expect((await found(`userName eq "${FIRST_ADMIN}"`)).totalResults).toBe(0)
  const boss = await person(core.db, 'boss@acme.example', ['Admin'])
  const [first] = await core.db.select().from(users).where(eq(users.email, FIRST_ADMIN))
  expectRefused(await scim('GET', `/Users/${first?.id}`), 404)
  const role = and(eq(userRoles.userId, first?.id ?? ''), eq(userRoles.role, 'Admin'))
  const [kept] = await core.db.delete(userRoles).where(role).returning()
  const off = await patch(`/Users/${boss.id}`, { op: 'replace', path: 'active', value: false })
  const gone = await scim('DELETE', `/Users/${boss.id}`)
  if (kept) await core.db.insert(userRoles).values(kept)
  for (const reply of [off, gone]) {
    expectRefused(reply, 409)
    expect(reply.body.detail).toMatch(/last Admin/)
  }
  expect(await statusOf(boss.id)).toBe('ACTIVE')
})

test('our own connector creates, finds, changes and deactivates a person, whose access follows', async () => {
  const people = acme(core)
  const appId = await company(core).connected(directory.app)
  await people.policy('Pilots', [{ id: appId, is_preapproved: true }], {
    access_condition: { attribute: 'identity.department', equals: 'Pilots' },
  })
  const call = async (capability: string, request: object) => {
    const envelope = { auth: { token: { token } }, settings: { base_url: base }, request }
    const { body } = await core.call('POST', `/connectors/scim/${capability}`, { body: envelope })
    if (body.is_error) throw new Error(JSON.stringify(body.error))
    return body.response
  }
  expect(await call('validate_credentials', {})).toMatchObject({ valid: true })
  const email = 'amelia@acme.example'
  const { id } = await call('create_account', {
    ...{ email, given_name: 'Amelia', family_name: 'Earhart', entitlements: [] },
    department: 'Pilots',
  })
  const listed = await call('list_accounts', {})
  expect(listed.find((one: { email: string }) => one.email === email)).toMatchObject({
    ...{ integration_specific_id: id, given_name: 'Amelia', user_status: 'ACTIVE' },
  })
  await people.reach(id, 'COMPLETED')
  const inApp = async () => {
    const authorization = `Bearer ${SAMPLE_TOKEN}`
    const url = `${directory.app.settings.base_url}/Users?count=1000`
    const { Resources } = JSON.parse(
      await (await fetch(url, { headers: { authorization } })).text(),
    )
    return Resources.find((one: { userName: string }) => one.userName === email)?.active
  }
  expect(await inApp()).toBe(true)
  await call('update_account', { id, title: 'Captain' })
  expect((await scim('GET', `/Users/${id}`)).body.title).toBe('Captain')
  const { id: group } = (await scim('POST', '/Groups', { displayName: 'Crew' })).body
  const membersOfGroup = async () => (await scim('GET', `/Groups/${group}`)).body.members
  const grant = {
    account_integration_specific_id: id,
    ...{ resource_integration_specific_id: '', resource_type: '', entitlement_type: 'GROUP' },
    entitlement_integration_specific_id: group,
  }
  expect(await call('assign_entitlement', grant)).toEqual({ assigned: true })
  expect((await core.call('GET', `/groups/${group}/users`)).body.items).toMatchObject([{ id }])

  for (const _twice of [1, 2])
    expect(await call('deactivate_account', { account_id: id })).toMatchObject({
      deactivated: true,
    })
  expect((await scim('GET', `/Users/${id}`)).body.active).toBe(false)
  await until('the person is INACTIVE and removed from the app', async () =>
    (await statusOf(id)) === 'INACTIVE' && (await inApp()) === false ? true : null,
  )
  const own = (await events('USER_OFFBOARDING_SCHEDULED')).filter(
    (one: { event_metadata: { user_id: string } }) => one.event_metadata.user_id === id,
  )
  expect(own).toHaveLength(1)

  await until('the person can be reactivated', async () =>
    (await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' })).status === 200
      ? true
      : null,
  )
  expect(await statusOf(id)).toBe('ACTIVE')
  expect(await call('delete_account', { account_id: id })).toMatchObject({ deleted: true })
  expectRefused(await scim('GET', `/Users/${id}`), 404)
  expect(await membersOfGroup()).toEqual([])
  await until('the person is INACTIVE', async () =>
    (await statusOf(id)) === 'INACTIVE' ? true : null,
  )
  const again = await until('the person can be created again', async () => {
    const reply = await scim('POST', '/Users', { userName: email })
    return reply.status === 201 ? reply.body : null
  })
  expect(again).toMatchObject({ active: true })
  expect(again.id).not.toBe(id)
  for (const gone of ['name', 'title', 'groups', SCIM_URNS.enterprise])
    expect(again[gone] ?? []).toEqual([])
  expect(await inApp()).toBe(false)
})
