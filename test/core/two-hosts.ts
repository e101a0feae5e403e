/** Hosts on one database: one in this process, others in processes that can be killed. */
import path from 'node:path'
import { send } from '../e2e/client.ts'
import { begin, type Command, newHome, stopCommands } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { openTestDatabase } from '../kit/databases.ts'
import { ADMIN_TOKEN, type CoreHost, SECRET, startCore } from './host.ts'
import { type BadSystem, startBadSystem } from './requests/faults/bad-system.ts'

export type Hosts = {
  system: BadSystem
  /** The host in this process, ready. */
  core: CoreHost
  /** Starts a host in a process of its own, and waits until it is ready. */
  other(): Promise<Command>
  stop(): Promise<void>
}

export async function startHosts(): Promise<Hosts> {
  const database = await openTestDatabase()
  const system = await startBadSystem()
  const env = { ...system.env, DATABASE_URL: database.url }
  const core = await startCore(env)
  await core.host.settled
  return {
    system,
    core,
    async other() {
      const KEYWAY_DATA_DIR = path.join(await newHome(), 'data')
      const secrets = { KEYWAY_SECRET: SECRET, KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN }
      const started = begin(['start'], { env: { ...env, PORT: '0', KEYWAY_DATA_DIR, ...secrets } })
      const [, url = ''] = await started.prints(/"url":"([^"]+)"/)
      const isReady = async () => (await send(`${url}/readyz`, {})).status === 200
      await until('the other host is ready', isReady)
      return started
    },
    async stop() {
      await core.stop()
      await stopCommands()
      await system.close()
      await database.drop()
    },
  }
}
