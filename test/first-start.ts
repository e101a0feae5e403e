/**
 * What a first start makes, made once for a run of the tests and copied for each host of theirs: a migrated database,
 * and the verdicts on the built-in connectors. It takes seconds, and there are hundreds of hosts. What the first
 * start of all does is tested where the real command runs (test/e2e).
 */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { copyFile, cp, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { readConfig } from '../runtime/config.ts'
import { openDatabase } from '../runtime/database/database.ts'
import { startEmbedded } from '../runtime/database/embedded.ts'
import { homeOf, prepareHome } from '../runtime/database/home.ts'
import { PASSWORD_FILE } from '../runtime/database/place.ts'
import { keptSecret } from '../runtime/keys.ts'
import { createLog } from '../runtime/log.ts'
import { createHost } from '../runtime/main.ts'
import { forgetDatabase } from './database/forget.ts'

/** Where the tests of a run find the data directory of the template. */
const VARIABLE = 'KEYWAY_TESTS_DATABASE'

/** For vitest, before the first test: makes the template; the answer removes it after the last. */
export async function setup(): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-template-'))
  const password = async () => (await keptSecret(dataDir, PASSWORD_FILE)).value
  const server = await startEmbedded({ dataDir, password, tell: () => {}, onLine: () => {} })
  const database = await openDatabase(server.connection, (error) => {
    throw error
  })
  await database.close()
  await server.stop()
  await judgeBuiltIn(dataDir)
  process.env[VARIABLE] = dataDir
  return async () => {
    await forgetDatabase(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Has the built-in connectors compiled and judged in a data directory. */
async function judgeBuiltIn(dataDir: string): Promise<void> {
  const config = readConfig({ KEYWAY_DATA_DIR: dataDir, KEYWAY_DROP_IN: 'off' })
  const host = await createHost(config, createLog('silent'), {}, { database: 'none' })
  await host.settled
  await host.stop()
}

/** Gives an empty data directory the verdicts on the built-in connectors. */
export async function withVerdicts(dataDir: string): Promise<void> {
  const template = process.env[VARIABLE]
  if (template === undefined) return
  await cp(path.join(template, 'connectors'), path.join(dataDir, 'connectors'), { recursive: true })
}

/** Gives an empty data directory a database as a first start would make it; without a template that makes one. */
export async function withDatabase(dataDir: string): Promise<void> {
  const template = process.env[VARIABLE]
  if (template === undefined) return
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await copyFile(path.join(template, PASSWORD_FILE), path.join(dataDir, PASSWORD_FILE))
  const { cluster } = await prepareHome(dataDir)
  await promisify(execFile)('cp', ['-a', `${homeOf(template).cluster}/.`, cluster])
}
