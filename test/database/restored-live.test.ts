/**
 * Backs up a deployment with work in progress and restores it: nothing waits for the earlier host, and
 * one-time links and sessions are not accepted again.
 */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTokenHasher } from '../../runtime/core/kernel/identity/token-hasher.ts'
import { signInByToken } from '../../runtime/core/sign-in/sessions.ts'
import { backup } from '../../runtime/database/backup/backup.ts'
import { restore } from '../../runtime/database/backup/restore.ts'
import type { Db } from '../../runtime/database/database.ts'
import type { EmbeddedDatabase } from '../../runtime/database/embedded.ts'
import { PASSWORD_FILE } from '../../runtime/database/server-place.ts'
import { backupKey, keyId } from '../../runtime/secrets/key-derivation.ts'
import { keptSecret } from '../../runtime/secrets/secret-files.ts'
import { ADMIN_TOKEN, type CoreHost, person, SECRET, startCore } from '../core/host.ts'
import { company } from '../core/requests/company.ts'
import { type BadSystem, startBadSystem } from '../core/requests/faults/bad-system.ts'
import { send } from '../e2e/client.ts'
import { begin, type Command, stopCommands } from '../e2e/command.ts'
import { until } from '../e2e/until.ts'
import { visit } from '../http/settings/visitor.ts'
import { newFolder } from '../kit/folder.ts'
import { ownServer } from '../kit/own-server.ts'
import { withVerdicts } from '../kit/template.ts'
import { forgetDatabase } from './forget.ts'

const EMAIL = 'ada@acme.example'
const home = newFolder('restored-live')
const to = path.join(home, 'restored')
const KEY = { id: keyId(SECRET), sealKey: backupKey(SECRET) }
const quiet = { signal: new AbortController().signal, onProgress: () => {}, tell: () => {} }

let system: BadSystem
let server: EmbeddedDatabase
let pool: Pool
let host: Command
let url: string
let core: CoreHost | null = null

beforeAll(async () => {
  // Calls hang until the host is killed.
  system = await startBadSystem({ deadlineMs: 30_000 })
  const own = await ownServer()
  server = own.server
  pool = new Pool({ ...server.connection, max: 2 })
  // After the last test, the stopping server may end connections that are being closed.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', () => {})
  const env = {
    ...system.env,
    DATABASE_URL: own.url,
    KEYWAY_DATA_DIR: path.join(home, 'host'),
    KEYWAY_SECRET: SECRET,
    KEYWAY_ADMIN_TOKEN: ADMIN_TOKEN,
    PORT: '0',
  }
  host = begin(['start'], { env })
  ;[, url = ''] = await host.prints(/"url":"([^"]+)"/)
  await until('the host is ready', async () => (await send(`${url}/readyz`, {})).status === 200)
  await until('the connector is served', async () => {
    const { body } = await call('GET', '/operator/connectors')
    return JSON.stringify(body).includes('"bad"')
  })
})
afterAll(async () => {
  await core?.stop({ keep: true })
  await stopCommands()
  await pool.end()
  await system.close()
  await forgetDatabase(to)
  await rm(home, { recursive: true, force: true, maxRetries: 10 })
})

