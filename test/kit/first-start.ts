/**
 * The result of a first start, made once per run of the tests: a migrated database, the verdicts on the
 * built-in connectors, the code of workers. It takes seconds, and tests start hundreds of hosts. The first
 * start itself is tested with the real command (test/e2e).
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
import { PASSWORD_FILE } from '../../runtime/database/server-place.ts'
import { createHost } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { forgetDatabase } from '../database/forget.ts'
import { startServer } from './databases.ts'
import { copyDatabase, TEMPLATE } from './template.ts'
import { KEPT } from './verdicts.ts'
import { buildOnce, workerOfTests } from './worker.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')

/** The command bundles its sources when it is first run (runtime/cli/checkout.mjs). */
const LAUNCHER = path.join(ROOT, 'runtime', 'cli', 'keyway.mjs')

/**
 * Folder with the third-party systems that tests start. They are installed once, for later runs as well
 * (test/real-systems/lib.sh).
 */
const SYSTEMS = 'KEYWAY_TESTS_SYSTEMS'

/**
 * Variable with the path of the bundled compiler for hosts of tests: from sources it takes half as long again
 * (test/vitest.config.ts).
 */
const COMPILER = 'KEYWAY_TESTS_COMPILER'
/** Variable with the path of the bundled host that attacks are tried on. */
const VERIFY_HOST = 'KEYWAY_TESTS_VERIFY_HOST'

/**
 * Global setup of vitest: makes everything before the first test. Returns a function that removes it after
 * the last.
 */
export async function setup(): Promise<() => Promise<void>> {
  // Path of the command's own compile cache (runtime/cli/keyway.mjs).
  process.env['NODE_COMPILE_CACHE'] ??= path.join(ROOT, 'node_modules', '.cache', 'keyway')
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-template-'))
  // Sequential: this ends the bundler's process, which the command needs as well.
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

/** Tests kill a server, not the machine: data passed to the system survives. */
const UNSYNCED = '\nfsync = off\n'

/** Makes the database of a data directory, including the queues of a host, and leaves its server stopped. */
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

/** Makes the queues of jobs, like the first host of a deployment. */
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

/** Compiles and checks the built-in connectors in a data directory. */
async function judgeBuiltIn(dataDir: string): Promise<void> {
  const config = readConfig({ KEYWAY_DATA_DIR: dataDir, KEYWAY_DROP_IN: 'off' })
  const parts = { database: 'none', worker: workerOfTests() } as const
  const host = await createHost(config, createLog('silent'), {}, parts)
  await host.settled
  await host.stop()
}
