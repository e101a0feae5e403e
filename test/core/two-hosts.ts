/** Hosts on one database over a system that behaves as it is told: one in this process, others to be killed. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbedded } from '../../runtime/database/embedded.ts'
import { forgetDatabase } from '../database/forget.ts'
import { send } from '../e2e/client.ts'
import { begin, type Command, newHome, stopCommands } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { ADMIN_TOKEN, type CoreHost, SECRET, startCore } from './host.ts'
import { type BadSystem, startBadSystem } from './requests/faults/bad-system.ts'

const PASSWORD = 'p'.repeat(40)

export type Hosts = {
  system: BadSystem
  /** The host in this process, ready. */
  core: CoreHost
  /** Starts one in a process of its own, ready. */
  other(): Promise<Command>
  stop(): Promise<void>
}

export async function startHosts(): Promise<Hosts> {
  const folder = mkdtempSync(path.join(tmpdir(), 'keyway-hosts-'))
  const told = { tell: () => {}, onLine: () => {} }
  const server = await startEmbedded({ dataDir: folder, password: PASSWORD, ...told })
  const system = await startBadSystem()
  const DATABASE_URL = `postgres://keyway:${PASSWORD}@/keyway?host=${server.connection.host}`
  const env = { ...system.env, DATABASE_URL }
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
      await until('the other is ready', isReady, 60_000)
      return started
    },
    async stop() {
      await core.stop()
      await stopCommands()
      await system.close()
      await server.stop()
      await forgetDatabase(folder)
      await rm(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