/** Calls the host that is backed up. */
const call: CoreHost['call'] = async (method, target, { token = ADMIN_TOKEN, body } = {}) => {
  const reply = await send(url + target, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = reply.text === '' ? null : JSON.parse(reply.text)
  return { status: reply.status, body: answer, headers: new Headers() }
}

const count = async (db: Db, what: string): Promise<number> =>
  Number((await db.execute<{ n: string }>(sql.raw(`select count(*) as n from ${what}`))).rows[0]?.n)

/** Work in progress on the killed host, by name: each has rows before the backup. */
const UNDER_WAY: Record<string, string> = {
  'a running job': `jobs.job where state = 'active'`,
  'a sync with a held lease': `sync_runs where state = 'RUNNING' and lease_until > now()`,
  'a request in provisioning': `access_requests where todo is not null`,
  'a host with a recent heartbeat': `nodes where seen_at > now() - interval '10 seconds'`,
  'a signed-in user': 'sessions',
  'an unused sign-in link': 'login_links',
  'a shared answer that others await': `shared_answers where answer is null and until > now()`,
}

/** The same on the restored database: each must end without rows. */
const OVER: Record<string, string> = {
  ...UNDER_WAY,
  'a host with a recent heartbeat': `nodes where seen_at < pg_postmaster_start_time()`,
  'a running job': `jobs.job where state = 'active' and started_on < pg_postmaster_start_time()`,
}

test('a restored deployment completes its work once, and accepts no earlier session or sign-in link', async () => {
  const db: Db = drizzle(pool)
  const acme = company({ call, db })
  const { appId, permission } = await acme.connectedWithGroup(system.app)
  await until('the first sync has ended', async () => {
    const { body } = await call('GET', `/operator/syncs?app_id=${appId}`)
    return body.items.every(({ state }: { state: string }) => state !== 'RUNNING')
  })
  const who = await person(db, EMAIL, ['Admin'])
  const session = await signInByToken(db, createTokenHasher([SECRET]), who.token)
  const { body: link } = await call('POST', '/operator/login-links', { body: { email: EMAIL } })
  await db.execute(
    sql`insert into shared_answers (key, finder, until) values ('a question', gen_random_uuid(), now() + interval '2 minutes')`,
  )
  const id = await acme.asked(who, { app_id: appId, requestable_permission_ids: [permission] })
  // The access is granted, but the answer never arrives.
  system.behave((name) => (name === 'assign_entitlement' ? 'hang' : 'well'))
  await acme.settle(id, 'complete')
  await until('access is being provisioned', () => system.count('assign_entitlement') > 0)
  const listed = system.count('list_accounts')
  system.behave((name) => (/^(assign|list)/.test(name) ? 'hang' : 'well'))
  expect(
    (await call('POST', `/apps/${appId}/sync`, { body: { sync_type: 'full_sync' } })).status,
  ).toBe(202)
  await until('accounts are being listed', () => system.count('list_accounts') > listed)
  host.kill('SIGKILL')
  await host.ended
  for (const [what, rows] of Object.entries(UNDER_WAY))
    expect({ what, there: (await count(db, rows)) > 0 }).toEqual({ what, there: true })

  const file = path.join(home, 'backup.tar.gz')
  const { connection } = server
  await backup({ connection, file, force: false, keys: [KEY], version: '1.2.3', ...quiet })
  const password = async () => (await keptSecret(to, PASSWORD_FILE)).value
  await restore({ dataDir: to, file, force: false, keys: [KEY], password, ...quiet })
  withVerdicts(to)
  system.behave(() => 'well')
  core = await startCore(system.env, { from: to })
  await core.host.settled

  const restored = company(core)
  await restored.reaches(id, 'COMPLETED')
  expect(system.accountsOf(EMAIL)).toHaveLength(1)
  expect([...system.held.keys()]).toHaveLength(1)
  const seen = core
  await until('the sync has succeeded', async () => {
    const { body } = await seen.call('GET', `/operator/syncs?app_id=${appId}`)
    return body.items[0].state === 'SUCCEEDED'
  })
  for (const [what, rows] of Object.entries(OVER))
    await until(`there is no more ${what}`, async () => (await count(seen.db, rows)) === 0)
  expect((await core.call('GET', '/operator/rotation')).body.hosts_behind).toEqual([])

  const visitor = visit(core)
  visitor.cookies.set('keyway_session', session ?? '')
  expect((await visitor.get('/settings/api-tokens')).status).not.toBe(200)
  visitor.cookies.clear()
  await visitor.get('/settings/sign-in')
  await visitor.post('/settings/sign-in', { code: link.path.split('#code=')[1] })
  expect((await visitor.get('/settings/api-tokens')).status).not.toBe(200)
  // API tokens stay valid.
  expect((await core.call('GET', '/users/current', { token: who.token })).status).toBe(200)
}, 180_000)
