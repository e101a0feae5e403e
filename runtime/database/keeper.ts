/** Keeps the embedded server of a data directory for processes that share it: the lock, the server, its restarts. */
import type { ClientConfig } from 'pg'
import { errorOf } from '../contract/errors/thrown.ts'
import { type EmbeddedDatabase, type EmbeddedOptions, NAME, startEmbedded } from './embedded.ts'
import { homeOf } from './home.ts'
import { lockDataDir } from './host-lock.ts'

export type Keeper = {
  /** Resolves when the server was started, or could not be for the first time. */
  tried: Promise<void>
  /** Stops the server, and gives the lock back. */
  stop(): Promise<void>
}

type KeeperOptions = EmbeddedOptions & {
  /** Called before each start: brings a database of an older major version to the package's. */
  upgrade(signal: AbortSignal): Promise<void>
  onError(error: Error): void
}

/** Pause between two tries, in milliseconds. */
const RETRY_MS = 2000

/**
 * Starts the server in the background, again and again until it runs.
 *
 * @throws DataDirInUseError when another host runs on the same data directory.
 */
export async function keepEmbedded(options: KeeperOptions): Promise<Keeper> {
  const unlock = await lockDataDir(options.dataDir)
  const tried = Promise.withResolvers<void>()
  const stopping = Promise.withResolvers<null>()
  const ending = new AbortController()
  let isStopping = false
  let { replaceMissing = false } = options
  let running: EmbeddedDatabase | null = null

  const pause = () => {
    let timer: NodeJS.Timeout | undefined
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, RETRY_MS)
    })
    return Promise.race([over, stopping.promise]).finally(() => clearTimeout(timer))
  }

  async function keep(): Promise<void> {
    while (!isStopping) {
      try {
        await options.upgrade(ending.signal)
        const made = await startEmbedded({ ...options, replaceMissing })
        replaceMissing = false
        running = made
        tried.resolve()
        const how = await Promise.race([made.ended, stopping.promise])
        if (how === null) return
        running = null
        options.onError(new Error(`the database server ended (${how})`))
      } catch (error) {
        options.onError(errorOf(error))
        tried.resolve()
        await pause()
      }
    }
  }

  const keeping = keep()
  return {
    tried: tried.promise,
    async stop() {
      isStopping = true
      ending.abort()
      stopping.resolve(null)
      await keeping
      await running?.stop()
      await unlock()
    },
  }
}

/** How to connect to the server that another process keeps. */
export const connectionBeside = (dataDir: string, password: string): ClientConfig => ({
  host: homeOf(dataDir).socket,
  user: NAME,
  password,
  database: NAME,
})
