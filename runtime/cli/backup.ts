/**
 * `keyway backup`: writes a consistent copy of the embedded database to one file, whether or not the host
 * runs.
 */

import { stat } from 'node:fs/promises'
import path from 'node:path'
import { type Config, ConfigError, readConfig } from '../config/config.ts'
import { codeOf, errorOf, ifMissing } from '../contract/errors/thrown.ts'
import { type BackupResult, backup as writeBackup } from '../database/backup/backup.ts'
import { noteBackup } from '../database/backup/backup-record.ts'
import { BackupError, type BackupKey } from '../database/backup/format.ts'
import { connectOrStart, NoDatabaseError } from '../database/connect-or-start.ts'
import { PASSWORD_FILE } from '../database/server-place.ts'
import { backupKey, keyId } from '../secrets/key-derivation.ts'
import { existingSecret } from '../secrets/secret-files.ts'
import { VERSION } from '../version.ts'
import { ownServerWords } from './own-server.ts'
import { fileFault, isFileFault } from './terminal/file-fault.ts'
import { terminalJson } from './terminal/json.ts'
import { megabytes, progressLine } from './terminal/progress.ts'

export type BackupFlags = { force?: true; dryRun?: true; json?: true }

export async function backup(name: string, { force, dryRun, json }: BackupFlags): Promise<void> {
  const config = readConfig(process.env)
  if (config.databaseUrl !== '') throw new ConfigError(ownServerWords('backup', config.databaseUrl))
  const file = path.resolve(name)
  const [current, ...older] = await backupKeys(config)
  if (!current) {
    throw new ConfigError(
      `there is no secret: neither KEYWAY_SECRET nor ${path.join(config.dataDir, 'secret')}; is KEYWAY_DATA_DIR the one that the host uses?`,
    )
  }
  if (dryRun) {
    const key_id = current.id
    await inWords(file, () => tried(config, file, force === true))
    const words = `${file} could be written.\n${keepWords(config, current)}`
    console.log(json ? terminalJson({ file, key_id }) : words)
    return
  }
  const done = await inWords(file, () => copy(config, file, force === true, [current, ...older]))
  await note(config.dataDir, done)
  if (json) {
    const { bytes, tables, rows, completeUntil: complete_until } = done
    const answer = { file, bytes, tables, rows, complete_until, key_id: current.id }
    console.log(terminalJson(answer))
    return
  }
  console.log(
    `Wrote ${file}: ${megabytes(done.bytes)}, ${done.rows} rows of ${done.tables} tables, everything until ${done.completeUntil}.`,
  )
  console.log(keepWords(config, current))
}

/** Records the backup for monitoring. The backup is complete without this record. */
async function note(dataDir: string, { completeUntil, bytes }: BackupResult): Promise<void> {
  await noteBackup(dataDir, { complete_until: completeUntil, bytes }).catch((error: Error) => {
    console.error(
      `The backup is complete, but could not be recorded in ${dataDir}, so metrics still show the previous one: ${error.message}`,
    )
  })
}

async function copy(
  config: Config,
  file: string,
  force: boolean,
  keys: [BackupKey, ...BackupKey[]],
): Promise<BackupResult> {
  await needFolder(file)
  const password = await existingSecret(config.dataDir, PASSWORD_FILE)
  const line = progressLine()
  const stop = stoppable()
  const server = await connectOrStart(config.dataDir, password, console.error)
  try {
    return await writeBackup({
      connection: server.connection,
      file,
      force,
      keys,
      version: VERSION,
      signal: stop,
      onProgress: ({ tables, bytes, allTables, allBytes }) =>
        line.show(
          `${megabytes(bytes)} of at most ${megabytes(allBytes)}, ${tables} of ${allTables} tables copied`,
        ),
    })
  } finally {
    line.clear()
    await server.release()
  }
}

/**
 * Checks that the folder exists, and does not create it: a mistyped path would get a new tree, and a backup
 * for an unmounted disk would be written to the wrong disk.
 */
async function needFolder(file: string): Promise<void> {
  const folder = path.dirname(file)
  if ((await stat(folder).catch(ifMissing(null))) === null)
    throw new ConfigError(
      `the folder ${folder} for the backup does not exist; create it, mount its disk, or name another`,
    )
}

/** Checks that there is a database to copy and a place for the file. */
async function tried({ dataDir }: Config, file: string, force: boolean): Promise<void> {
  await needFolder(file)
  const there = await stat(file).catch(() => null)
  if (there && !force) throw new BackupError(`${file} already exists; use --force to replace it`)
  const password = await existingSecret(dataDir, PASSWORD_FILE)
  const server = await connectOrStart(dataDir, password, console.error)
  await server.release()
}

/** The secret itself is never in the file, and without it the data that it protects is lost. */
const keepWords = ({ secrets, dataDir }: Config, { id }: BackupKey): string =>
  `This backup needs the secret with the key id ${id}, which is not in it: keep ${
    secrets.length > 0 ? 'your KEYWAY_SECRET' : path.join(dataDir, 'secret')
  } elsewhere, apart from the backup.`

/** Returns the keys of the operator's secrets, the current one first. Generates none. */
export async function backupKeys({ secrets, dataDir }: Config): Promise<BackupKey[]> {
  const kept = secrets.length > 0 ? null : await existingSecret(dataDir, 'secret')
  const all = kept === null ? secrets : [kept]
  return all.map((secret) => ({ id: keyId(secret), sealKey: backupKey(secret) }))
}

/** Returns a signal that SIGINT and SIGTERM abort, so that the work in progress can clean up. */
export function stoppable(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => controller.abort(new ConfigError('stopped; nothing was changed')))
  return controller.signal
}

/** Converts an error that a person can fix to a ConfigError. */
export async function inWords<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const { name, message, cause } = errorOf(error)
    if (name === 'AbortError' && cause instanceof ConfigError) throw cause
    if (error instanceof BackupError || error instanceof NoDatabaseError)
      throw new ConfigError(message, { cause: error })
    // SQLSTATE of a server that could not write: even copying needs some disk space.
    if (codeOf(error) === '53100')
      throw new ConfigError(
        `the disk of the database is full (${message}), and no backup was made; free some space, and run it again`,
        { cause: error },
      )
    if (isFileFault(error))
      throw fileFault(file, error, 'name another file or folder for the backup')
    throw error
  }
}
