/**
 * Migrates stored databases of released versions to the schema of this version, and refuses those of unknown
 * builds.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bound } from '../../runtime/core/catalogue/apps/connections.ts'
import {
  agreeOnSecret,
  SecretMismatchError,
} from '../../runtime/core/kernel/deployment/deployment.ts'
import { principalOfToken } from '../../runtime/core/kernel/identity/principal.ts'
import { createTokenHasher } from '../../runtime/core/kernel/identity/token-hasher.ts'
import { notifyPaused } from '../../runtime/core/tasks/upgrade-notice.ts'
import { boundTo } from '../../runtime/core/webhooks/secrets.ts'
import { MIGRATIONS } from '../../runtime/database/compatible.ts'
import type { Database } from '../../runtime/database/database.ts'
import type { EmbeddedDatabase } from '../../runtime/database/embedded.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { createSealer } from '../../runtime/secrets/seal.ts'
import { VERSION } from '../../runtime/version.ts'
import { ownServer } from '../kit/own-server.ts'
import { shows } from '../symptoms.ts'
import { loadKept, SECRET, STATES, TOKEN, withClient } from './kept.ts'

/** Rows in each: connected apps, policies, requests. */
const HELD: Record<string, { apps: number; policies: number; requests: number }> = {
  '0000': { apps: 0, policies: 0, requests: 0 },
  '0007': { apps: 1, policies: 0, requests: 0 },
  '0011': { apps: 2, policies: 2, requests: 0 },
  '0013': { apps: 2, policies: 2, requests: 4 },
  '0017': { apps: 2, policies: 1, requests: 7 },
  '0021': { apps: 1, policies: 1, requests: 19 },
  '0024': { apps: 1, policies: 1, requests: 19 },
  '0036': { apps: 2, policies: 2, requests: 4 },
  '0042': { apps: 2, policies: 2, requests: 4 },
  '0047': { apps: 2, policies: 2, requests: 4 },
  '0053': { apps: 2, policies: 2, requests: 4 },
}

/** Tasks that tell the admins what to enable. */
const PAUSED: Record<string, string[]> = {
  '0000': [],
  '0007': ['SYNCS_PAUSED'],
  '0011': ['ACCESS_POLICIES_PAUSED', 'SYNCS_PAUSED'],
  '0013': ['ACCESS_POLICIES_PAUSED', 'SYNCS_PAUSED'],
  '0017': [],
  '0021': [],
  '0024': [],
  '0036': [],
  '0042': [],
  '0047': [],
  '0053': [],
}

/** What runs without an admin: enabled policies, apps with syncs. */
const ACTING: Record<string, { policies: number; apps: number }> = {
  '0000': { policies: 0, apps: 0 },
  '0007': { policies: 0, apps: 0 },
  '0011': { policies: 0, apps: 0 },
  '0013': { policies: 0, apps: 0 },
  '0017': { policies: 1, apps: 2 },
  '0021': { policies: 1, apps: 1 },
  '0024': { policies: 1, apps: 1 },
  '0036': { policies: 1, apps: 2 },
  '0042': { policies: 1, apps: 2 },
  '0047': { policies: 1, apps: 2 },
  '0053': { policies: 1, apps: 2 },
}

