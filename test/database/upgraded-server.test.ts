/**
 * An embedded server of an older major version of PostgreSQL: a starting host copies its tables to one of
 * this version.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import { upgradeEmbedded } from '../../runtime/database/backup/upgrade.ts'
import { makeCluster, startEmbedded, startServer } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { prepareHome } from '../../runtime/database/server-home.ts'
import { forgetDatabase } from './forget.ts'

/**
 * Debian's programs of PostgreSQL 15, or those in another folder, such as the package's earlier major
 * version.
 */
const OLDER = process.env['OLDER_POSTGRESQL'] ?? '/usr/lib/postgresql/15'
const MAJOR = Number.parseInt(process.env['OLDER_MAJOR'] ?? '15', 10)

const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-older-'))
const PASSWORD = 'p'.repeat(40)
const quiet = { tell: () => {}, onLine: () => {} }

afterAll(async () => {
  await forgetDatabase(dataDir)
  await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
})

async function ask(connection: object, sql: string) {
  const client = new Client(connection)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

describe.skipIf(!existsSync(path.join(OLDER, 'bin', 'initdb')))(`PostgreSQL ${MAJOR}`, () => {
  const messages: string[] = []
  const upgrade = () =>
    upgradeEmbedded({
      dataDir,
      password: async () => PASSWORD,
      tell: (text) => messages.push(text),
      signal: new AbortController().signal,
    })

  test('is upgraded with all its data at the next start, and the older one is kept', async () => {
    const home = await prepareHome(dataDir)
    // Where an earlier host left its copy of the programs.
    const [programs = ''] = home.programs.slice(-1)
    await mkdir(programs, { recursive: true })
    const copy = path.join(programs, `postgresql-${MAJOR}.0.0`)
    await symlink(OLDER, copy)
    try {
      const older = { bin: path.join(copy, 'bin'), major: MAJOR }
      await makeCluster(home, older, PASSWORD)
      const server = await startServer(home, older, { password: PASSWORD, ...quiet })
      await (await openDatabase(server.connection, () => {})).close()
      await ask(server.connection, `insert into domains (name) values ('Zoë’s \\ "company"\t')`)
      await ask(server.connection, 'create table many as select generate_series(1, 5000) n')
      const users = await ask(server.connection, 'select * from domains order by id')
      await server.stop()
      await writeFile(path.join(dataDir, 'database-password'), PASSWORD)

      await upgrade()
      expect(messages).toEqual([
        expect.stringMatching(new RegExp(`is of PostgreSQL ${MAJOR}; it is copied`)),
        expect.stringMatching(/the one of PostgreSQL \d+ is kept in .*before-/),
      ])
      const kept = /kept in (\S+):/.exec(messages[1] ?? '')?.[1] ?? ''
      expect(readFileSync(path.join(kept, 'PG_VERSION'), 'utf8')).toBe(`${MAJOR}\n`)
      expect(readdirSync(path.dirname(home.cluster))).not.toContain('upgrade.tar.gz')

      const now = await startEmbedded({ dataDir, password: PASSWORD, ...quiet })
      const [{ n }] = await ask(
        now.connection,
        `select current_setting('server_version_num')::int as n`,
      )
      expect(Math.floor(n / 10_000)).toBeGreaterThan(MAJOR)
      expect(await ask(now.connection, 'select * from domains order by id')).toEqual(users)
      expect(await ask(now.connection, 'select count(*)::int as n from many')).toEqual([
        { n: 5000 },
      ])
      await (await openDatabase(now.connection, () => {})).close()
      await now.stop()
    } finally {
      await rm(copy)
    }
  })

  test('is not upgraded again once it is of this version', async () => {
    messages.length = 0
    await upgrade()
    expect(messages).toEqual([])
  })
})
