/** The log names who released a connector, even if the database was unavailable at that time. */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiTokens } from '../../runtime/database/schema/people.ts'
import { killDatabase } from '../database/kill.ts'
import { until } from '../e2e/until.ts'
import { fixture, withToken } from '../fixtures/folders.ts'
import { type CoreHost, person, startCore } from './host.ts'
import { lookAtStatements } from './statements.ts'

let core: CoreHost
let plugins: string

beforeAll(async () => {
  plugins = await mkdtemp(path.join(tmpdir(), 'keyway-release-'))
  await cp(fixture('hazards'), path.join(plugins, 'hazards'), { recursive: true })
  const settings = { KEYWAY_DROP_IN: 'open', KEYWAY_PLUGINS_DIR: plugins }
  core = await startCore(settings, { server: 'own' })
  await core.host.settled
})
afterAll(async () => {
  await core.stop()
  await rm(plugins, { recursive: true })
})

const state = async () =>
  (await core.call('GET', '/operator/connectors')).body.items.find(
    ({ id }: { id: string }) => id === 'hazards',
  ).state
/** Kills its worker process, so that the connector is under suspicion. */
const killWorker = () =>
  core.call('POST', '/connectors/hazards/list_accounts', {
    body: withToken({ custom_attributes: ['kill'] }),
  })
const releases = async () =>
  (await core.call('GET', '/activity_logs?event_type=CONNECTOR_RELEASED')).body.items

const untilSuspected = () =>
  until('the connector is under suspicion', async () => {
    await killWorker()
    return (await state()) !== 'ready'
  })

test('the log names who released it, even if their token is revoked during the call', async () => {
  await untilSuspected()
  const { token, id } = await person(core.db, 'op@example.com', ['Admin'])
  let asked = 0
  const looks = lookAtStatements((text) => {
    if (!/^\s*select\b.*from "api_tokens"/s.test(text)) return undefined
    asked += 1
    return asked === 2
      ? core.db.update(apiTokens).set({ revokedAt: new Date() }).where(eq(apiTokens.userId, id))
      : undefined
  })
  const { status } = await core
    .call('POST', '/operator/connectors/hazards/release', { token })
    .finally(() => looks.mockRestore())
  expect([status, asked]).toEqual([200, 2])
  expect(await releases()).toMatchObject([{ actor: { email: 'op@example.com' } }])
})

test('the log names who released it once the database is available again', async () => {
  await untilSuspected()
  killDatabase(core.host.databasePid())
  await until('the database is away', async () => {
    return (await core.call('GET', '/users/current')).status === 503
  })
  const { status, body } = await core.call('POST', '/operator/connectors/hazards/release')
  expect([status, body]).toEqual([200, { id: 'hazards', released: true }])
  await until('the release is logged', async () => {
    const { status: read } = await core.call('GET', '/users/current')
    return read === 200 && (await releases()).length > 1
  })
  expect((await releases()).slice(1)).toMatchObject([
    {
      targets: [{ target_type: 'Connector', id: 'hazards' }],
      actor: { email: 'admin@localhost' },
      event_metadata: { happened_at: expect.stringMatching(/^20\d\d-/) },
    },
  ])
  expect(await state()).toBe('ready')
})
