import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startEmbedded } from '../../runtime/database/embedded.ts'
import { homeOf, prepareHome } from '../../runtime/database/server-home.ts'
import { digest } from '../../runtime/database/server-place.ts'
import { withDatabase } from '../kit/template.ts'
import { shows } from '../symptoms.ts'
import { forgetDatabase } from './forget.ts'

let parent: string
let dataDir: string
beforeEach(() => {
  parent = mkdtempSync(path.join(tmpdir(), 'keyway-place-'))
  dataDir = path.join(parent, 'data')
})
afterEach(() => rm(parent, { recursive: true, force: true }))

/** Starts a server as a host does for its data directory, and returns the answer to one query. */
async function ask(
  dataDir: string,
  password: string,
  question: string,
  replaceMissing = false,
): Promise<unknown[]> {
  const file = path.join(dataDir, 'database-password')
  const server = await startEmbedded({
    dataDir,
    async password() {
      if (!existsSync(file)) writeFileSync(file, password.repeat(40))
      return readFileSync(file, 'utf8').trim()
    },
    replaceMissing,
    tell: () => {},
    onLine: () => {},
  })
  const client = new Client(server.connection)
  try {
    await client.connect()
    return (await client.query(question)).rows
  } finally {
    await client.end()
    await server.stop()
  }
}

test('a data directory that was removed and created again has a new database with a new password', async () => {
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
  'a copy of a data directory is refused while the original is there',
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

const isRoot = process.getuid?.() === 0
const KEEP = "create table kept as select 'kept' as v"
const FOUND = "select to_regclass('kept')::text as found"

describe('a database that is missing', () => {
  test('is not replaced by an empty one unless that is requested', async () => {
    await withDatabase(dataDir)
    await ask(dataDir, 'p', KEEP)
    const { cluster } = homeOf(dataDir)
    await rm(cluster, { recursive: true })
    const words = new RegExp(`missing: it was in ${cluster}.*keyway restore.*--new-database`)
    await expect(ask(dataDir, 'p', FOUND)).rejects.toThrow(words)
    await ask(dataDir, 'p', FOUND).catch(({ message }: Error) =>
      shows('a start is refused: “the database of', message),
    )
    await expect(ask(dataDir, 'p', FOUND)).rejects.toThrow(words)
    // Once replaced on request, it starts without the request as well.
    expect(await ask(dataDir, 'p', FOUND, true)).toEqual([{ found: null }])
    expect(await ask(dataDir, 'p', FOUND)).toEqual([{ found: null }])
    await forgetDatabase(dataDir)
  })

  test('is also reported if the version that created it recorded nothing', async () => {
    await withDatabase(dataDir)
    await ask(dataDir, 'p', KEEP)
    await rm(path.join(dataDir, 'database-made'))
    await forgetDatabase(dataDir)
    await expect(ask(dataDir, 'p', FOUND)).rejects.toThrow(/is missing: it was in/)
    await rm(path.join(dataDir, 'database-place'), { force: true })
    await expect(ask(dataDir, 'p', FOUND)).rejects.toThrow(/is missing: it was in/)
    await forgetDatabase(dataDir)
  })

  test('is not reported if the first start was killed before it completed', async () => {
    await prepareHome(dataDir)
    writeFileSync(path.join(dataDir, 'database-password'), 'p'.repeat(40))
    writeFileSync(path.join(homeOf(dataDir).cluster, 'half'), '')
    expect(await ask(dataDir, 'p', FOUND)).toEqual([{ found: null }])
    await forgetDatabase(dataDir)
  })
})

describe.runIf(isRoot)('the database of a host that runs as root', () => {
  beforeEach(() => chmodSync(parent, 0o755))

  test('is in the data directory if its user can reach it, and is copied with the directory', async () => {
    await withDatabase(dataDir)
    await ask(dataDir, 'p', KEEP)
    expect(homeOf(dataDir).cluster).toBe(path.join(dataDir, 'postgres', 'cluster'))
    // No other user may enter or list it.
    expect(statSync(dataDir).mode & 0o777).toBe(0o710)
    const volume = path.join(parent, 'volume')
    execFileSync('cp', ['-a', dataDir, volume])
    await rm(dataDir, { recursive: true })
    expect(await ask(volume, 'p', FOUND)).toEqual([{ found: 'kept' }])
  })

  test('stays where an earlier version put it, even one that recorded no place', async () => {
    chmodSync(parent, 0o700)
    const base = path.join('/var/lib/keyway', digest(dataDir))
    await withDatabase(dataDir)
    await ask(dataDir, 'p', KEEP)
    renameSync(path.dirname(homeOf(dataDir).cluster), base)
    for (const file of ['database-place', 'database-made']) await rm(path.join(dataDir, file))
    await rm(path.join(base, 'data-directory'))
    chmodSync(parent, 0o755)
    expect(await ask(dataDir, 'p', FOUND)).toEqual([{ found: 'kept' }])
    expect(await ask(dataDir, 'p', FOUND)).toEqual([{ found: 'kept' }])
    expect(homeOf(dataDir).cluster).toBe(path.join(base, 'cluster'))
    // Created again after a loss, it is in the data directory.
    await forgetDatabase(dataDir)
    expect(await ask(dataDir, 'p', FOUND, true)).toEqual([{ found: null }])
    expect(homeOf(dataDir).cluster).toBe(path.join(dataDir, 'postgres', 'cluster'))
  })

  test('is refused if the existing one belongs to another user', async () => {
    await withDatabase(dataDir)
    await ask(dataDir, 'p', KEEP)
    const { cluster } = homeOf(dataDir)
    execFileSync('chown', ['-R', '12345:12345', dataDir])
    await expect(ask(dataDir, 'p', FOUND)).rejects.toThrow(/belongs to another user.*uid 12345/)
    await rm(path.join(dataDir, 'database-place'))
    await expect(ask(dataDir, 'p', FOUND)).rejects.toThrow(/belongs to another user.*uid 12345/)
    execFileSync('chown', ['-R', '65534:65534', cluster])
    expect(await ask(dataDir, 'p', FOUND)).toEqual([{ found: 'kept' }])
  })
})
