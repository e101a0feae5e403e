/**
 * Checks whether this version can serve a database. If not, it is refused with a message that says what to
 * do.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Client } from 'pg'
import { VERSION } from '../version.ts'

/** Folder of the migrations. */
export const MIGRATIONS: string = path.join(import.meta.dirname, 'migrations')

/** Version of the oldest supported server. */
const MIN_SERVER_VERSION = 150_000

/**
 * Refuses servers that Keyway cannot use.
 * @throws Error if the server is too old, or if the database cannot hold every text
 */
export async function requireUsableServer(client: Client): Promise<void> {
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

/**
 * Returns the creation times of this version's migrations in milliseconds, oldest first. They identify the
 * migrations.
 */
async function ownMigrations(): Promise<number[]> {
  const journal = await readFile(path.join(MIGRATIONS, 'meta', '_journal.json'), 'utf8')
  const { entries }: { entries: { when: number }[] } = JSON.parse(journal)
  return entries.map(({ when }) => when)
}

/** Relation of a database's migrations to those of this version. */
type Lineage =
  | { kind: 'ours' }
  /** All migrations of this version, and later ones: a newer version migrated the database. */
  | { kind: 'newer'; migratedTo: number; unknown: number }
  /** A combination of migrations that no released version has. */
  | { kind: 'stray'; unknown: number[]; lacking: number[] }

/** Compares by the creation times of migrations; `own` is oldest first. */
function lineageOf(own: readonly number[], applied: readonly number[]): Lineage {
  const newest = own.at(-1) ?? 0
  const latest = Math.max(...applied)
  const unknown = applied.filter((when) => !own.includes(when))
  const lacking = own.filter((when) => when < latest && !applied.includes(when))
  if (unknown.length === 0 && lacking.length === 0) return { kind: 'ours' }
  if (lacking.length === 0 && unknown.every((when) => when > newest))
    return { kind: 'newer', migratedTo: latest, unknown: unknown.length }
  return { kind: 'stray', unknown, lacking }
}

/**
 * Refuses a database that was migrated by a later version, whose schema this version does not know, or by an
 * unreleased build, which has no upgrade path. Call it while no migration runs; hosts that already serve are
 * not affected.
 *
 * @throws Error
 */
export async function refuseForeignSchema(client: Client): Promise<void> {
  if (!(await isThere(client, 'migrations.__drizzle_migrations'))) return
  const { rows } = await client.query<{ when: string }>(
    'select created_at as when from migrations.__drizzle_migrations order by created_at',
  )
  const lineage = lineageOf(
    await ownMigrations(),
    rows.map(({ when }) => Number(when)),
  )
  if (lineage.kind === 'newer') throw new Error(await newerWords(client, lineage))
  if (lineage.kind === 'stray') throw new Error(strayWords(lineage))
}

/** Counts the migrations that a database lacks. It is new if it has none. */
export async function lackingIn(client: Client): Promise<{ count: number; isNew: boolean }> {
  const own = await ownMigrations()
  if (!(await isThere(client, 'migrations.__drizzle_migrations')))
    return { count: own.length, isNew: true }
  const { rows } = await client.query<{ latest: string | null }>(
    'select max(created_at) as latest from migrations.__drizzle_migrations',
  )
  const latest = rows[0]?.latest ?? null
  return { count: own.filter((when) => when > Number(latest)).length, isNew: latest === null }
}

async function newerWords(
  client: Client,
  { migratedTo, unknown }: Extract<Lineage, { kind: 'newer' }>,
): Promise<string> {
  const noted = (await isThere(client, 'public.deployment_versions'))
    ? await client.query('select version from deployment_versions where migrated_to = $1', [
        migratedTo,
      ])
    : null
  const version: string | undefined = noted?.rows[0]?.version
  const whose = version === undefined ? 'a version of Keyway that' : `Keyway ${version}, which`
  return `the database is of ${whose} is newer than this version, ${VERSION} (${unknown} migrations that this one does not know): start that version or a later one, or restore the backup that was made before the upgrade`
}

function strayWords({ unknown, lacking }: Extract<Lineage, { kind: 'stray' }>): string {
  const written = (all: number[]) => all.map((when) => new Date(when).toISOString()).join(', ')
  const how = [
    ...(unknown.length > 0 ? [`it has migrations written at ${written(unknown)}`] : []),
    ...(lacking.length > 0 ? [`it lacks those written at ${written(lacking)}`] : []),
  ]
  return `the database was migrated by a build of Keyway that no version continues (${how.join('; ')}): its tables are not those of any version, and nothing was changed in it. Start the build that made it, or restore a backup that a released version made, or begin with an empty database (another DATABASE_URL; for the embedded one \`keyway start --new-database\` after moving this one away) and import people and connect apps again`
}

/** Records which version brought the database to its current migration. */
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
