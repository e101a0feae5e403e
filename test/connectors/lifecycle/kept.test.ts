import { eq, sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generations, packages } from '../../../runtime/database/schema/lifecycle.ts'
import { type CoreHost, startCore } from '../../core/host.ts'
import { operator } from './operator.ts'
import { type Made, packaged } from './packaging.ts'

let core: CoreHost
let op: ReturnType<typeof operator>
let first: Made

beforeAll(async () => {
  core = await startCore()
  op = operator(core)
  first = await packaged()
  await op.install(first)
})
afterAll(() => core.stop())

const CHANGES = ['generations', 'installed_states'].flatMap((table) => [
  `update ${table} set ${table === 'generations' ? "reason = ''" : "state = '{}'"}`,
  `delete from ${table}`,
  `truncate ${table}`,
])

test.each(CHANGES)('%s is refused to the host, and to the owner of the tables', async (words) => {
  await expect(core.db.execute(sql.raw(words))).rejects.toMatchObject({ cause: { code: '42501' } })
  const owner = new Client(await core.login())
  await owner.connect()
  await expect(owner.query(words)).rejects.toThrow(/is append-only/)
  await owner.end()
})

const isKept = async ({ digest }: Made) =>
  (
    await core.db
      .select({ digest: packages.digest })
      .from(packages)
      .where(eq(packages.digest, digest))
  ).length === 1

/** Sets the upload time of every package to two days ago. */
const age = () => core.db.update(packages).set({ uploadedAt: sql`now() - interval '2 days'` })

test('a package is kept while one of the last hundred generations names it, and then deleted', async () => {
  await op.call('DELETE', '/connectors/acme')
  await age()
  await op.upload(await packaged({ id: 'other' }))
  expect(await isKept(first)).toBe(true)

  const [newest] = (await core.db
    .select()
    .from(generations)
    .orderBy(sql`number desc`)
    .limit(1)) as [typeof generations.$inferSelect]
  await core.db
    .insert(generations)
    .values(
      Array.from({ length: 100 }, (_, index) => ({ ...newest, number: newest.number + index + 1 })),
    )
  await age()
  const latest = await packaged({ id: 'other', version: '1.1.0' })
  await op.upload(latest)
  expect([await isKept(first), await isKept(latest)]).toEqual([false, true])
})
