/**
 * What a first start makes, made once for a run of the tests: a migrated database, the verdicts on the built-in
 * connectors, the code of workers. It takes seconds, and there are hundreds of hosts. What the first start of all does
 * is tested where the real command runs (test/e2e).
 */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { appendFile, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client, type ClientConfig } from 'pg'
import { PgBoss } from 'pg-boss'
import { mainOfCheckout } from '../../runtime/cli/checkout.mjs'
import { readConfig } from '../../runtime/config/config.ts'
import { prepareQueues } from '../../runtime/core/kernel/background/background.ts'
import { parseRetention } from '../../runtime/core/retention/rules.ts'
import { startEmbedded } from '../../runtime/database/embedded.ts'
import { JOBS_SCHEMA } from '../../runtime/database/jobs.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { PASSWORD_FILE } from '../../runtime/database/place.ts'
import { createHost } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { forgetDatabase } from '../database/forget.ts'
import { startServer } from './databases.ts'
import { copyDatabase, TEMPLATE } from './template.ts'
import { KEPT } from './verdicts.ts'
import { buildOnce, workerOfTests } from './worker.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')

/** The command makes one program of its sources when it is first run (runtime/cli/checkout.mjs). */
const LAUNCHER = path.join(ROOT, 'runtime', 'cli', 'keyway.mjs')

/** Where third-party systems are installed that tests start, for later runs as well (test/real-systems/lib.sh). */
const SYSTEMS = 'KEYWAY_TESTS_SYSTEMS'

/** Where hosts of tests find the compiler as one program: as sources it takes half as long again (test/vitest.config.ts). */
const COMPILER = 'KEYWAY_TESTS_COMPILER'
/** The same of the host that attacks are tried on. */
const VERIFY_HOST = 'KEYWAY_TESTS_VERIFY_HOST'

/** For vitest, before the first test: makes all of it; the answer removes it after the last. */
export async function setup(): Promise<() => Promise<void>> {
  // Where the command keeps it (runtime/cli/keyway.mjs).
  process.env['NODE_COMPILE_CACHE'] ??= path.join(ROOT, 'node_modules', '.cache', 'keyway')
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-template-'))
  // It ends the bundler's process, which the command needs as well.
  await buildOnce(dataDir)
  const [stopServer] = await Promise.all([
    makeDatabase(dataDir).then(() => startServer((to) => copyDatabase(dataDir, to))),
    judgeBuiltIn(dataDir),
    promisify(execFile)(process.execPath, [LAUNCHER, '--help']),
  ])
  await mkdir(path.join(dataDir, KEPT))
  process.env[TEMPLATE] = dataDir
  const program = path.dirname(mainOfCheckout(process.execPath))
  process.env[COMPILER] = path.join(program, 'compiler.js')
  process.env[VERIFY_HOST] = path.join(program, 'verify-host.js')
  process.env[SYSTEMS] = path.join(ROOT, 'node_modules', '.cache', 'keyway-systems')
  return async () => {
    await stopServer()
    await forgetDatabase(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** What tests kill is a server, not the machine: what it has handed to the system is there afterwards. */
const UNSYNCED = '\nfsync = off\n'

/** Makes the database of a data directory, with the queues of a host in it, and leaves its server stopped. */
async function makeDatabase(dataDir: string): Promise<void> {
  const password = async () => (await keptSecret(dataDir, PASSWORD_FILE)).value
  const server = await startEmbedded({ dataDir, password, tell: () => {}, onLine: () => {} })
  const database = await openDatabase(server.connection, (error) => {
    throw error
  })
  await database.close()
  await makeQueues(server.connection)
  await server.stop()
  await appendFile(path.join(server.cluster, 'postgresql.auto.conf'), UNSYNCED)
}

/** Makes the queues of jobs, as the first host of a deployment does. */
async function makeQueues(connection: ClientConfig): Promise<void> {
  const client = new Client(connection)
  await client.connect()
  const jobs = new PgBoss({
    schema: JOBS_SCHEMA,
    db: { executeSql: (text, values) => client.query(text, values) },
    supervise: false,
    schedule: false,
  })
  await jobs.start()
  await prepareQueues(jobs, parseRetention('').jobs)
  await jobs.stop({ graceful: false })
  await client.end()
}

/** Has the built-in connectors compiled and judged in a data directory. */
async function judgeBuiltIn(dataDir: string): Promise<void> {
  const config = readConfig({ KEYWAY_DATA_DIR: dataDir, KEYWAY_DROP_IN: 'off' })
  const parts = { database: 'none', worker: workerOfTests() } as const
  const host = await createHost(config, createLog('silent'), {}, parts)
  await host.settled
  await host.stop()
}
