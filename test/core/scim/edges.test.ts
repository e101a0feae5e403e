/** Rare, concurrent and badly ordered calls of providers, and their effect on people. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { userRoles, users } from '../../../runtime/database/schema/people.ts'
import { until } from '../../e2e/until.ts'
import { domainOf, person } from '../host.ts'
import { type Provider, refusal, startProvider } from './provider.ts'

let provider: Provider

beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.core.stop())

const members = async (id: string): Promise<string[]> =>
  (await provider.scim('GET', `/Groups/${id}`)).body.members.map(
    ({ value }: { value: string }) => value,
  )

describe('users', () => {
  test('cannot have the address of an imported person as userName', async () => {
    const { id } = await person(provider.core.db, 'imported@acme.example')
    const body = { userName: 'Imported@acme.example', emails: [{ value: 'other@acme.example' }] }
    expect(refusal(await provider.scim('POST', '/Users', body))).toEqual([409, 'uniqueness'])
    expect((await provider.found('userName eq "imported@acme.example"')).Resources[0].id).toBe(id)
  })

  test('that are imported at the same time cause a conflict', async () => {
    await provider.user('clash@acme.example', { emails: [{ value: 'clash-2@acme.example' }] })
    const { id } = await person(provider.core.db, 'clash@acme.example')
    const titled = { op: 'add', path: 'title', value: 'Dr' }
    expect(refusal(await provider.patch(`/Users/${id}`, titled))).toEqual([409, 'uniqueness'])
    const domainId = await domainOf(provider.core.db)
    const inserted = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const imports = provider.core.db.transaction(async (tx) => {
      await tx.insert(users).values({ domainId, email: 'raced@acme.example' })
      inserted.resolve()
      await over.promise
    })
    await inserted.promise
    const pushed = provider.scim('POST', '/Users', { userName: 'raced@acme.example' })
    await until('the push waits for a lock', async () => {
      const { rows } = await provider.core.db.execute(sql`select 1 from pg_locks w
        join pg_locks o on o.pid = w.pid and o.database = (select oid from pg_database where datname = current_database())
        where w.locktype = 'transactionid' and not w.granted`)
      return rows.length > 0 ? true : null
    })
    over.resolve()
    await imports
    expect(refusal(await pushed)).toEqual([409, 'uniqueness'])
  })

  test('need a userName that is not blank', async () => {
    const body = { userName: ' ', emails: [{ value: 'blank@acme.example' }] }
    expect(refusal(await provider.scim('POST', '/Users', body))).toEqual([400, 'invalidValue'])
    const path = `/Users/${await provider.user('blank@acme.example')}`
    const blank = { op: 'replace', path: 'userName', value: ' ' }
    expect(refusal(await provider.patch(path, blank))).toEqual([400, 'invalidValue'])
  })

  test('can be sent again with a manager who was deleted', async () => {
    const manager = await provider.user('gone-manager@acme.example')
    const body = { userName: 'of-gone@acme.example', manager }
    const id = await provider.user(body.userName, body)
    expect((await provider.scim('DELETE', `/Users/${manager}`)).status).toBe(204)
    const put = await provider.scim('PUT', `/Users/${id}`, { ...body, title: 'Dr' })
    expect([put.status, put.body.title]).toEqual([200, 'Dr'])
  })

  test('keep their status if active is null', async () => {
    const id = await provider.user('null@acme.example', { active: null })
    const put = { userName: 'null@acme.example', active: null }
    expect((await provider.scim('PUT', `/Users/${id}`, put)).body.active).toBe(true)
    expect(
      (await provider.patch(`/Users/${id}`, { op: 'replace', value: { active: false } })).status,
    ).toBe(200)
    expect((await provider.scim('PUT', `/Users/${id}`, put)).body.active).toBe(false)
  })

  test('have a later lastModified after a change of externalId', async () => {
    const id = await provider.user('later@acme.example')
    const { meta } = (await provider.scim('GET', `/Users/${id}`)).body
    const { body } = await provider.patch(`/Users/${id}`, {
      op: 'add',
      path: 'externalId',
      value: 'e-1',
    })
    expect(Date.parse(body.meta.lastModified)).toBeGreaterThan(Date.parse(meta.lastModified))
  })

  test('lose their tokens at the moment of deactivation', async () => {
    const { id, token: own } = await person(provider.core.db, 'ended@acme.example')
    expect((await provider.core.call('GET', '/users/current', { token: own })).status).toBe(200)
    await provider.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })
    expect((await provider.core.call('GET', '/users/current', { token: own })).status).toBe(401)
  })

  test('who are deleted lose their roles, and cannot become members or managers', async () => {
    const { id } = await person(provider.core.db, 'roles@acme.example', ['Admin', 'App Admin'])
    const crew = await provider.group('Before', [id])
    expect((await provider.scim('DELETE', `/Users/${id}`)).status).toBe(204)
    const lost = (await provider.logged('USER_ROLE_REMOVED')).map(
      (one: { event_metadata: { role: string } }) => one.event_metadata.role,
    )
    expect(lost.sort()).toEqual(['Admin', 'App Admin'])
    const join = { op: 'add', path: 'members', value: [{ value: id }] }
    expect(refusal(await provider.patch(`/Groups/${crew}`, join))).toEqual([400, 'invalidValue'])
    const body = { userName: 'report@acme.example', manager: id }
    expect(refusal(await provider.scim('POST', '/Users', body))).toEqual([400, 'invalidValue'])
    await until('the person can be created again', async () =>
      (await provider.scim('POST', '/Users', { userName: 'roles@acme.example' })).status === 201
        ? true
        : null,
    )
    const roles = await provider.core.db.select().from(userRoles).where(eq(userRoles.userId, id))
    expect(roles).toEqual([])
  })

  test('are found by attributes that are stored under a name of another case', async () => {
    const id = await provider.user('kept@acme.example', { title: 'Kept' })
    await provider.core.db.execute(sql`update users set custom_attributes =
      '{"Title": {"type": "TEXT", "value": "Kept"}, "COSTCENTER": {"type": "TEXT", "value": "k-7"}}' where id = ${id}`)
    for (const filter of ['title eq "kept"', 'title pr and costCenter sw "k-"'])
      expect(
        (await provider.found(filter)).Resources.map((one: { id: string }) => one.id),
      ).toContain(id)
    expect((await provider.found('not (title pr) and userName sw "kept@"')).totalResults).toBe(0)
    expect((await provider.found(`id eq "${id}" and manager eq "none"`)).totalResults).toBe(0)
    expect((await provider.found(`id eq "${id}"`)).totalResults).toBe(1)
  })

  test('pushed many times at once leave database connections for other calls', async () => {
    const id = await provider.user('many@acme.example')
    const domainId = await domainOf(provider.core.db)
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holder = provider.core.db.transaction(async (tx) => {
      await tx.execute(
        sql`select pg_advisory_xact_lock(${0x6b6578}, hashtext(${`scim ${domainId}`}))`,
      )
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const pushes = Array.from({ length: 60 }, (_, n) =>
      provider.patch(`/Users/${id}`, { op: 'replace', path: 'title', value: `t-${n}` }),
    )
    const reader = await provider.core.call('GET', '/users/current')
    held.resolve()
    await holder
    expect(reader.status).toBe(200)
    expect((await Promise.all(pushes)).map(({ status }) => status)).toEqual(pushes.map(() => 200))
  })
})

describe('groups', () => {
  test('keep the other members when one member is replaced', async () => {
    const [a, b, c] = [
      await provider.user('exchange-a@acme.example'),
      await provider.user('exchange-b@acme.example'),
      await provider.user('exchange-c@acme.example'),
    ]
    const id = await provider.group('Exchange', [a, b])
    const path = `members[value eq "${a}"]`
    await provider.patch(`/Groups/${id}`, { op: 'replace', path, value: { display: 'A' } })
    expect(await members(id)).toEqual([a, b].sort())
    await provider.patch(`/Groups/${id}`, { op: 'replace', path, value: { value: c } })
    expect(await members(id)).toEqual([b, c].sort())
  })

  test.each([
    ['members.value ne "x"', 400],
    ['members co "a"', 400],
    ['members pr', 400],
    ['members[value eq "x"] or members eq "x"', 200],
  ])('filter %s', async (filter, status) => {
    const reply = await provider.scim('GET', `/Groups?filter=${encodeURIComponent(filter)}`)
    expect(refusal(reply)).toEqual([status, status === 400 ? 'invalidFilter' : undefined])
  })

  test('are found by their id in any case', async () => {
    const id = await provider.group('Any case')
    const { Resources } = await provider.found(`id eq "${id.toUpperCase()}"`, 'Groups')
    expect(Resources.map((one: { id: string }) => one.id)).toEqual([id])
    expect(await provider.found('id eq "x"', 'Groups')).toMatchObject({ totalResults: 0 })
  })

  test('cannot have names that differ only in case', async () => {
    const id = await provider.group('Case')
    const taken = [409, 'uniqueness']
    expect(refusal(await provider.scim('POST', '/Groups', { displayName: 'cASE' }))).toEqual(taken)
    const other = await provider.group('Other case')
    const named = { op: 'replace', path: 'displayName', value: 'case' }
    expect(refusal(await provider.patch(`/Groups/${other}`, named))).toEqual(taken)
    expect((await provider.patch(`/Groups/${id}`, named)).status).toBe(204)
    expect((await provider.scim('DELETE', `/Groups/${id}`)).status).toBe(204)
    expect(await provider.group('CASE')).toBe(id)
    expect((await provider.scim('GET', `/Groups/${id}`)).body.displayName).toBe('CASE')
  })

  test('record a removal under the old name if they are renamed in the same call', async () => {
    const a = await provider.user('old-name@acme.example')
    const id = await provider.group('Old name', [a])
    await provider.patch(
      `/Groups/${id}`,
      { op: 'replace', path: 'displayName', value: 'New name' },
      { op: 'remove', path: 'members', value: [{ value: a }] },
    )
    const { rows } =
      await provider.core.db.execute(sql`select old_value, new_value from identity_events
      where user_id = ${a} and changed_field = 'groups' order by id`)
    expect(rows).toEqual([
      { old_value: null, new_value: 'Old name' },
      { old_value: 'Old name', new_value: null },
    ])
  })

  test('log a change of externalId, and keep a history of memberships', async () => {
    const a = await provider.user('span@acme.example')
    const id = await provider.group('Spans', [a])
    await provider.patch(`/Groups/${id}`, { op: 'replace', path: 'externalId', value: 'g-1' })
    expect(await provider.logged('PUSHED_GROUP_CHANGED')).toContainEqual(
      expect.objectContaining({
        event_metadata: expect.objectContaining({ external_id: 'g-1', external_id_before: null }),
      }),
    )
    await provider.patch(`/Groups/${id}`, { op: 'remove', path: 'members', value: [{ value: a }] })
    await provider.patch(`/Groups/${id}`, { op: 'add', path: 'members', value: [{ value: a }] })
    const { rows } = await provider.core.db.execute<{ over: boolean }>(sql`
      select until is not null as over from member_spans where group_id = ${id} order by id`)
    expect(rows).toEqual([{ over: true }, { over: false }])
  })
})
