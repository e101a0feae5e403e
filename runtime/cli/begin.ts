/** What `keyway start` begins before it loads the host: its database needs as long to come up as the host to be loaded. */
import cluster from 'node:cluster'
import { type Config, ConfigError } from '../config/config.ts'
import type { Keeper } from '../database/keeper.ts'
import { openDataDir } from '../host/data-dir.ts'
import { keepServer } from '../host/keep-server.ts'
import { tryMachine } from '../host/try-machine.ts'
import { createLog, type Log } from '../observe/log.ts'

export type StartOptions = { sample?: true; samplePort: number; newDatabase?: true }

export type BegunStart = {
  log: Log
  /** Null where the database is another program's or another process's. */
  keeper: Keeper | null
}

/** Whether this process is one of several that serve. */
export const isMember = (): boolean => cluster.isWorker

/** Whether this process starts others, which serve; the sample company is made by the process that also serves. */
export const isPrimary = ({ processes }: Config, { sample }: StartOptions): boolean =>
  processes > 1 && !sample && !isMember()

/** @throws ConfigError for options that do not fit together, and a data directory that cannot be used. */
export async function begin(config: Config, options: StartOptions): Promise<BegunStart> {
  const { sample, samplePort, newDatabase } = options
  const log = createLog(config.logLevel)
  if (sample && samplePort !== 0 && samplePort === config.port)
    throw new ConfigError(
      `--sample-port: ${samplePort} is PORT as well; choose another for one of them (0 takes any free one)`,
    )
  if (isPrimary(config, options)) return { log, keeper: null }
  tryMachine()
  if (config.databaseUrl !== '' || isMember()) return { log, keeper: null }
  await openDataDir(config.dataDir)
  const keeper = await keepServer(config, log, { replaceMissing: newDatabase === true })
  return { log, keeper }
}
