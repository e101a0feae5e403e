/**
 * Migrates stored databases of released versions one migration at a time. No existing row is lost or changed,
 * except as CHANGES lists, and the tables end as those of a new database.
 */
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { type Client, type ClientConfig, escapeLiteral } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MIGRATIONS } from '../../runtime/database/compatible.ts'
import { openDatabase } from '../../runtime/database/open.ts'
import { newDatabase, type TestDatabase } from '../kit/databases.ts'
import { loadKept, STATES, withClient } from './kept.ts'
import { shapeOf } from './shape.ts'

/** Intended changes, by migration and table: the columns that it rewrites, or `*` if it removes rows. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  // Policies that granted nothing before start once an admin enables them.
  '0014_access_policies_carried_out access_policies': ['is_enabled'],
  // The links belonged to a token that this migration removes.
  '0019_one_operator_token login_links': ['*'],
}

type Entry = { idx: number; tag: string }
const journal: { entries: Entry[] } = JSON.parse(
  readFileSync(path.join(MIGRATIONS, 'meta', '_journal.json'), 'utf8'),
)

let home: string
let database: TestDatabase
let server: ClientConfig
let shapeOfNew: Record<string, string[]>
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'keyway-steps-'))
  const own = await newDatabase()
  if (own === null) throw new Error('the test run has no database server')
  database = own
  server = database.login
  shapeOfNew = await made(server)
})
afterAll(async () => {
  for (const state of STATES)
    await withClient({ ...server, database: 'postgres' }, (client) =>
      client.query(`drop database if exists ${nameOf(state)} with (force)`),
    )
  await database.drop()
  await rm(home, { recursive: true, force: true })
})

const nameOf = (state: string) => `steps_${state}_${process.pid}`

/** A folder with the migrations up to an entry. */
async function folderTo({ idx, tag }: Entry): Promise<string> {
  const folder = path.join(home, tag)
  if (existsSync(folder)) return folder
  await mkdir(path.join(folder, 'meta'), { recursive: true })
  const entries = journal.entries.filter((one) => one.idx <= idx)
  await writeFile(
    path.join(folder, 'meta', '_journal.json'),
    JSON.stringify({ ...journal, entries }),
  )
  for (const { tag } of entries)
    await symlink(path.join(MIGRATIONS, `${tag}.sql`), path.join(folder, `${tag}.sql`))
  return folder
}

type Row = Record<string, unknown>

/** Every row of every table. */
async function rowsOf(client: Client): Promise<Map<string, Row[]>> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  )
  const all = new Map(tables.map(({ name }): [string, Row[]] => [name, []]))
  // One query for all: there are about eighty tables, most of them empty, and hundreds of steps.
  const each = tables.map(
    ({ name }) => `select ${escapeLiteral(name)} as name, to_jsonb(t) as row from public.${name} t`,
  )
  const { rows } = await client.query<{ name: string; row: Row }>(each.join(' union all '))
  for (const { name, row } of rows) all.get(name)?.push(row)
  return all
}

/** Rows that are missing after a migration, compared by the columns that exist before and after it. */
function lost(tag: string, before: Map<string, Row[]>, after: Map<string, Row[]>): string[] {
  return [...before].flatMap(([table, rows]) => {
    const changed = CHANGES[`${tag} ${table}`] ?? []
    const now = after.get(table)
    if (changed.includes('*')) return []
    if (now === undefined) return rows.length > 0 ? [`${tag}: the table ${table}`] : []
    const columns = Object.keys(rows[0] ?? {})
      .filter((column) => column in (now[0] ?? {}) && !changed.includes(column))
      .sort()
    const textOf = (row: Row) => JSON.stringify(columns.map((column) => row[column]))
    const there = new Map<string, number>()
    for (const text of now.map(textOf)) there.set(text, (there.get(text) ?? 0) + 1)
    return rows.flatMap((row) => {
      const text = textOf(row)
      const left = there.get(text) ?? 0
      there.set(text, left - 1)
      return left > 0 ? [] : [`${tag}: ${table} ${text.slice(0, 300)}`]
    })
  })
}

/** The schema as migrations leave it, without the tables of statistics, which are created daily. */
async function made(connection: ClientConfig): Promise<Record<string, string[]>> {
  const { columns, indexes, constraints, triggers, migrations, domains } = await shapeOf(connection)
  const all = { columns, indexes, constraints, triggers, migrations, domains }
  return Object.fromEntries(
    Object.entries(all).map(([name, lines = []]) => [
      name,
      lines.filter((line) => !/\bqueue_stats_\d{8}/.test(line)),
    ]),
  )
}

test.each(STATES)(
  'a database of migration %s loses no row in later ones and ends with the schema of a new one',
  async (state) => {
    const connection = await loadKept(server, state, nameOf(state))
    await withClient(connection, async (client) => {
      let before = await rowsOf(client)
      const missed: string[] = []
      for (const entry of journal.entries.filter(({ idx }) => idx > Number(state))) {
        await migrate(drizzle(client), {
          migrationsFolder: await folderTo(entry),
          migrationsSchema: 'migrations',
        })
        const after = await rowsOf(client)
        missed.push(...lost(entry.tag, before, after))
        before = after
      }
      expect(missed).toEqual([])
    })
    const opened = await openDatabase(connection, () => {})
    await opened.close()
    expect(await made(connection)).toEqual(shapeOfNew)
  },
)
