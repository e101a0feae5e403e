import { cpSync, mkdtempSync, renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startEmbedded } from '../../runtime/database/embedded.ts'
import { prepareHome } from '../../runtime/database/home.ts'
import { forgetDatabase } from './forget.ts'

let parent: string
let dataDir: string
beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'keyway-place-'))
  dataDir = path.join(parent, 'data')
})
afterEach(() => rm(parent, { recursive: true, force: true }))

/** What a host does with its data directory: the answer of one question. */
async function ask(dataDir: string, password: string, question: string): Promise<unknown[]> {
  const options = { dataDir, password: password.repeat(40), tell: () => {}, onLine: () => {} }
  const server = await startEmbedded(options)
  const client = new Client(server.connection)
  try {
    await client.connect()
    return (await client.query(question)).rows
  } finally {
    await client.end()
    await server.stop()
  }
}

test('a data directory that was removed and made again has a new database, with its new password', async () => {
  await ask(dataDir, 'p', 'create table left_behind ()')
  const { cluster } = await prepareHome(dataDir)
  await rm(dataDir, { recursive: true })
  expect(await ask(dataDir, 'q', "select to_regclass('left_behind') as found")).toEqual([
    { found: null },
  ])
  await forgetDatabase(dataDir)
  await rm(path.dirname(cluster), { recursive: true, force: true })
})

test('a data directory that is moved keeps its database', async () => {
  await ask(dataDir, 'p', "create table kept as select 'kept' as v")
  const moved = path.join(parent, 'moved')
  renameSync(dataDir, moved)
  expect(await ask(moved, 'p', 'select v from kept')).toEqual([{ v: 'kept' }])
  await forgetDatabase(moved)
})

test.runIf(process.getuid?.() === 0)(
  'a copy of a data directory is refused while the original is there, in words',
  async () => {
    await prepareHome(dataDir)
    const copy = path.join(parent, 'copy')
    cpSync(dataDir, copy, { recursive: true })
    await expect(prepareHome(copy)).rejects.toThrow(
      /copy is a copy of .*data, and both name the database in .*; remove .*database-place and use `keyway backup`/,
    )
    await forgetDatabase(dataDir)
  },
)
