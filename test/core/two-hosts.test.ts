/** Several hosts share one database and nothing else. */
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../runtime/config/config.ts'
import { type EmbeddedDatabase, startEmbedded } from '../../runtime/database/embedded.ts'
import { apiTokens, users } from '../../runtime/database/schema/people.ts'
import { createHost } from '../../runtime/main.ts'
import { createLog } from '../../runtime/observe/log.ts'
import { VERSION } from '../../runtime/version.ts'
import { forgetDatabase } from '../database/forget.ts'
import { until } from '../e2e/until.ts'
import { withVerdicts } from '../kit/template.ts'
import { workerOfTests } from '../kit/worker.ts'
import { shows } from '../symptoms.ts'
import { type CoreHost, group, person, SECRET, startCore } from './host.ts'

const PASSWORD = 'p'.repeat(40)
const folders: string[] = []
const folder = (): string => {
  const made = mkdtempSync(path.join(tmpdir(), 'keyway-hosts-'))
  folders.push(made)
  return made
}

let server: EmbeddedDatabase
let home: string
let env: { DATABASE_URL: string }
let one: CoreHost
let two: CoreHost

beforeAll(async () => {
  home = folder()
  const dataDir = home
  server = await startEmbedded({ dataDir, password: PASSWORD, tell: () => {}, onLine: () => {} })
  env = { DATABASE_URL: `postgres://keyway:${PASSWORD}@/keyway?host=${server.connection.host}` }
  // Both find an empty database, and both migrate it.
  ;[one, two] = await Promise.all([startCore(env), startCore(env)])
})
afterAll(async () => {
  await one.stop()
  await two.stop()
  await server.stop()
  for (const made of folders) {
    await forgetDatabase(made)
    await rm(made, { recursive: true, force: true, maxRetries: 10 })
  }
})

describe('a change by one host applies to the next request on the other:', () => {
  test('a removed role', async () => {
    const boss = await person(one.db, 'boss@example.com', ['Admin'])
    for (const host of [one, two])
      expect((await host.call('GET', '/users', { token: boss.token })).status).toBe(200)
    expect((await one.call('DELETE', `/users/${boss.id}/roles/Admin`)).status).toBe(204)
    expect((await two.call('GET', '/users', { token: boss.token })).status).toBe(403)
  })

  test('a revoked token', async () => {
    const ada = await person(one.db, 'ada@example.com')
    expect((await two.call('GET', '/users/current', { token: ada.token })).status).toBe(200)
    await one.db
      .update(apiTokens)
      .set({ revokedAt: new Date() })
      .where(eq(apiTokens.userId, ada.id))
    expect((await two.call('GET', '/users/current', { token: ada.token })).status).toBe(401)
  })

  test('a suspended user', async () => {
    const bob = await person(one.db, 'bob@example.com')
    expect((await two.call('GET', '/users/current', { token: bob.token })).status).toBe(200)
    await one.db.update(users).set({ status: 'SUSPENDED' }).where(eq(users.id, bob.id))
    expect((await two.call('GET', '/users/current', { token: bob.token })).status).toBe(401)
  })

  test('a change of a cached list', async () => {
    const total = async () => (await two.call('GET', '/groups?name=shared')).body.total
    expect(await total()).toBe(0)
    await group(one.db, 'Shared', [])
    expect(await total()).toBe(1)
  })
})

