/**
 * `keyway start` with several processes: the first one keeps the database and the other processes, and serves
 * nothing.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { MAX_CONNECTIONS_PER_HOST } from '../database/connections.ts'
import { openDataDir } from '../host/data-dir.ts'
import { keepServer } from '../host/keep-server.ts'
import type { HostParts } from '../host/parts.ts'
import { createHost } from '../main.ts'
import type { Log } from '../observe/log.ts'
import { joinOthers } from '../processes/member.ts'
import { startMembers } from '../processes/primary.ts'
import { configOf } from '../processes/process-share.ts'
import { tellReady } from './log-ready.ts'
import { tellToken } from './log-token.ts'
import { type Listening, listen, stopOnSignal } from './serve.ts'
import { settle } from './settled.ts'

/**
 * Connections of the embedded server in addition to those of the hosts, for commands and external monitoring.
 */
const MORE_CONNECTIONS = 26

/** Maximum time that a joining process waits for installed connectors, in milliseconds. */
const INSTALLED_MS = 10_000

/** Runs as the first process. */
export async function startProcesses(
  config: Config,
  log: Log,
  { replaceMissing }: { replaceMissing: boolean },
): Promise<void> {
  await openDataDir(config.dataDir)
  const maxConnections = config.processes * MAX_CONNECTIONS_PER_HOST + MORE_CONNECTIONS
  const keeper =
    config.databaseUrl === ''
      ? await keepServer(config, log, { replaceMissing, maxConnections })
      : null
  // The others find it there. If it cannot be started, they report that and serve connectors.
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

/** Runs as one of the serving processes. */
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
  // Callers reach this process as soon as it listens. If others already serve, it waits until it knows its
  // connectors.
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
  await settle(host, share)
  settled()
  if (isFirst) tellReady(connectors.ids(), log)
}