let server: EmbeddedDatabase
beforeAll(async () => {
  server = (await ownServer()).server
})

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
  const messages: string[] = []
  beforeAll(async () => {
    const connection = await loadKept(server.connection, state)
    const fail = (error: Error) => {
      throw error
    }
    opened = await openDatabase(connection, fail, (text) => void messages.push(text))
  })
  afterAll(() => opened?.close())

  test('is migrated to this version, which is logged once', async () => {
    const journal = readFileSync(path.join(MIGRATIONS, 'meta', '_journal.json'), 'utf8')
    const left = JSON.parse(journal).entries.length - Number(state) - 1
    const words = `the database was brought to this version, ${VERSION}, by ${left} migrations`
    expect(messages.filter((text) => text.includes(words))).toHaveLength(left > 0 ? 1 : 0)
  })

  test('keeps its apps, policies, requests and users', async () => {
    expect({
      apps: await count(opened, 'apps where sealed_connection is not null'),
      policies: await count(opened, 'access_policies'),
      requests: await count(opened, 'access_requests'),
    }).toEqual(HELD[state])
    expect(await count(opened, 'users')).toBeGreaterThan(0)
  })

  test('accepts the secret it was created with and refuses any other', async () => {
    if ((await count(opened, 'deployment_secret')) > 0)
      await expect(agreeOnSecret(opened.db, ['x'.repeat(40)])).rejects.toThrow(SecretMismatchError)
    expect(await agreeOnSecret(opened.db, [SECRET])).toBe(true)
    expect(await agreeOnSecret(opened.db, [SECRET])).toBe(true)
  })

  test('accepts its tokens', async () => {
    const principal = await principalOfToken(opened.db, createTokenHasher([SECRET]), TOKEN)
    expect(principal).toMatchObject({ domainId: opened.domainId })
  })

  test('starts no syncs or policies that did not run before, and notifies the admins once', async () => {
    const before = await errorTasks(opened)
    await notifyPaused(opened.db, opened.domainId)
    await notifyPaused(opened.db, opened.domainId)
    expect((await errorTasks(opened)).slice(before.length)).toEqual(PAUSED[state])
    const acting = `access_policies where is_enabled and status = 'PUBLISHED'`
    expect(await count(opened, acting)).toBe(ACTING[state]?.policies)
    const synced = `apps a left join sync_settings s on s.app_id = a.id
      where a.sealed_connection is not null and coalesce(s.every_hours, 24) > 0`
    expect(await count(opened, synced)).toBe(ACTING[state]?.apps)
    expect(await count(opened, 'access_policies where swept_to is not null')).toBe(0)
  })

  test('has credentials that the secret opens', async () => {
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

const applied = (when: number | string) =>
  `insert into migrations.__drizzle_migrations (hash, created_at) values ('kept', ${when})`

describe('a database of a build that no version continues', () => {
  const open = (connection: typeof server.connection) => openDatabase(connection, () => {})
  /** All columns of the database, in one text. */
  const tables = (connection: typeof server.connection) =>
    withClient(connection, async (client) => {
      const { rows } = await client.query(
        `select coalesce(string_agg(table_schema || '.' || table_name || '.' || column_name, ' ' order by 1), '') as all
         from information_schema.columns where table_schema not in ('pg_catalog', 'information_schema')`,
      )
      return rows[0].all
    })

  test('with an unknown migration is refused and not changed', async () => {
    const connection = await loadKept(server.connection, '0007', 'of_a_branch')
    const at = Date.UTC(2026, 10, 21, 18, 7, 5)
    await withClient(connection, (client) =>
      client.query(
        `update migrations.__drizzle_migrations set created_at = ${at} where id = (select max(id) from migrations.__drizzle_migrations)`,
      ),
    )
    const before = await tables(connection)
    await expect(open(connection)).rejects.toThrow(
      /^the database was migrated by a build of Keyway that no version continues \(it has migrations written at 2026-11-21T18:07:05.000Z.*restore a backup.*empty database/,
    )
    shows(
      'a start is refused: “a build of Keyway',
      await open(connection).catch(({ message }: Error) => message),
    )
    expect(await tables(connection)).toBe(before)
  })

  test('that lacks a migration before its newest is refused, not migrated without it', async () => {
    const connection = await loadKept(server.connection, '0007', 'of_a_gap')
    await withClient(connection, (client) =>
      client.query('delete from migrations.__drizzle_migrations where id = 3'),
    )
    await expect(open(connection)).rejects.toThrow(
      /that no version continues \(it lacks those written at/,
    )
  })

  test('with all migrations and an unknown one in between is not reported as newer', async () => {
    const connection = await loadKept(server.connection, '0024', 'of_a_fork')
    await withClient(connection, (client) => client.query(applied(Date.UTC(2026, 10, 21))))
    await expect(open(connection)).rejects.toThrow(/that no version continues/)
  })
})

test('the migrations of this version are in the order in which they were written', async () => {
  const { entries } = JSON.parse(
    readFileSync(path.join(MIGRATIONS, 'meta', '_journal.json'), 'utf8'),
  )
  const whens = entries.map(({ when }: { when: number }) => when)
  expect(whens).toEqual([...new Set(whens)].sort())
})

/**
 * From this migration on, hosts of the previous version keep running on a migrated database: nothing that
 * they use is removed.
 */
const FIRST_ADDITIVE = 25

test('migrations from 0025 on only add, so that hosts of the previous version keep working', () => {
  const taking =
    /\bdrop (table|column|type|view|schema|default)\b|\brename\b|\bset not null\b|\bset data type\b|\balter column \S+ type\b|\badd column [^;,]*\bnot null\b(?![^;,]*\bdefault\b)(?<!\bdefault\b[^;,]*)/i
  const takes = (text: string) => taking.test(text)
  for (const text of [
    'ALTER TABLE "a" DROP COLUMN "b";',
    'ALTER TABLE "a" ALTER COLUMN "b" SET NOT NULL;',
    'ALTER TABLE "a" ADD COLUMN "b" text NOT NULL;',
    'ALTER TABLE "a" RENAME COLUMN "b" TO "c";',
  ])
    expect({ text, takes: takes(text) }).toEqual({ text, takes: true })
  expect(takes(`ALTER TABLE "a" ADD COLUMN "b" boolean DEFAULT false NOT NULL;`)).toBe(false)
  expect(takes(`CREATE TABLE "a" ("b" text NOT NULL);`)).toBe(false)
  const wrong = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql') && Number(name.slice(0, 4)) >= FIRST_ADDITIVE)
    .filter((name) => takes(readFileSync(path.join(MIGRATIONS, name), 'utf8')))
  expect(wrong).toEqual([])
})
