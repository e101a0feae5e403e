/** An import that sets a person to ACTIVE who is being offboarded. */
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Db } from '../../../../runtime/database/database.ts'
import { userOffboardings } from '../../../../runtime/database/schema/offboarding.ts'
import { users } from '../../../../runtime/database/schema/people.ts'
import { identityEvents } from '../../../../runtime/database/schema/sync.ts'
import { type CoreHost, domainOf, person, startCore } from '../../host.ts'
import { meanwhile } from '../../meanwhile.ts'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

const send = (raw: string, query = '') =>
  core.call('POST', `/operator/users/import${query}`, {
    ...{ raw, headers: { 'content-type': 'text/csv' } },
  })

/** Writes what the start of an offboarding writes. */
async function begin(tx: Db, id: string): Promise<void> {
  const domainId = await domainOf(tx)
  await tx.insert(userOffboardings).values({ domainId, userId: id, status: 'IN_PROGRESS' })
  await tx.update(users).set({ status: 'INACTIVE' }).where(eq(users.id, id))
}

const stored = async (id: string) => {
  const [row] = await core.db.select().from(users).where(eq(users.id, id))
  return [row?.status, row?.givenName]
}
const events = (id: string) => core.db.$count(identityEvents, eq(identityEvents.userId, id))

test('a person stays INACTIVE until their offboarding ends, and other fields are imported', async () => {
  const { db } = core
  const { id } = await person(db, 'leaves@example.com')
  await begin(db, id)
  const file = 'email,status,given_name\nleaves@example.com,ACTIVE,Lena\n'
  expect((await send(file, '?dry_run=true')).body.changed_fields).toEqual({ given_name: 1 })
  expect((await send(file)).body.changed_fields).toEqual({ given_name: 1 })
  expect(await stored(id)).toEqual(['INACTIVE', 'Lena'])
  await db
    .update(userOffboardings)
    .set({ status: 'COMPLETED' })
    .where(eq(userOffboardings.userId, id))
  expect((await send(file)).body.changed_fields).toEqual({ status: 1 })
  expect(await stored(id)).toEqual(['ACTIVE', 'Lena'])
})

test('a person whose offboarding starts during the import stays INACTIVE', async () => {
  const { db } = core
  const { id } = await person(db, 'leaves-meanwhile@example.com')
  await db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, id))
  const file = 'email,status,given_name\nleaves-meanwhile@example.com,ACTIVE,Lena\n'
  const { status } = await meanwhile(
    db,
    (tx) => begin(tx, id),
    () => send(file),
  )
  expect(status).toBe(200)
  expect(await stored(id)).toEqual(['INACTIVE', 'Lena'])
  expect(await events(id)).toBe(0)
})
