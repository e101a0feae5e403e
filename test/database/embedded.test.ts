import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { type EmbeddedDatabase, startEmbedded } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { bundled } from '../kit/bundled.ts'
import { forgetDatabase } from './forget.ts'

const folders: string[] = []

afterAll(async () => {
  for (const folder of folders) {
    await forgetDatabase(folder)
    await rm(folder, { recursive: true, force: true })
  }
})

function dataDirectory(prefix = 'keyway-pg-'): string {
  const folder = mkdtempSync(path.join(tmpdir(), prefix))
  folders.push(folder)
  return folder
}

const start = (dataDir: string, said: string[] = []): Promise<EmbeddedDatabase> =>
  startEmbedded({
    dataDir,
    password: 'p'.repeat(40),
    tell: (text) => said.push(text),
    onLine: () => {},
  })

async function ask(database: EmbeddedDatabase, sql: string) {
  const client = new Client(database.connection)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Starts a host process that writes rows and prints the number of each acknowledged one. */
async function writer(
  dataDir: string,
): Promise<{ child: ChildProcess; acknowledged: () => number }> {
  const program = await bundled(path.join(import.meta.dirname, 'server.ts'))
  const child = spawn(process.execPath, [program, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let last = 0
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the writer ended before it was ready')))
    lines.on('line', (line) => {
      if (line === 'ready') resolve()
      else last = Number(line)
    })
  })
  return { child, acknowledged: () => last }
}

describe('an embedded database', () => {
  test('is created once, accepts only its socket and password, and keeps its rows', async () => {
    const dataDir = dataDirectory()
    const messages: string[] = []
    const first = await start(dataDir, messages)
    expect(messages).toContain('making the database (once)')
    await ask(first, "create table t as select 'kept' as v")
    expect(await ask(first, 'show listen_addresses')).toEqual([{ listen_addresses: '' }])
    const stranger = new Client({ ...first.connection, password: 'wrong' })
    await expect(stranger.connect()).rejects.toThrow(/password authentication failed/)
    await first.stop()
    const again: string[] = []
    const second = await start(dataDir, again)
    expect(again).toEqual([])
    expect(await ask(second, 'select v from t')).toEqual([{ v: 'kept' }])
    await second.stop()
  })

  test('loses no acknowledged row when its host is killed repeatedly', async () => {
    const dataDir = dataDirectory()
    for (let round = 0; round < Number(process.env['KILLS'] ?? 3); round += 1) {
      const { child, acknowledged } = await writer(dataDir)
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200))
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('exit', resolve))
      const told = acknowledged()
      const database = await start(dataDir)
      const [row] = await ask(database, 'select max(n)::int as n from marks')
      expect(row.n).toBeGreaterThanOrEqual(told)
      await database.stop()
    }
  })

  test('starts despite a pid file that names a process of another user', async () => {
    const dataDir = dataDirectory()
    const first = await start(dataDir)
    await first.stop()
    writeFileSync(path.join(first.cluster, 'postmaster.pid'), `${process.pid}\n${first.cluster}\n`)
    const second = await start(dataDir)
    expect(await ask(second, 'select 1 as one')).toEqual([{ one: 1 }])
    await second.stop()
  })

  test('has a socket path within the limit if the data directory has a very long path', async () => {
    const dataDir = dataDirectory(`keyway-${'long-'.repeat(30)}`)
    const database = await start(dataDir)
    expect(Buffer.byteLength(`${database.connection.host}/.s.PGSQL.5432`)).toBeLessThanOrEqual(107)
    await database.stop()
  })

  test('of another major version whose programs are missing is refused with instructions', async () => {
    const dataDir = dataDirectory()
    const database = await start(dataDir)
    await database.stop()
    const file = path.join(database.cluster, 'PG_VERSION')
    const version = readFileSync(file, 'utf8')
    writeFileSync(file, '14\n')
    await expect(start(dataDir)).rejects.toThrow(
      /PostgreSQL 14, this package brings .*where they are gone, start the version of Keyway that made it/,
    )
    writeFileSync(file, version)
  })
})

describe('the schema', () => {
  test('is migrated once by hosts that start at the same time, with one domain', async () => {
    const database = await start(dataDirectory())
    const hosts = await Promise.all(
      Array.from({ length: 4 }, () => openDatabase(database.connection, () => {})),
    )
    expect(new Set(hosts.map(({ domainId }) => domainId)).size).toBe(1)
    for (const host of hosts) await host.close()
    await database.stop()
  })
})
