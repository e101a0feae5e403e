/**
 * `keyway restore`: restores the embedded database from a backup, into a data directory that no host uses.
 */

import path from 'node:path'
import { ConfigError, readConfig } from '../config/config.ts'
import { restore as readBackup } from '../database/backup/restore.ts'
import { DataDirInUseError } from '../database/host-lock.ts'
import { PASSWORD_FILE } from '../database/server-place.ts'
import { keptSecret } from '../secrets/secret-files.ts'
import { type BackupFlags, backupKeys, inWords, stoppable } from './backup.ts'
import { ownServerWords } from './own-server.ts'
import { terminalJson } from './terminal/json.ts'
import { megabytes, progressLine } from './terminal/progress.ts'

export async function restore(name: string, { force, dryRun, json }: BackupFlags): Promise<void> {
  const config = readConfig(process.env)
  if (config.databaseUrl !== '')
    throw new ConfigError(ownServerWords('restore', config.databaseUrl))
  const { dataDir } = config
  const file = path.resolve(name)
  const line = progressLine()
  const done = await inWords(file, async () =>
    readBackup({
      dataDir,
      file,
      force: force === true,
      dryRun: dryRun === true,
      keys: await backupKeys(config),
      password: async () => (await keptSecret(dataDir, PASSWORD_FILE)).value,
      signal: stoppable(),
      tell: (text) => {
        line.clear()
        console.error(text)
      },
      onProgress: ({ step, bytes }) =>
        line.show(`${megabytes(bytes)} are ${step === 'read' ? 'read' : 'loaded'}`),
    }),
  ).catch((error) => {
    throw error instanceof DataDirInUseError
      ? new ConfigError(error.message, { cause: error })
      : error
  })
  line.clear()
  const { cluster, bytes, completeUntil, before, missingKeys } = done
  if (json) {
    const told = { complete_until: completeUntil, before, missing_key_ids: missingKeys }
    console.log(terminalJson({ cluster, bytes, ...told }))
    return
  }
  const what = `${megabytes(bytes)}, everything until ${completeUntil}.`
  console.log(
    dryRun
      ? `The backup is complete and fits (nothing was changed): ${what}`
      : `Restored ${cluster}: ${what}`,
  )
  if (before !== null) console.log(`The previous database is kept in ${before}.`)
  if (missingKeys.length > 0) {
    console.error(
      `Parts of it may need older secrets that are missing, with the key ids ${missingKeys.join(', ')}: add them at the end of KEYWAY_SECRET, or the data they protect cannot be used.`,
    )
  }
  if (!dryRun) console.log('Start the host as usual.')
}
