/**
 * What a first start makes, made once for a run of the tests: a migrated database, the verdicts on the built-in
 * connectors, the code of workers. It takes seconds, and there are hundreds of hosts. What the first start of all does
 * is tested where the real command runs (test/e2e).
 */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { copyFile, cp, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { readConfig } from '../../runtime/config.ts'
import { startEmbedded } from '../../runtime/database/embedded.ts'
import { homeOf, prepareHome } from '../../runtime/database/home.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { PASSWORD_FILE } from '../../runtime/database/place.ts'
import { createHost } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { forgetDatabase } from '../database/forget.ts'
import { startServer } from './databases.ts'
import { buildOnce, workerOfTests } from './worker.ts'

const ROOT = path.join(import.meta.dirname, '..', '..')

/** The command makes one program of its sources when it is first run (runtime/cli/checkout.mjs). */
const LAUNCHER = path.join(ROOT, 'runtime', 'cli', 'keyway.mjs')

/** Where the tests of a run find the data directory of the template. */
const VARIABLE = 'KEYWAY_TESTS_TEMPLATE'

/** Where third-party systems are installed that tests start (test/real-systems/lib.sh). */
const SYSTEMS = 'KEYWAY_TESTS_SYSTEMS'

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
  process.env[VARIABLE] = dataDir
  process.env[SYSTEMS] = path.join(dataDir, 'systems')
  return async () => {
    await stopServer()
    await forgetDatabase(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Makes the database of a data directory, and leaves its server stopped. */
async function makeDatabase(dataDir: string): Promise<void> {
  const password = async () => (await keptSecret(dataDir, PASSWORD_FILE)).value
  const server = await startEmbedded({ dataDir, password, tell: () => {}, onLine: () => {} })
  const database = await openDatabase(server.connection, (error) => {
    throw error
  })
  await database.close()
  await server.stop()
}

/** Has the built-in connectors compiled and judged in a data directory. */
async function judgeBuiltIn(dataDir: string): Promise<void> {
  const config = readConfig({ KEYWAY_DATA_DIR: dataDir, KEYWAY_DROP_IN: 'off' })
  const parts = { database: 'none', worker: workerOfTests() } as const
  const host = await createHost(config, createLog('silent'), {}, parts)
  await host.settled
  await host.stop()
}

/** Gives an empty data directory the verdicts on the built-in connectors. */
export async function withVerdicts(dataDir: string): Promise<void> {
  const template = process.env[VARIABLE]
  if (template === undefined) return
  await cp(path.join(template, 'connectors'), path.join(dataDir, 'connectors'), { recursive: true })
}

/**
 * Gives an empty data directory a server of its own, with a database as a first start would make it; without a template
 * that makes one.
 */
export async function withDatabase(dataDir: string): Promise<void> {
  const template = process.env[VARIABLE]
  if (template !== undefined) await copyDatabase(template, dataDir)
}

async function copyDatabase(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  await copyFile(path.join(from, PASSWORD_FILE), path.join(to, PASSWORD_FILE))
  const { cluster } = await prepareHome(to)
  await promisify(execFile)('cp', ['-a', `${homeOf(from).cluster}/.`, cluster])
}
