/**
 * Databases of landed versions, kept as they were dumped (pg_dump --inserts), are brought to the schema of this one.
 * Each is named by the last migration that it had. KEYWAY_SECRET was SECRET, KEYWAY_ADMIN_TOKEN was TOKEN.
 */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bound } from '../../runtime/core/apps/connections.ts'
import { createTokenHasher, principalOfToken } from '../../runtime/core/callers/principal.ts'
import { agreeOnSecret, SecretMismatchError } from '../../runtime/core/deployment.ts'
import { tellPaused } from '../../runtime/core/paused.ts'
import { boundTo } from '../../runtime/core/webhooks/secrets.ts'
import { type Database, openDatabase } from '../../runtime/database/database.ts'
import { type EmbeddedDatabase, startEmbedded } from '../../runtime/database/embedded.ts'
import { createSealer } from '../../runtime/seal.ts'
import { withDatabase } from '../first-start.ts'
import { forgetDatabase } from './forget.ts'

const SECRET = 'upgrade-fixtures-'.repeat(3)
const TOKEN = `lsk_${'upgrade'.repeat(8)}`
const FOLDER = path.join(import.meta.dirname, '..', 'fixtures', 'upgrades')
const STATES = readdirSync(FOLDER).map((name) => name.replace('.sql.gz', ''))

/** What lies in each: connected apps, policies, requests. */
const HELD: Record<string, { apps: number; policies: number; requests: number }> = {
  '0000': { apps: 0, policies: 0, requests: 0 },
  '0007': { apps: 1, policies: 0, requests: 0 },
  '0011': { apps: 2, policies: 2, requests: 0 },
  '0013': { apps: 2, policies: 2, requests: 4 },
  '0017': { apps: 2, policies: 1, requests: 7 },
}

/** What the admins are told to turn on. */
const PAUSED: Record<string, string[]> = {
  '0000': [],
  '0007': ['SYNCS_PAUSED'],
  '0011': ['ACCESS_POLICIES_PAUSED', 'SYNCS_PAUSED'],
  '0013': ['ACCESS_POLICIES_PAUSED', 'SYNCS_PAUSED'],
  '0017': [],
}

let dataDir: string
let server: EmbeddedDatabase
beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'keyway-upgrades-'))
  await withDatabase(dataDir)
  const password = readFileSync(path.join(dataDir, 'database-password'), 'utf8').trim()
  server = await startEmbedded({ dataDir, password, tell: () => {}, onLine: () => {} })
})
afterAll(async () => {
  await server.stop()
  await forgetDatabase(dataDir)
  await rm(dataDir, { recursive: true, force: true })
})

/** A database with what a version left, in the server of the test. */
async function load(state: string, name = `of_${state}`): Promise<typeof server.connection> {
  const admin = new Client(server.connection)
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  const connection = { ...server.connection, database: name }
  const client = new Client(connection)
  await client.connect()
  try {
    // The dump makes its own, and sets a search path for the session.
    await client.query(
      gunzipSync(readFileSync(path.join(FOLDER, `${state}.sql.gz`))).toString('utf8'),
    )
  } finally {
    await client.end()
  }
  return connection
}

const count = async ({ db }: Database, of: string): Promise<number> =>
  Number((await db.execute<{ n: string }>(sql.raw(`select count(*) as n from ${of}`))).rows[0]?.n)

async function errorTasks({ db }: Database): Promise<string[]> {
  const { rows } = await db.execute<{ type: string }>(
    sql`select task_type as type from tasks where task_category = 'ERROR' order by created_at, task_type`,
  )
  return rows.map(({ type }) => type)
}

type Sealed = { id: string; domainId: string; sealed: Buffer }

describe.each(STATES)('a database of migration %s', (state) => {
  let opened: Database
  beforeAll(async () => {
    const connection = await load(state)
    opened = await openDatabase(connection, (error) => {
      throw error
    })
  })
  afterAll(() => opened?.close())

  test('keeps what was in it', async () => {
    expect({
      apps: await count(opened, 'apps where sealed_connection is not null'),
      policies: await count(opened, 'access_policies'),
      requests: await count(opened, 'access_requests'),
    }).toEqual(HELD[state])
    expect(await count(opened, 'users')).toBeGreaterThan(0)
  })

  test('takes its secret, also where it was named otherwise then, and no other one', async () => {
    if ((await count(opened, 'deployment_secret')) > 0)
      await expect(agreeOnSecret(opened.db, ['x'.repeat(40)])).rejects.toThrow(SecretMismatchError)
    expect(await agreeOnSecret(opened.db, [SECRET])).toBe(true)
    expect(await agreeOnSecret(opened.db, [SECRET])).toBe(true)
  })

  test('knows its tokens', async () => {
    const principal = await principalOfToken(opened.db, createTokenHasher([SECRET]), TOKEN)
    expect(principal).toMatchObject({ domainId: opened.domainId })
  })

  test('does not begin by itself what it did not do then, and tells the admins once', async () => {
    const before = await errorTasks(opened)
    await tellPaused(opened.db, opened.domainId)
    await tellPaused(opened.db, opened.domainId)
    expect((await errorTasks(opened)).slice(before.length)).toEqual(PAUSED[state])
    const acting = `access_policies where is_enabled and status = 'PUBLISHED'`
    expect(await count(opened, acting)).toBe(state === '0017' ? 1 : 0)
    const synced = `apps a left join sync_settings s on s.app_id = a.id
      where a.sealed_connection is not null and coalesce(s.every_hours, 24) > 0`
    expect(await count(opened, synced)).toBe(state === '0017' ? 2 : 0)
    expect(await count(opened, 'access_policies where swept_to is not null')).toBe(0)
  })

  test('opens the credentials that were kept', async () => {
    const vault = createSealer([SECRET], 'connection')
    const { rows } = await opened.db.execute<Sealed>(
      sql`select id, domain_id as "domainId", sealed_connection as sealed from apps where sealed_connection is not null`,
    )
    for (const row of rows)
      expect(JSON.parse(vault.open(row.sealed, bound(row)))).toMatchObject({
        auth: { token: { token: 'sample-token' } },
      })
    const hooks = await opened.db.execute<Sealed>(
      sql`select id, domain_id as "domainId", sealed from inline_webhooks where sealed is not null`,
    )
    for (const row of hooks.rows) expect(vault.open(row.sealed, boundTo(row))).toContain('{')
  })
})
