/** The embedded server of a host, also of several processes that share it. */
import { type Config, setting } from '../config/config.ts'
import { type Keeper, keepEmbedded } from '../database/keeper.ts'
import { PASSWORD_FILE } from '../database/place.ts'
import type { Log } from '../observe/log.ts'
import { keptSecret } from '../secrets/secret-files.ts'

type KeepOptions = {
  /** Whether an empty database may take the place of one that is missing. */
  replaceMissing: boolean
  /** Connections that the server takes: enough for one host unless written. */
  maxConnections?: number
}

/**
 * Locks the data directory, and starts its server in the background.
 *
 * @throws ConfigError when another host runs on the same data directory.
 */
export function keepServer(
  { dataDir }: Pick<Config, 'dataDir'>,
  log: Log,
  options: KeepOptions,
): Promise<Keeper> {
  const password = async () => (await keptSecret(dataDir, PASSWORD_FILE)).value
  const tell = (text: string) => log.info(text)
  return setting(() =>
    keepEmbedded({
      ...{ dataDir, password, tell, ...options },
      async upgrade(signal) {
        // Loaded beside the host: nothing of it is needed for another start.
        const { upgradeEmbedded } = await import('../database/backup/upgrade.ts')
        await upgradeEmbedded({ dataDir, password, tell, signal })
      },
      onLine: (line) => log.debug({ line }, 'postgresql'),
      onError: (error) => log.warn({ err: error }, 'the database'),
    }),
  )
}
