/** `keyway start` with several processes: the first one keeps the database and the others, and serves nothing. */
import cluster from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { type Config, setting } from '../config/config.ts'
import { upgradeEmbedded } from '../database/backup/upgrade.ts'
import { MOST_OF_A_HOST } from '../database/connections.ts'
import { type Keeper, keepEmbedded } from '../database/keeper.ts'
import { PASSWORD_FILE } from '../database/place.ts'
import { openDataDir } from '../host/data-dir.ts'
import type { HostParts } from '../host/parts.ts'
import { createHost } from '../main.ts'
import type { Log } from '../observe/log.ts'
import { joinOthers } from '../processes/member.ts'
import { startMembers } from '../processes/primary.ts'
import { configOf } from '../processes/share.ts'
import { keptSecret } from '../secrets/secret-files.ts'
import { type Listening, listen, stopOnSignal } from './serve.ts'
import { tellToken } from './tell-token.ts'

/** Whether this process is one of several that serve. */
export const isMember = (): boolean => cluster.isWorker

/** Connections of the embedded server beside those of the hosts: commands, a look from outside. */
const MORE_CONNECTIONS = 26

/** How long a process that joins others waits for what is installed, in milliseconds. */
const INSTALLED_MS = 10_000

/** Runs as the first process. */
export async function startProcesses(
  config: Config,
  log: Log,
  { replaceMissing }: { replaceMissing: boolean },
): Promise<void> {
  await openDataDir(config.dataDir)
  const keeper = config.databaseUrl === '' ? await keepDatabase(config, log, replaceMissing) : null
  // The others find it there; where it cannot be started they say so, and serve connectors.
  await keeper?.tried
  const wanted = config.processes
  const primary = startMembers(wanted, {
    onServing: (pid, count) => log.info({ pid, serving: count, wanted }, 'a process serves'),
    onEnded: (pid, how, againMs) =>
      log.error({ pid, how, againMs }, 'a process that served ended; another takes its place'),
  })
  stopOnSignal(log, async () => {
    await primary.stop('SIGTERM')
    await keeper?.stop()
  })
  void primary.failed.then(async (code) => {
    await primary.stop('SIGTERM')
    await keeper?.stop()
    process.exit(code)
  })
}

function keepDatabase(
  { dataDir, processes }: Config,
  log: Log,
  replaceMissing: boolean,
): Promise<Keeper> {
  const password = async () => (await keptSecret(dataDir, PASSWORD_FILE)).value
  const tell = (text: string) => log.info(text)
  return setting(() =>
    keepEmbedded({
      dataDir,
      password,
      replaceMissing,
      upgrade: (signal) => upgradeEmbedded({ dataDir, password, tell, signal }),
      maxConnections: processes * MOST_OF_A_HOST + MORE_CONNECTIONS,
      tell,
      onLine: (line) => log.debug({ line }, 'postgresql'),
      onError: (error) => log.warn({ err: error }, 'the database'),
    }),
  )
}

/** Runs as one of those that serve. */
export async function serveAsMember(config: Config, log: Log): Promise<void> {
  const { siblings, isFirst, settled } = await joinOthers()
  const share = configOf(config, siblings.wanted)
  const parts: HostParts = config.databaseUrl === '' ? { database: 'beside' } : {}
  const host = await createHost(share, log, {}, { ...parts, siblings })
  const { registry: connectors, lanes } = host
  let listening: Listening | null = null
  stopOnSignal(log, async () => {
    if (listening) return listening.stop()
    await host.stop()
  })
  // Callers are sent here as soon as it listens: where others serve, not before it knows its connectors.
  if (!isFirst) {
    await host.settled
    await Promise.race([host.lifecycle.ready, pause(INSTALLED_MS, undefined, { ref: false })])
  }
  listening = await listen(host, share)
  if (isFirst) {
    const { url } = listening
    log.info({ url, containment: lanes.containment.level }, 'Keyway listens')
    tellToken(host, log)
  }
  await host.settled
  settled()
  const ids = connectors.ids()
  if (isFirst) log.info({ connectors: ids }, 'ready')
}
