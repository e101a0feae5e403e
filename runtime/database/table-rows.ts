/**
 * Rows of whole tables, made from what PostgreSQL answers. Drizzle itself asks of each field of each row anew of what kind
 * it is, and adds member by member to an empty object, which V8 keeps as a hash table once it has many: a hundred rows of
 * a wide table took 1.8 MB where they take 0.1, and three times the processor time.
 */
import { Column, getTableColumns, type Query, type Table } from 'drizzle-orm'
import { NodePgDatabase, NodePgSession } from 'drizzle-orm/node-postgres'
import {
  PgDialect,
  type PreparedQueryConfig,
  type SelectedFieldsOrdered,
} from 'drizzle-orm/pg-core'
import type { Pool, PoolClient } from 'pg'
import type { Db } from './database.ts'

type NoSchema = Record<string, never>
type Decode = (value: unknown) => unknown

type Layout<T extends Table> = {
  columns: readonly Column[]
  names: readonly string[]
  /** Null where a value is as PostgreSQL's driver gives it. */
  decode: readonly (Decode | null)[]
  /** A row whose members are all there: copies of it are objects of one shape. */
  blank: T['$inferSelect']
}

const layouts = new WeakMap<Table, Layout<Table>>()

function layoutOf(table: Table): Layout<Table> {
  const known = layouts.get(table)
  if (known) return known
  const members = Object.entries(getTableColumns(table))
  const names = members.map(([name]) => name)
  const columns = members.map(([, column]) => column)
  const isPlain = (column: Column) =>
    column.mapFromDriverValue === Column.prototype.mapFromDriverValue
  const layout = {
    ...{ names, columns },
    decode: columns.map((column) =>
      isPlain(column) ? null : column.mapFromDriverValue.bind(column),
    ),
    blank: JSON.parse(`{${names.map((name) => `${JSON.stringify(name)}:null`).join(',')}}`),
  }
  layouts.set(table, layout)
  return layout
}

/**
 * Rows of a table from values in the order of its columns; what follows them is left out.
 *
 * @param values as drizzle has them from the driver: moments as text
 */
function rowsOfTable<T extends Table>(
  table: T,
  values: readonly (readonly unknown[])[],
): T['$inferSelect'][] {
  const { names, decode, blank } = layoutOf(table)
  return values.map((of) => {
    const row = { ...blank }
    for (let at = 0; at < names.length; at += 1) {
      const value = of[at]
      const own = decode[at]
      row[names[at] ?? ''] = value === null || !own ? value : own(value)
    }
    return row
  })
}

/** Members from which an object would become a hash table. */
const MANY = 12

/** The table of which fields are all columns, in their order; null for any other fields. */
function tableOf(fields: SelectedFieldsOrdered): Table | null {
  const first = fields[0]?.field
  if (fields.length < MANY || !(first instanceof Column)) return null
  const { table } = first
  const { columns } = layoutOf(table)
  const isWhole =
    columns.length === fields.length &&
    fields.every(({ field, path }, at) => field === columns[at] && path.length === 1)
  return isWhole ? table : null
}

/**
 * Asks for the columns of a table in their order, and for a value behind them, by a statement that is prepared under a name
 * (prepared.ts says when that is good).
 *
 * @returns The rows, and the value behind each.
 */
export async function askRows<T extends Table>(
  db: Db,
  table: T,
  { name, text, values }: { name: string; text: string; values: unknown[] },
): Promise<{ rows: T['$inferSelect'][]; behind: unknown[] }> {
  type Found = { execute: { rows: T['$inferSelect'][]; behind: unknown[] } }
  const session = db._.session
  const query = { sql: text, params: values }
  return session
    .prepareQuery<Found & PreparedQueryConfig>(query, undefined, name, true, (found) => ({
      rows: rowsOfTable(table, found),
      behind: found.map((of) => of.at(-1)),
    }))
    .execute()
}

type Rest = Parameters<NodePgSession<NoSchema, NoSchema>['prepareQuery']>

/** A session of drizzle that makes rows of whole tables as above. */
class TableSession extends NodePgSession<NoSchema, NoSchema> {
  override prepareQuery<T extends PreparedQueryConfig = PreparedQueryConfig>(
    query: Query,
    fields: SelectedFieldsOrdered | undefined,
    name: string | undefined,
    isInArrays: boolean,
    mapper?: (rows: unknown[][]) => T['execute'],
    metadata?: Rest[5],
    cache?: Rest[6],
  ) {
    const table = mapper || !fields ? null : tableOf(fields)
    const own = table ? (rows: unknown[][]) => rowsOfTable(table, rows) : mapper
    return super.prepareQuery<T>(query, fields, name, isInArrays, own, metadata, cache)
  }
}

const dialect = new PgDialect()

/** What statements are built and sent with, on a connection or on any of a pool. */
export const sessionOn = (client: Pool | PoolClient) => new TableSession(client, dialect, undefined)

/** A database of drizzle whose sessions are these. */
export const databaseOn = (client: Pool): Db =>
  Object.assign(new NodePgDatabase(dialect, sessionOn(client), undefined), { $client: client })

/** One that statements are only built with. */
export const unconnected = (): Db => databaseOn(Object.create(null))
