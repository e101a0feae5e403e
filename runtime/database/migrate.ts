/**
 * Brings a database to the schema of this version: forward only, one host at a time, safe while a host
 * of the previous version still runs (a migration only adds, or does so in steps over two versions).
 */
import path from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator'
import type { Client } from 'pg'
import { prepareJobs } from './jobs.ts'
import { lockNumber } from './locks.ts'
import { makeSearchIndexes } from './search-indexes.ts'

const MIGRATIONS = path.join(import.meta.dirname, 'migrations')

/** Oldest server that is spoken to. */
const MIN_SERVER_VERSION = 150_000

/**
 * Applies what has not been applied yet. Hosts that start together wait for each other.
 *
 * @throws Error when the server is too old, in words that say what to do.
 */
export async function migrate(client: Client, tell: (text: string) => void): Promise<void> {
  const { rows } = await client.query('show server_version_num')
  const found = Number(rows[0].server_version_num)
  if (found < MIN_SERVER_VERSION) {
    throw new Error(
      `DATABASE_URL: the server is PostgreSQL ${Math.floor(found / 10_000)}; Keyway needs 15 or newer`,
    )
  }
  await client.query('select pg_advisory_lock($1)', [lockNumber('migrating')])
  try {
    await applyMigrations(drizzle(client), {
      migrationsFolder: MIGRATIONS,
      migrationsSchema: 'migrations',
    })
    await makeSearchIndexes(client, tell)
    await prepareJobs(client)
    await client.query(
      "insert into domains (name) select 'default' where not exists (select from domains)",
    )
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lockNumber('migrating')])
  }
}
