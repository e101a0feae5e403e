/** Rows and lists in PostgreSQL's binary form. */
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { uuidList } from '../../../runtime/core/sync/columns.ts'
import {
  associationRows,
  COPY_ASSOCIATIONS,
} from '../../../runtime/core/sync/copied-associations.ts'
import { createKnownAccounts } from '../../../runtime/core/sync/known-accounts.ts'
import { copyIn } from '../../../runtime/database/copy-in.ts'
import { type CoreHost, startCore } from '../host.ts'
import { idBytes } from './id-bytes.ts'

let core: CoreHost
beforeAll(async () => {
  core = await startCore()
})
afterAll(() => core.stop())

test('associations are copied unchanged, in the order of their accounts, with ids of any size', async () => {
  const appId = randomUUID()
  const runId = 2 ** 33 + 7
  const known = createKnownAccounts()
  const accounts = ['ada', 'bob'].map((external) => ({ id: randomUUID(), external }))
  known.add(
    idBytes(accounts.map(({ id }) => id)),
    accounts.map(({ external }) => external),
  )
  const pairs = { accounts: [1, 0, 0, 1], entitlements: [1, 1, 2, 3] }
  const ids = new Map([
    [1, 5],
    [3, 2 ** 52 + 2 ** 31 + 1],
  ])
  const { rows, count } = associationRows({ appId, runId, known }, pairs, ids)
  expect(count).toBe(3)
  const { db } = core
  await db.transaction((tx) => copyIn(tx, COPY_ASSOCIATIONS, rows))
  const found = await db.execute(sql`select * from associations where app_id = ${appId}`)
  const row = (n: number, entitlement: number) => ({
    ...{ app_id: appId, account_id: accounts[n]?.id, entitlement_id: String(entitlement) },
    ...{ seen_run: String(runId), first_run: String(runId) },
  })
  expect(found.rows).toEqual([row(0, 5), row(1, 5), row(1, 2 ** 52 + 2 ** 31 + 1)])
})

test('an error of PostgreSQL is thrown, nothing is stored, and the connection stays usable', async () => {
  const { db } = core
  const appId = randomUUID()
  const known = createKnownAccounts()
  known.add(idBytes([randomUUID()]), ['ada'])
  const pairs = { accounts: [0, 0], entitlements: [1, 1] }
  const { rows } = associationRows({ appId, runId: 1, known }, pairs, new Map([[1, 5]]))
  const added = db.transaction((tx) => copyIn(tx, COPY_ASSOCIATIONS, rows))
  await expect(added).rejects.toMatchObject({ code: '23505' })
  const found = await db.execute(sql`select from associations where app_id = ${appId}`)
  expect(found.rows).toEqual([])
  const cut = db.transaction((tx) => copyIn(tx, COPY_ASSOCIATIONS, rows.subarray(0, 60)))
  await expect(cut).rejects.toMatchObject({ code: '22P04' })
})

test('a list of ids of any length is read unchanged', async () => {
  const { db } = core
  for (const ids of [[], [randomUUID()], Array.from({ length: 3000 }, () => randomUUID())]) {
    const { rows } = await db.execute(sql`select ${uuidList(idBytes(ids))}::uuid[]::text[] as ids`)
    expect(rows).toEqual([{ ids }])
  }
})
