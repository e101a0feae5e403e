/** Hosts on one database carry requests out while one of them is killed again and again. `KILLS=30` for more. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedDatabase, startEmbedded } from '../../../../runtime/database/embedded.ts'
import { forgetDatabase } from '../../../database/forget.ts'
import { send } from '../../../e2e/client.ts'
import { begin, type Command, newHome, stopCommands } from '../../../e2e/command.ts'
import { until } from '../../../e2e/until.ts'
import { ADMIN_TOKEN, type CoreHost, person, SECRET, startCore } from '../../host.ts'
import { company } from '../company.ts'
import { type BadSystem, type End, startBadSystem } from './bad-system.ts'

const KILLS = Number(process.env['KILLS'] ?? 2)
/** Requests of each round. */
const PEOPLE = 8
const PASSWORD = 'p'.repeat(40)

let folder: string
let server: EmbeddedDatabase
let system: BadSystem
let core: CoreHost
let env: Record<string, string>

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'keyway-kills-'))
  const told = { tell: () => {}, onLine: () => {} }
  server = await startEmbedded({ dataDir: folder, password: PASSWORD, ...told })
  system = await startBadSystem()
  const DATABASE_URL = `postgres://keyway:${PASSWORD}@/keyway?host=${server.connection.host}`
  env = { ...system.env, DATABASE_URL }
  core = await startCore(env)
  await core.host.settled
})
afterAll(async () => {
  await core.stop()
  await stopCommands()
  await system.close()
  await server.stop()
  await forgetDatabase(folder)
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

async function otherHost(): Promise<Command> {
  const KEYWAY_DATA_DIR = path.join(await newHome(), 'data')
  const secrets = { KEYWAY_SECRET: SECRET, KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN }
  const other = begin(['start'], { env: { ...env, PORT: '0', KEYWAY_DATA_DIR, ...secrets } })
  const [, url = ''] = await other.prints(/"url":"([^"]+)"/)
  const isReady = async () => (await send(`${url}/readyz`, {})).status === 200
  await until('the other is ready', isReady, 60_000)
  return other
}

test(
  'no request is lost, and nothing is given twice',
  async () => {
    const acme = company(core)
    const appId = await acme.connected(system.app)
    const permission = await acme.synced(appId, 'Group', {
      entitlementType: 'GROUP',
      entitlementId: 'group',
      resourceType: '',
      resourceId: '',
    })
    // Slow enough that a kill meets work under way.
    system.behave(async (): Promise<End> => {
      await pause(100 + Math.random() * 200)
      return 'well'
    })
    const body = { app_id: appId, requestable_permission_ids: [permission] }
    for (let round = 0; round < KILLS; round += 1) {
      const other = await otherHost()
      const emails = Array.from({ length: PEOPLE }, (_, n) => `person-${round}-${n}@acme.example`)
      const ids: string[] = []
      for (const email of emails) ids.push(await acme.asked(await person(core.db, email), body))
      await Promise.all(ids.map((id) => acme.settle(id, 'complete')))
      const afterMs = Math.round(Math.random() * 1500)
      await pause(afterMs)
      other.kill('SIGKILL')
      await other.ended
      for (const id of ids) await acme.reaches(id, 'COMPLETED')
      const words = `round ${round}, killed after ${afterMs} ms`
      for (const email of emails) {
        const own = system.accountsOf(email)
        expect(own, words).toHaveLength(1)
        expect(system.held.has(`${own[0]?.[0]} group`), words).toBe(true)
      }
    }
  },
  60_000 + KILLS * 90_000,
)
