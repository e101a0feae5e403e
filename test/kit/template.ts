/** Copies the result of a first start for hosts that tests start (first-start.ts makes it). */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { homeOf, prepareHome } from '../../runtime/database/server-home.ts'
import { PASSWORD_FILE } from '../../runtime/database/server-place.ts'

/** Variable with the data directory of the template. */
export const TEMPLATE = 'KEYWAY_TESTS_TEMPLATE'

/** Copies the verdicts on the built-in connectors into a data directory, which is empty or missing. */
export function withVerdicts(dataDir: string): void {
  const template = process.env[TEMPLATE]
  if (template === undefined) return
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  cpSync(path.join(template, 'connectors'), path.join(dataDir, 'connectors'), { recursive: true })
}

/**
 * Makes a data directory in the state after a first start, for a host whose first start is not under test.
 */
export async function withFirstStart(dataDir: string): Promise<string> {
  withVerdicts(dataDir)
  await withDatabase(dataDir)
  return dataDir
}

/**
 * Gives an empty data directory a server of its own with the database of a first start, copied from the
 * template. Without a template it does nothing: the start itself makes one.
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
