/** `keyway restore`: the embedded database from a backup, into a data directory that no host uses. */
import path from 'node:path'
import { ConfigError, readConfig } from '../config.ts'
import { restore as readBackup } from '../database/backup/restore.ts'
import { DataDirInUseError } from '../database/host-lock.ts'
import { keptSecret } from '../keys.ts'
import { backupKeys, inWords, stoppable } from './backup.ts'
import { ownServerWords } from './own-server.ts'
import { megabytes, progressLine } from './progress.ts'

export async function restore(name: string, { force }: { force?: true }): Promise<void> {
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
      keys: await backupKeys(config),
      password: async () => (await keptSecret(dataDir, 'database-password')).value,
      signal: stoppable(),
      tell: (text) => {
        line.clear()
        console.error(text)
      },
      onProgress: ({ files, bytes }) =>
        line.show(`${megabytes(bytes)}, ${files} files are unpacked`),
    }),
  ).catch((error) => {
    throw error instanceof DataDirInUseError
      ? new ConfigError(error.message, { cause: error })
      : error
  })
  line.clear()
  console.log(
    `Restored ${done.cluster}: ${done.files} files, ${megabytes(done.bytes)}, everything until ${done.completeUntil}.`,
  )
  if (done.before !== null) console.log(`What was there before is kept in ${done.before}.`)
  if (done.missingKeys.length > 0) {
    console.error(
      `Some of it may have been made under older secrets that are not there, with the key ids ${done.missingKeys.join(', ')}: add them at the end of KEYWAY_SECRET, or what they protect cannot be used.`,
    )
  }
  console.log('Start the host as usual.')
}
