/** Pushes of a provider during other changes of the same person. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { userOffboardings } from '../../../runtime/database/schema/offboarding.ts'
import { groups, userRoles, users } from '../../../runtime/database/schema/people.ts'
import { until } from '../../e2e/until.ts'
import { domainOf, person } from '../host.ts'
import { countWaiting, meanwhile } from '../meanwhile.ts'
import { type Provider, startProvider } from './provider.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.core.stop())

const replace = (id: string, path: string, value: unknown) =>
  provider.patch(`/Users/${id}`, { op: 'replace', path, value })

const stored = async (id: string) => {
  const [row] = await provider.core.db.select().from(users).where(eq(users.id, id))
  return row
}

test('a push keeps what a concurrent import sets', async () => {
  const { db } = provider.core
  const { id } = await person(db, 'imported@acme.example')
  const office = { office: { type: 'TEXT', value: 'Oslo' } }
  const pushed = await meanwhile(
    db,
    (tx) =>
      tx
        .update(users)
        .set({ customAttributes: office, familyName: 'Byron' })
        .where(eq(users.id, id)),
    () => replace(id, 'title', 'Countess'),
  )
  expect(pushed.status).toBe(200)
  const row = await stored(id)
  expect(row?.familyName).toBe('Byron')
  expect(row?.customAttributes).toMatchObject({
    ...office,
    title: { type: 'TEXT', value: 'Countess' },
  })
})

test('a push does not reactivate a person whose offboarding starts at the same time', async () => {
  const { db } = provider.core
  const domainId = await domainOf(db)
  const { id } = await person(db, 'leaves@acme.example')
  await db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, id))
  const pushed = await meanwhile(
    db,
    async (tx) => {
      // As the start of an offboarding does.
      await tx.insert(userOffboardings).values({ domainId, userId: id, status: 'IN_PROGRESS' })
      await tx.update(users).set({ status: 'INACTIVE' }).where(eq(users.id, id))
    },
    () => replace(id, 'active', true),
  )
  expect(pushed.status).toBe(409)
  expect((await stored(id))?.status).toBe('INACTIVE')
})

test('a push does not restore a person who is erased at the same time', async () => {
  const { db, call } = provider.core
  const { id } = await person(db, 'augusta@acme.example')
  await db.update(users).set({ status: 'INACTIVE' }).where(eq(users.id, id))
  let erased: ReturnType<typeof call> | undefined
  // The erasure waits for the lock first; the push queues after it.
  const pushed = await meanwhile(
    db,
    async (tx) => {
      await tx.execute(sql`select from users where id = ${id} for update`)
      erased = call('POST', '/operator/people/erase', { body: { email: 'augusta@acme.example' } })
      await until('the erasure waits for a lock', async () => (await countWaiting(db)) > 0)
    },
    () => replace(id, 'title', 'Countess'),
    2,
  )
  expect((await erased)?.status).toBe(200)
  expect(pushed.status).toBe(404)
  expect((await stored(id))?.email).toBe(`erased-${id}@erased.invalid`)
})

const waiting = (many: number) =>
  until(
    `${many} connections wait for a lock`,
    async () => (await countWaiting(provider.core.db)) >= many,
  )

test('a group that a push and an import create at the same time is created once', async () => {
  const { db, call } = provider.core
  const { id } = await person(db, 'pushed-member@acme.example')
  const file = 'email,groups\nimported-member@acme.example,On call\n'
  let pushed: ReturnType<typeof provider.scim> | undefined
  let imported: ReturnType<typeof call> | undefined
  await db.transaction(async (tx) => {
    // The push has created the group and waits for the lock on its member.
    await tx.select().from(users).where(eq(users.id, id)).for('update')
    const members = [{ value: id }]
    pushed = provider.scim('POST', '/Groups', { displayName: 'On call', members })
    await waiting(1)
    const more = { raw: file, headers: { 'content-type': 'text/csv' } }
    imported = call('POST', '/operator/users/import', more)
    let isOver = false
    void imported.finally(() => {
      isOver = true
    })
    await until('the import waits for a lock', async () => isOver || (await countWaiting(db)) >= 2)
  })
  expect((await pushed)?.status).toBe(201)
  expect([(await imported)?.status, (await imported)?.body.groups_made]).toEqual([200, 0])
  expect(await db.$count(groups, eq(groups.name, 'On call'))).toBe(1)
  const { Resources } = await provider.found('displayName eq "On call"', 'Groups')
  const names = Resources[0].members.map(({ display }: { display: string }) => display)
  expect(names.sort()).toEqual(['imported-member@acme.example', 'pushed-member@acme.example'])
})

test('a starting offboarding locks the person first, as a push does', async () => {
  const { db, call } = provider.core
  const { id } = await person(db, 'leaves-at-once@acme.example')
  await db.transaction(async (tx) => {
    await tx.select().from(users).where(eq(users.id, id)).for('no key update')
    const body = { user_id: id }
    const made = await call('POST', '/lifecycle-management/user-offboardings', { body })
    expect(made.status).toBe(201)
    await waiting(1)
    const free = await tx
      .select()
      .from(userOffboardings)
      .where(eq(userOffboardings.userId, id))
      .for('update', { skipLocked: true })
    expect(free).toHaveLength(1)
    expect(await tx.select().from(userRoles).for('update', { skipLocked: true })).not.toEqual([])
  })
  await until('the offboarding has begun', async () => (await stored(id))?.status === 'INACTIVE')
})

test('an import locks the people that it changes before the roles of admins, as a push does', async () => {
  const { db } = provider.core
  const { id } = await person(db, 'changes@acme.example')
  let imported: Promise<void> | undefined
  await db.transaction(async (tx) => {
    await tx.select().from(users).where(eq(users.id, id)).for('no key update')
    imported = provider.imported('email,given_name\nchanges@acme.example,Ada\n')
    await waiting(1)
    expect(await tx.select().from(userRoles).for('update', { skipLocked: true })).not.toEqual([])
  })
  await imported
  expect((await stored(id))?.givenName).toBe('Ada')
})
