/**
 * Brings a database to the schema of this version: forward only, one host at a time, and safe while a host of
 * the previous version still runs (a migration only adds, or changes in steps over two versions).
 */

import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator'
import type { Client } from 'pg'
import { VERSION } from '../version.ts'
import {
  lackingIn,
  MIGRATIONS,
  noteVersion,
  refuseForeignSchema,
  requireUsableServer,
} from './compatible.ts'
import { one } from './database.ts'
import { prepareJobs } from './jobs.ts'
import { lockNumber } from './locks.ts'
import { makeSearchIndexes } from './search-indexes.ts'

/**
 * Applies missing migrations. Hosts that start together wait for each other.
 *
 * @throws Error if the server is too old, the database is not encoded in UTF-8, it was migrated by a later or
 * unreleased version, or the login lacks a right. The message says what to do.
 */
export async function migrate(client: Client, tell: (text: string) => void): Promise<void> {
  await requireUsableServer(client)
  await mayMake(client)
  await client.query('select pg_advisory_lock($1)', [lockNumber('migrating')])
  try {
    await refuseForeignSchema(client)
    const { count: made, isNew } = await lackingIn(client)
    // If it lacks none, as at most starts, this would still read and digest all files.
    if (made > 0)
      await applyMigrations(drizzle(client), {
        migrationsFolder: MIGRATIONS,
        migrationsSchema: 'migrations',
      })
    await noteVersion(client)
    if (!isNew && made > 0)
      tell(
        `the database was brought to this version, ${VERSION}, by ${made} migrations; older versions are not started with it any more`,
      )
    await makeSearchIndexes(client, tell)
    await prepareJobs(client)
    await client.query(
      "insert into domains (name) select 'default' where not exists (select from domains)",
    )
  } finally {
    await client.query('select pg_advisory_unlock($1)', [lockNumber('migrating')])
  }
}

type Rights = { who: string; place: string; schemas: boolean; tables: boolean }

/**
 * Checks the login's rights. Two schemas are ours in addition to `public`, to which by default only the
 * database's owner may write.
 */
async function mayMake(client: Client): Promise<void> {
  const { rows } = await client.query<Rights>(`
    select quote_ident(current_user) as who, quote_ident(current_database()) as place,
      has_database_privilege(current_database(), 'create') as schemas,
      to_regclass('public.domains') is not null or has_schema_privilege('public', 'create') as tables`)
  const { who, place, schemas, tables } = one(rows)
  const lacking = [
    ...(schemas ? [] : [`grant create on database ${place} to ${who};`]),
    ...(tables ? [] : [`grant create on schema public to ${who};`]),
  ]
  if (lacking.length === 0) return
  throw new Error(
    `DATABASE_URL: the role ${who} may not make Keyway's tables in the database ${place}; an administrator runs there: ${lacking.join(' ')}`,
  )
}
