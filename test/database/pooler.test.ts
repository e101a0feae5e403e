/** Runs a real pgbouncer between a host and PostgreSQL; skipped without it (Debian's `pgbouncer`). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EmbeddedDatabase } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { until } from '../e2e/until.ts'
import { freePort } from '../free-port.ts'
import { ownServer } from '../kit/own-server.ts'
import { shows } from '../symptoms.ts'

const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0
/** PostgreSQL's tools and pgbouncer refuse to run as root. */
const isRoot = process.getuid?.() === 0
const NOBODY = 65_534

let dataDir: string
let server: EmbeddedDatabase
let password: string
const running: ChildProcess[] = []

describe.skipIf(!isInstalled)('behind pgbouncer', () => {
  beforeAll(async () => {
    const own = await ownServer()
    ;({ dataDir, server } = own)
    password = own.login.password
    chmodSync(dataDir, 0o755)
  })
  afterAll(() => {
    for (const one of running) one.kill('SIGKILL')
  })

  /** Starts a pgbouncer with its default settings. */
  async function pooler(mode: string): Promise<string> {
    const port = await freePort()
    const file = path.join(dataDir, `${mode}.ini`)
    writeFileSync(path.join(dataDir, 'users'), `"keyway" "${password}"\n`, { mode: 0o644 })
    writeFileSync(
      file,
      `[databases]
keyway = host=${server.connection.host} dbname=keyway user=keyway password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${path.join(dataDir, 'users')}
pool_mode = ${mode}
`,
      { mode: 0o644 },
    )
    const who = isRoot ? { uid: NOBODY, gid: NOBODY } : {}
    running.push(spawn('pgbouncer', [file], { stdio: 'ignore', ...who }))
    return `postgres://keyway:${password}@127.0.0.1:${port}/keyway`
  }

  const open = (connectionString: string) => openDatabase({ connectionString }, () => {})

  /** Retries until pgbouncer listens. */
  const opened = (url: string) =>
    until('the pooler answers', () =>
      open(url).catch((error: Error) => {
        if (/ECONNREFUSED/.test(String((error as NodeJS.ErrnoException).code))) return null
        throw error
      }),
    )

  test('a host in session mode works with its own settings', async () => {
    const database = await opened(await pooler('session'))
    const { rows } =
      await database.db.execute(sql`select current_setting('statement_timeout') as patience,
      current_setting('random_page_cost') as cost, current_setting('jit') as jit`)
    expect(rows).toEqual([{ patience: '30s', cost: '1.1', jit: 'off' }])
    const heard: (string | null)[] = []
    const deafen = database.listen('words', (said) => void heard.push(said))
    await until('the listener is subscribed', () => heard.length > 0)
    await database.db.execute(sql`select pg_notify('words', 'hello')`)
    await until('the listener gets the notification', () => heard.includes('hello'))
    await deafen()
    await database.close()
  })

  test.each(['transaction', 'statement'])(
    'a host in %s mode is refused with a message that says what to set',
    async (mode) => {
      const error = await opened(await pooler(mode)).catch((thrown: Error) => thrown)
      expect(String(error)).toMatch(/^Error: DATABASE_URL: .*pool_mode = session/)
      shows('a start is refused: “a pooler', String(error))
    },
  )

  test('options in DATABASE_URL override the settings of a host, without a pooler', async () => {
    const { host } = server.connection
    const options = encodeURIComponent('-c work_mem=5MB')
    const database = await open(
      `postgres://keyway:${password}@localhost/keyway?host=${encodeURIComponent(String(host))}&options=${options}`,
    )
    const { rows } = await database.db.execute(sql`select current_setting('work_mem') as memory,
      current_setting('random_page_cost') as cost`)
    expect(rows).toEqual([{ memory: '5MB', cost: '1.1' }])
    await database.close()
  })
})
