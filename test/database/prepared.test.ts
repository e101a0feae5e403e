/** Prepared statements: the same one on the pool and within transactions, parsed once per connection. */
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepared } from '../../runtime/database/prepared.ts'
import { users } from '../../runtime/database/schema/people.ts'
import { type CoreHost, domainOf, startCore } from '../core/host.ts'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

const byEmail = prepared('test: users by email', (db) =>
  db
    .select({ email: users.email, createdAt: users.createdAt })
    .from(users)
    .where(eq(users.email, sql.placeholder('email'))),
)

test('a prepared statement runs on the connection of a transaction and sees its writes', async () => {
  const email = 'prepared@acme.example'
  await core.db.transaction(async (tx) => {
    await tx.insert(users).values({ domainId: await domainOf(tx), email })
    expect(await byEmail(core.db, { email })).toEqual([])
    expect(await byEmail(tx, { email })).toEqual([{ email, createdAt: expect.any(Date) }])
    await tx.transaction(async (inner) => {
      expect(await byEmail(inner, { email })).toHaveLength(1)
    })
    expect(await byEmail(tx, { email: 'nobody@acme.example' })).toEqual([])
    const { rows } = await tx.execute(
      sql`select generic_plans + custom_plans as times from pg_prepared_statements where name = 'test: users by email'`,
    )
    expect(rows).toEqual([{ times: '3' }])
  })
  expect(await byEmail(core.db, { email })).toHaveLength(1)
})
