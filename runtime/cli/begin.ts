/**
 * Work that `keyway start` begins before it loads the host: starting the database takes as long as loading
 * the host.
 */
import cluster from 'node:cluster'
import { type Config, ConfigError } from '../config/config.ts'
import type { Keeper } from '../database/keeper.ts'
import { openDataDir } from '../host/data-dir.ts'
import { keepServer } from '../host/keep-server.ts'
import { tryMachine } from '../host/try-machine.ts'
import { createLog, type Log } from '../observe/log.ts'

export type StartOptions = { sample?: true; samplePort: number; newDatabase?: true }

export type StartContext = {
  log: Log
  /** Null if another program or process keeps the database. */
  keeper: Keeper | null
}

/** Reports whether this process is one of several that serve. */
export const isMember = (): boolean => cluster.isWorker

/**
 * Reports whether this process starts others, which serve. With a sample company, the process that creates it
 * also serves.
 */
export const isPrimary = ({ processes }: Config, { sample }: StartOptions): boolean =>
  processes > 1 && !sample && !isMember()

/**
 * Checks the options and starts the database.
 *
 * @throws ConfigError for options that do not fit together, and for a data directory that cannot be used
 */
export async function begin(config: Config, options: StartOptions): Promise<StartContext> {
  const { sample, samplePort, newDatabase } = options
  const log = createLog(config.logLevel)
  if (sample && samplePort !== 0 && samplePort === config.port)
    throw new ConfigError(
      `--sample-port: ${samplePort} is also PORT; choose another for one of them (0 picks a free one)`,
    )
  if (isPrimary(config, options)) return { log, keeper: null }
  tryMachine()
  if (config.databaseUrl !== '' || isMember()) return { log, keeper: null }
  await openDataDir(config.dataDir)
  const keeper = await keepServer(config, log, { replaceMissing: newDatabase === true })
  return { log, keeper }
}