/** Starts a host that may be refused; returns what it waits for, and whether it has the database. */
async function tryHost(secret: string) {
  const dataDir = folder()
  withVerdicts(dataDir)
  const config = readConfig({
    KEYWAY_DATA_DIR: dataDir,
    KEYWAY_DROP_IN: 'off',
    KEYWAY_LOG_LEVEL: 'silent',
    KEYWAY_SECRET: secret,
    ...env,
  })
  const host = await createHost(config, createLog('silent'), {}, { worker: workerOfTests() })
  const waiting = async () => {
    const reply = await host.app.request('/readyz', { headers: { host: 'localhost' } })
    return JSON.stringify(((await reply.json()) as { waiting_for: string[] }).waiting_for)
  }
  for (let tries = 0; tries < 200; tries += 1) {
    if (host.db() || /cannot be/.test(await waiting())) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const waitingFor = await waiting()
  const served = host.db() !== null
  await host.stop()
  return { waitingFor, served }
}

test('a host with another secret is refused with a message until it has the shared secret', async () => {
  const other = 'another-secret-'.repeat(4)
  const tokens = await one.db.$count(apiTokens)
  expect(await tryHost(other)).toMatchObject({
    served: false,
    waitingFor: expect.stringMatching(
      /cannot be used: KEYWAY_SECRET is not the secret of this database/,
    ),
  })
  shows('“KEYWAY_SECRET is not the secret', (await tryHost(other)).waitingFor)
  expect(await one.db.$count(apiTokens)).toBe(tokens)
  // A rotation: the new secret before the old one, on one host after the other.
  expect((await tryHost(`${other},${SECRET}`)).served).toBe(true)
  expect((await tryHost(SECRET)).served).toBe(false)
  expect((await tryHost(`${other},${SECRET}`)).served).toBe(true)
})

test('a running host works with the database of a later version; a start is refused with both versions', async () => {
  const owner = new Client(server.connection)
  await owner.connect()
  await owner.query(`alter table users add column of_a_later_version text not null default 'x'`)
  await owner.query(
    `insert into migrations.__drizzle_migrations (hash, created_at) values ('later', 99999999999999)`,
  )
  const applied = () => owner.query('select * from migrations.__drizzle_migrations order by id')
  const before = (await applied()).rows
  await one.db.execute(sql`delete from deployment_secret`)
  await person(one.db, 'later@example.com')
  expect((await one.call('GET', '/users?search_term=later@')).body.total).toBe(1)
  // A later version that did not record its number, and one that did.
  expect(await tryHost(SECRET)).toMatchObject({
    served: false,
    waitingFor: expect.stringMatching(
      /cannot be used: .* of a version of Keyway that is newer than/,
    ),
  })
  await owner.query(
    `insert into deployment_versions (migrated_to, version) values (99999999999999, '7.8.9')`,
  )
  const { waitingFor } = await tryHost(SECRET)
  expect(waitingFor).toContain('of Keyway 7.8.9, which is newer than this version')
  shows('a start is refused: “is newer', waitingFor)
  expect(waitingFor).toContain(VERSION)
  expect(waitingFor).toContain('restore the backup')
  expect((await applied()).rows).toEqual(before)
  await owner.query(`delete from migrations.__drizzle_migrations where hash = 'later'`)
  await owner.query('delete from deployment_versions where migrated_to = 99999999999999')
  const { rows } = await owner.query('select version from deployment_versions')
  expect(rows).toEqual([{ version: VERSION }])
  await owner.query('alter table users drop column of_a_later_version')
  await owner.end()
})

test('a host that starts later serves the first domain, not a newer one', async () => {
  const client = new Client(server.connection)
  await client.connect()
  // The update moves the row after the other one, where a query without an order finds it last.
  await client.query("insert into domains (name) values ('other')")
  await client.query("update domains set name = 'default' where name = 'default'")
  await client.end()
  const three = await startCore(env)
  const { body } = await three.call('GET', '/users/current')
  expect(body.id).toBe((await one.call('GET', '/users/current')).body.id)
  const admins = await three.db.select().from(users).where(eq(users.email, 'admin@localhost'))
  expect(admins).toHaveLength(1)
  await three.stop()
})

test('a host without its database is alive but not ready, says why, and recovers by itself', async () => {
  const asked = async (target: string) => {
    const reply = await one.host.app.request(target, { headers: { host: 'localhost' } })
    return { status: reply.status, text: await reply.text() }
  }
  await until('the host is ready', async () => (await asked('/readyz')).status === 200)
  await server.stop()
  await until('the host is not ready', async () => (await asked('/readyz')).status === 503)
  expect(JSON.parse((await asked('/readyz')).text)).toMatchObject({
    ready: false,
    waiting_for: [expect.stringMatching(/^the database, which is away: /)],
  })
  shows('`/readyz` is 503', (await asked('/readyz')).text)
  shows(
    'the core interface answers 503',
    (await one.call('GET', '/users/current')).body,
    (await asked('/readyz')).text,
  )
  for (const target of ['/healthz', '/readyz/connectors', '/connectors/list-connector-app-ids'])
    expect((await asked(target)).status).toBe(200)
  server = await startEmbedded({
    dataDir: home,
    password: PASSWORD,
    tell: () => {},
    onLine: () => {},
  })
  await until('the host is ready again', async () => (await asked('/readyz')).status === 200)
  expect((await one.call('GET', '/users/current')).status).toBe(200)
  // A standby, or a database that an administrator has made read-only.
  const owner = new Client(server.connection)
  await owner.connect()
  const closed = (yes: boolean) =>
    owner.query(`alter database keyway set default_transaction_read_only = ${yes}; 
      select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'keyway watching'`)
  await closed(true)
  await until('the host is not ready', async () => (await asked('/readyz')).status === 503)
  shows('`/readyz` waits for “a database that takes changes”', (await asked('/readyz')).text)
  await owner.query('set default_transaction_read_only = off')
  await closed(false)
  await until('the host is ready again', async () => (await asked('/readyz')).status === 200)
  await owner.end()
})
