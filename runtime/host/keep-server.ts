/** The embedded database server of a host, which several processes of the host may share. */
import { type Config, setting } from '../config/config.ts'
import { type Keeper, keepEmbedded } from '../database/keeper.ts'
import { PASSWORD_FILE } from '../database/server-place.ts'
import type { Log } from '../observe/log.ts'
import { keptSecret } from '../secrets/secret-files.ts'

type KeepOptions = {
  /** Whether an empty database may replace a missing one. */
  replaceMissing: boolean
  /** Maximum number of connections to the server. The default is enough for one host process. */
  maxConnections?: number
}

/**
 * Locks the data directory and starts its server in the background.
 *
 * @throws ConfigError if another host runs on the same data directory
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
        // Loaded on demand: only an upgrade needs it.
        const { upgradeEmbedded } = await import('../database/backup/upgrade.ts')
        await upgradeEmbedded({ dataDir, password, tell, signal })
      },
      onLine: (line) => log.debug({ line }, 'postgresql'),
      onError: (error) => log.warn({ err: error }, 'the database'),
    }),
  )
}
