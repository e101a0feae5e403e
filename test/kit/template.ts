/** What a first start makes, copied for hosts that tests start (first-start.ts makes it). */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { homeOf, prepareHome } from '../../runtime/database/home.ts'
import { PASSWORD_FILE } from '../../runtime/database/place.ts'

/** Where the tests of a run find the data directory of the template. */
export const TEMPLATE = 'KEYWAY_TESTS_TEMPLATE'

/** Gives a data directory that is empty or not there the verdicts on the built-in connectors. */
export function withVerdicts(dataDir: string): void {
  const template = process.env[TEMPLATE]
  if (template === undefined) return
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  cpSync(path.join(template, 'connectors'), path.join(dataDir, 'connectors'), { recursive: true })
}

/** Gives a data directory that is not there what a first start makes: for a host of whose first start nothing is tested. */
export async function withFirstStart(dataDir: string): Promise<string> {
  withVerdicts(dataDir)
  await withDatabase(dataDir)
  return dataDir
}

/**
 * Gives an empty data directory a server of its own, with a database as a first start would make it; without a template
 * that makes one.
 */
export async function withDatabase(dataDir: string): Promise<void> {
  const template = process.env[TEMPLATE]
  if (template !== undefined) await copyDatabase(template, dataDir)
}

/** Copies the server and the database of a data directory to another one. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  await copyFile(path.join(from, PASSWORD_FILE), path.join(to, PASSWORD_FILE))
  const { cluster } = await prepareHome(to)
  await promisify(execFile)('cp', ['-a', `${homeOf(from).cluster}/.`, cluster])
}
