/**
 * `npm run bench:backup`: a backup and a restore of a company of 100,000 people with half a million
 * associations and 300,000 log entries, compared with the server's own COPY of the same rows to a null
 * device. Writes a section of RESULTS.md.
 *
 * `USERS` (100,000) changes the size; only a full run is written.
 */
import { mkdtempSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Client } from 'pg'
import { progressLine } from '../../runtime/cli/terminal/progress.ts'
import { type BackupResult, backup } from '../../runtime/database/backup/backup.ts'
import { restore } from '../../runtime/database/backup/restore.ts'
import { startEmbedded } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { forgetDatabase } from '../database/forget.ts'
import { fill } from './fill.ts'
import { loadWords, machineWords } from './machine.ts'
import { place, type Section, sectionText } from './report.ts'
import { createTimed } from './timed.ts'

const USERS = Number(process.env['USERS'] ?? 100_000)
const WHOLE = USERS === 100_000
const GOAL_SECONDS = 20
/** The allowed growth of memory, in MiB: a few pieces, not whole tables. */
const GROWTH_MIB = 150
const RESULTS = path.join(import.meta.dirname, 'RESULTS.md')

const folder = mkdtempSync(path.join(tmpdir(), 'keyway-bench-backup-'))
const [from, to] = [path.join(folder, 'from'), path.join(folder, 'to')]
const file = path.join(folder, 'backup.tar.gz')
const password = 'p'.repeat(40)
const key = { id: '0'.repeat(16), sealKey: Buffer.alloc(32) }
const { signal } = new AbortController()
const quiet = { tell: () => {}, onLine: () => {} }
const line = progressLine()
const load = loadWords()

const { took, timed } = createTimed((what) => line.show(what))

const server = await startEmbedded({ dataDir: from, password, ...quiet })
try {
  await (await openDatabase(server.connection, () => {})).close()
  const client = new Client(server.connection)
  await client.connect()
  const db = drizzle(client)
  await fill(db, { users: USERS, groups: 200, tasks: USERS, logs: 3 * USERS }, (text) =>
    line.show(text),
  )
  await client.query(
    `create table held as select n, md5(n::text) as one, md5((n + 1)::text) as other, now() as at
     from generate_series(1, ${5 * USERS}) n`,
  )
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace::regnamespace::text in ('public', 'jobs')`,
  )
  await timed('the server’s own COPY of every table to nowhere', async () => {
    for (const { name } of rows) await client.query(`copy ${name} to '/dev/null'`)
  })
  await client.end()
  const { connection } = server
  const done = await timed('backup', () =>
    backup({
      connection,
      file,
      force: false,
      keys: [key],
      version: 'bench',
      signal,
      onProgress: () => {},
    }),
  )
  await timed('restore', () =>
    restore({
      ...{ dataDir: to, file, force: false, keys: [key], signal },
      password: async () => password,
      tell: () => {},
      onProgress: () => {},
    }),
  )
  line.clear()
  const section = report(done, (await stat(file)).size)
  console.log(sectionText(section))
  if (WHOLE) await writeFile(RESULTS, place(await readFile(RESULTS, 'utf8'), section))
} finally {
  await server.stop()
  for (const dataDir of [from, to]) await forgetDatabase(dataDir)
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
}

function report({ rows, tables }: BackupResult, bytes: number): Section {
  const slowest = Math.max(...took.slice(1).map(({ seconds }) => seconds))
  const growth = Math.max(...took.map(({ growthMib }) => growthMib))
  const copySeconds = took[0]?.seconds ?? 1
  return {
    part: 'backup',
    title: 'Backup and restore',
    setting: `${USERS.toLocaleString('en')} people: ${rows.toLocaleString('en')} rows of ${tables} tables, ${(bytes / 2 ** 20).toFixed(0)} MiB packed. ${machineWords()}; load before: ${load}.`,
    findings: {
      judged: [
        {
          what: 'the slower way',
          figure: `${slowest.toFixed(1)} s`,
          goal: `< ${GOAL_SECONDS} s`,
          met: slowest < GOAL_SECONDS,
        },
        {
          what: 'memory that the command takes more, at most',
          figure: `${growth.toFixed(0)} MiB`,
          goal: `< ${GROWTH_MIB} MiB`,
          met: growth < GROWTH_MIB,
        },
      ],
      tables: [
        {
          title: 'Each step',
          columns: ['step', 'seconds', 'of COPY', 'memory'],
          rows: took.map(({ what, seconds, growthMib }) => [
            what,
            seconds.toFixed(1),
            (seconds / copySeconds).toFixed(1),
            `+${growthMib.toFixed(0)} MiB`,
          ]),
        },
      ],
      notes: [],
    },
  }
}
