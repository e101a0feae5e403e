/**
 * Databases of released versions, stored as dumps (pg_dump --inserts) and named after their last migration.
 * KEYWAY_SECRET was SECRET, KEYWAY_ADMIN_TOKEN was TOKEN. A JSON file next to a dump lists what else was
 * known at that time. Timestamps are shifted, so that tests see them as if dumped just now. The dumps from
 * 0036 on are of `keyway start --sample` and have a row in every table: from the API and from samples of the
 * tests at that time, the rest from inserts of arbitrary valid values.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Client, type ClientConfig } from 'pg'
import { bound } from '../../runtime/core/catalogue/apps/connections.ts'
import {
  KEY_ID_BYTES,
  KEY_ID_BYTES_BEFORE,
  sealKeyIdBefore,
} from '../../runtime/secrets/key-derivation.ts'
import { createSealer } from '../../runtime/secrets/seal.ts'

export const SECRET: string = 'upgrade-fixtures-'.repeat(3)
export const TOKEN: string = `lsk_${'upgrade'.repeat(8)}`
const FOLDER = path.join(import.meta.dirname, '..', 'fixtures', 'upgrades')
/** The last migration of each dump. */
export const STATES: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql.gz'))
  .map((name) => name.replace('.sql.gz', ''))

/** What was known when a database was dumped: requests by their status, and what the system contained. */
export type Beside = {
  requests: Record<string, string>
  /** Secret of a session on the settings pages. */
  session: string
  /** A person's own API token. */
  token: string
  accounts: { id: string; email: string; status: string }[]
  held: string[]
}

export const besideOf = (state: string): Beside =>
  JSON.parse(readFileSync(path.join(FOLDER, `${state}.json`), 'utf8'))

/** Creates a database from a dump on a server, and returns the connection to it. */
export async function loadKept(
  server: ClientConfig,
  state: string,
  name = `of_${state}`,
): Promise<ClientConfig> {
  await withClient(server, (client) => client.query(`create database ${name}`))
  const connection = { ...server, database: name }
  await withClient(connection, async (client) => {
    // The dump creates its own schemas, and sets a search path for the session.
    await client.query(
      gunzipSync(readFileSync(path.join(FOLDER, `${state}.sql.gz`))).toString('utf8'),
    )
    await client.query(SHIFT)
  })
  return connection
}

/** Shifts all timestamps by the age of the dump, except in append-only tables such as the log. */
const SHIFT = `do $$
declare
  place record;
  passed interval := (select now() - max(updated_at) from public.users);
begin
  set session_replication_role = replica;
  for place in
    select c.oid::regclass as of, quote_ident(a.attname) as name from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('public', 'jobs')
    join pg_attribute a on a.attrelid = c.oid and a.atttypid = 'timestamptz'::regtype and not a.attisdropped
    where c.relkind = 'r' and a.attgenerated = ''
      and not exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgenabled = 'A')
  loop
    execute format('update %s set %s = %s + $1 where %s > ''2000-01-01''', place.of, place.name, place.name, place.name)
      using passed;
  end loop;
  set session_replication_role = origin;
end $$`

/** Points the connected apps of a stored database to another system; their credentials keep their format. */
export async function moveSystems(
  connection: ClientConfig,
  addressOf: (was: string) => string,
): Promise<void> {
  const vault = createSealer([SECRET], 'connection')
  const before = sealKeyIdBefore(SECRET, 'connection')
  await withClient(connection, async (client) => {
    if (!(await isThere(client, 'public.apps'))) return
    const { rows } = await client.query(
      `select id, domain_id as "domainId", sealed_connection as sealed from public.apps
       where sealed_connection is not null`,
    )
    for (const row of rows) {
      const opened = JSON.parse(vault.open(row.sealed, bound(row)))
      opened.settings.base_url = addressOf(opened.settings.base_url)
      const sealed = vault.seal(JSON.stringify(opened), bound(row))
      const isOld = row.sealed.subarray(0, KEY_ID_BYTES_BEFORE).equals(before)
      const kept = isOld ? Buffer.concat([before, sealed.subarray(KEY_ID_BYTES)]) : sealed
      await client.query('update public.apps set sealed_connection = $2 where id = $1', [
        row.id,
        kept,
      ])
    }
  })
}

async function isThere(client: Client, table: string): Promise<boolean> {
  const { rows } = await client.query('select to_regclass($1) is not null as there', [table])
  return rows[0].there
}

/** Opens a connection to a database for one callback. */
export async function withClient<T>(
  connection: ClientConfig,
  ask: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client(connection)
  await client.connect()
  try {
    return await ask(client)
  } finally {
    await client.end()
  }
}
