/** Whether a database is one that this version can serve: else it is refused, in words that say what to do. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Client } from 'pg'
import { VERSION } from '../version.ts'

/** Where the migrations lie. */
export const MIGRATIONS: string = path.join(import.meta.dirname, 'migrations')

/** Oldest server that is spoken to. */
const MIN_SERVER_VERSION = 150_000

/** @throws Error for a server that is too old, and a database that cannot hold every text. */
export async function fits(client: Client): Promise<void> {
  const { rows } = await client.query(`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      current_database() as name`)
  const [{ version, encoding, name }] = rows
  if (version < MIN_SERVER_VERSION) {
    throw new Error(
      `DATABASE_URL: the server is PostgreSQL ${Math.floor(version / 10_000)}; Keyway needs 15 or newer`,
    )
  }
  if (encoding !== 'UTF8') {
    const right = client.escapeIdentifier(`${name}_utf8`)
    throw new Error(
      `DATABASE_URL: the database ${client.escapeIdentifier(name)} is encoded in ${encoding}, which does not hold every name; Keyway needs UTF8. An administrator runs \`create database ${right} encoding 'UTF8' locale 'C' template template0\`, with Keyway's role as its owner; name that one in DATABASE_URL. What is in the other is moved with pg_dump and psql`,
    )
  }
}

/** When each migration of this version was written, in milliseconds, oldest first: what tells them apart. */
async function ownMigrations(): Promise<number[]> {
  const journal = await readFile(path.join(MIGRATIONS, 'meta', '_journal.json'), 'utf8')
  return (JSON.parse(journal).entries as { when: number }[]).map(({ when }) => when)
}

/**
 * Refuses a database that a later version has migrated: what that keeps, this version does not know. Asked
 * while nobody migrates; a host that serves already goes on.
 *
 * @throws Error
 */
export async function refuseNewer(client: Client): Promise<void> {
  if (!(await isThere(client, 'migrations.__drizzle_migrations'))) return
  const { rows } = await client.query<{ when: string }>(
    `select created_at as when from migrations.__drizzle_migrations
     where not created_at = any ($1::bigint[]) order by created_at desc`,
    [await ownMigrations()],
  )
  const [newest] = rows
  if (!newest) return
  const noted = (await isThere(client, 'public.deployment_versions'))
    ? await client.query('select version from deployment_versions where migrated_to = $1', [
        newest.when,
      ])
    : null
  const version: string | undefined = noted?.rows[0]?.version
  const whose = version === undefined ? 'a version of Keyway that' : `Keyway ${version}, which`
  throw new Error(
    `the database is of ${whose} is newer than this version, ${VERSION} (${rows.length} migrations that this one does not know): start that version or a later one, or restore the backup that was made before the upgrade`,
  )
}

/** Notes which version brought the database to where it is. */
export async function noteVersion(client: Client): Promise<void> {
  await client.query(
    'insert into deployment_versions (migrated_to, version) values ($1, $2) on conflict do nothing',
    [(await ownMigrations()).at(-1), VERSION],
  )
}

async function isThere(client: Client, table: string): Promise<boolean> {
  const { rows } = await client.query('select to_regclass($1) is not null as there', [table])
  return rows[0].there
}
