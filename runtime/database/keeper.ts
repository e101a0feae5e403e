/**
 * Keeps the embedded server of a data directory, for a host or for processes that share it: the lock, the
 * server and its restarts.
 */
import type { ClientConfig } from 'pg'
import { errorOf, messageOf } from '../contract/errors/thrown.ts'
import { type EmbeddedDatabase, type EmbeddedOptions, NAME, startEmbedded } from './embedded.ts'
import { lockDataDir } from './host-lock.ts'
import { homeOf } from './server-home.ts'
import { isDatabaseUnavailable } from './unavailable.ts'

export type Keeper = {
  /** Resolves after the first attempt to start the server, successful or not. */
  tried: Promise<void>
  /** Connection parameters, once the server has started for the first time. */
  connection: Promise<ClientConfig>
  /** Returns why there is no server now. Null while there is one, and until the first attempt has failed. */
  problem(): string | null
  /** Returns the server's process id, or null. */
  pid(): number | null
  /** Adds a listener for the lines of the server's log. */
  hear(onLine: (line: string) => void): void
  /** Stops the server and releases the lock. */
  stop(): Promise<void>
}

type KeeperOptions = EmbeddedOptions & {
  /** Called before each start. Upgrades a database of an older major version to the package's. */
  upgrade(signal: AbortSignal): Promise<void>
  onError(error: Error): void
}

/** Pause between two attempts, in milliseconds. */
const RETRY_MS = 2000

/** Explains why the database is unavailable. */
export const cannotBeUsed = (error: unknown): string =>
  `the database cannot be ${isDatabaseUnavailable(error) ? 'reached' : 'used'}: ${messageOf(error)}`

/**
 * Starts the server in the background, repeatedly until it runs.
 *
 * @throws DataDirInUseError if another host runs on the same data directory
 */
export async function keepEmbedded(options: KeeperOptions): Promise<Keeper> {
  const unlock = await lockDataDir(options.dataDir)
  const tried = Promise.withResolvers<void>()
  const connection = Promise.withResolvers<ClientConfig>()
  const stopping = Promise.withResolvers<null>()
  const ending = new AbortController()
  const { signal } = ending
  const heard = [options.onLine]
  const onLine = (line: string) => {
    for (const hear of heard) hear(line)
  }
  let { replaceMissing = false } = options
  let running: EmbeddedDatabase | null = null
  let problem: string | null = null

  const pause = () => {
    let timer: NodeJS.Timeout | undefined
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, RETRY_MS)
    })
    return Promise.race([over, stopping.promise]).finally(() => clearTimeout(timer))
  }

  async function keep(): Promise<void> {
    while (!signal.aborted) {
      try {
        await options.upgrade(signal)
        const made = await startEmbedded({ ...options, onLine, replaceMissing })
        replaceMissing = false
        running = made
        problem = null
        tried.resolve()
        connection.resolve(made.connection)
        const how = await Promise.race([made.ended, stopping.promise])
        if (how === null) return
        running = null
        problem = `the database server ended (${how})`
        options.onError(new Error(problem))
      } catch (error) {
        problem = cannotBeUsed(error)
        options.onError(errorOf(error))
        tried.resolve()
        await pause()
      }
    }
  }

  const keeping = keep()
  return {
    tried: tried.promise,
    connection: connection.promise,
    problem: () => problem,
    pid: () => running?.pid ?? null,
    hear: (hear) => void heard.push(hear),
    async stop() {
      ending.abort()
      stopping.resolve(null)
      await keeping
      await running?.stop()
      await unlock()
    },
  }
}

/** Returns the connection parameters of a server that another process keeps. */
export const connectionToSharedServer = (dataDir: string, password: string): ClientConfig => ({
  host: homeOf(dataDir).socket,
  user: NAME,
  password,
  database: NAME,
})
