/** An import of people while one of them is erased. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { groupMembers, users } from '../../../../runtime/database/schema/people.ts'
import { until } from '../../../e2e/until.ts'
import { type CoreHost, person, startCore } from '../../host.ts'
import { countWaiting, meanwhile } from '../../meanwhile.ts'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

test.each([
  ['a name', 'family_name', 'Byron'],
  ['a group', 'groups', 'Poets'],
])(
  'an import does not give %s to a person who is erased while it runs',
  async (what, column, value) => {
    const { db, call } = core
    const email = `erased-for-${column}@example.com`
    const { id } = await person(db, email)
    await db.update(users).set({ status: 'INACTIVE' }).where(eq(users.id, id))
    let erased: ReturnType<typeof call> | undefined
    // The erasure waits for the lock first; the import queues after it.
    const imported = await meanwhile(
      db,
      async (tx) => {
        await tx.execute(sql`select from users where id = ${id} for update`)
        erased = call('POST', '/operator/people/erase', { body: { email } })
        await until('the erasure waits for a lock', async () => (await countWaiting(db)) > 0)
      },
      () =>
        call('POST', '/operator/users/import', {
          ...{
            raw: `email,${column}\n${email},${value}\n`,
            headers: { 'content-type': 'text/csv' },
          },
        }),
      2,
    )
    expect((await erased)?.status, what).toBe(200)
    expect(imported.status).toBe(409)
    const [row] = await db.select().from(users).where(eq(users.id, id))
    expect([row?.email, row?.familyName]).toEqual([`erased-${id}@erased.invalid`, ''])
    expect(await db.$count(groupMembers, eq(groupMembers.userId, id))).toBe(0)
  },
)
