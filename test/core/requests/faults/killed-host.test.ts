/** Two hosts on one database carry many requests out; one is killed in the middle. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedDatabase, startEmbedded } from '../../../../runtime/database/embedded.ts'
import { forgetDatabase } from '../../../database/forget.ts'
import { send } from '../../../e2e/client.ts'
import { begin, type Command, newHome, stopCommands } from '../../../e2e/command.ts'
import { until } from '../../../e2e/until.ts'
import { ADMIN_TOKEN, type CoreHost, person, SECRET, startCore } from '../../host.ts'
import { company } from '../company.ts'
import { type BadSystem, startBadSystem } from './bad-system.ts'

const PASSWORD = 'p'.repeat(40)
/** More than one host does at once. */
const PEOPLE = 12

let folder: string
let server: EmbeddedDatabase
let system: BadSystem
let core: CoreHost
let other: Command

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'keyway-killed-'))
  server = await startEmbedded({
    dataDir: folder,
    password: PASSWORD,
    tell: () => {},
    onLine: () => {},
  })
  system = await startBadSystem()
  const DATABASE_URL = `postgres://keyway:${PASSWORD}@/keyway?host=${server.connection.host}`
  core = await startCore({ ...system.env, DATABASE_URL })
  other = begin(['start'], {
    env: {
      ...system.env,
      DATABASE_URL,
      PORT: '0',
      KEYWAY_DATA_DIR: path.join(await newHome(), 'data'),
      KEYWAY_SECRET: SECRET,
      KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN,
    },
  })
  const [, url = ''] = await other.prints(/"url":"([^"]+)"/)
  await until(
    'the other is ready',
    async () => (await send(`${url}/readyz`, {})).status === 200,
    60_000,
  )
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

test('the other goes on with what the killed one had begun, and nothing is done twice', async () => {
  const acme = company(core)
  const appId = await acme.connected(system.app)
  const permission = await acme.synced(appId, 'Group', {
    entitlementType: 'GROUP',
    entitlementId: 'group',
    resourceType: '',
    resourceId: '',
  })
  const killed = Promise.withResolvers<'well'>()
  let held = 0
  system.behave((name) => {
    if (name !== 'create_account' || held >= PEOPLE) return 'well'
    held += 1
    return killed.promise
  })
  const body = { app_id: appId, requestable_permission_ids: [permission] }
  const emails = Array.from({ length: PEOPLE }, (_, n) => `person-${n}@acme.example`)
  const ids: string[] = []
  for (const email of emails) ids.push(await acme.asked(await person(core.db, email), body))
  await Promise.all(ids.map((id) => acme.settle(id, 'complete')))
  // More than this host does at once of one app: so some are the other's.
  await until('both call the system', () => held > 3)
  const killedMs = performance.now()
  other.kill('SIGKILL')
  await other.ended
  killed.resolve('well')
  for (const id of ids) await acme.reaches(id, 'COMPLETED')
  console.log(`all were given ${Math.round(performance.now() - killedMs)} ms after the kill`)
  for (const email of emails) expect(system.accountsOf(email)).toHaveLength(1)
  expect(system.held.size).toBe(PEOPLE)
}, 120_000)
