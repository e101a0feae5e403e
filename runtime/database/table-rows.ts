/**
 * Makes rows of whole tables from PostgreSQL's results. Drizzle itself determines the kind of each field anew
 * for each row, and adds members one by one to an empty object, which V8 keeps as a hash table once it has
 * many: a hundred rows of a wide table took 1.8 MB instead of 0.1, and three times the processor time.
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
  /** Decoders of the columns. Null if the value of PostgreSQL's driver is used unchanged. */
  decode: readonly (Decode | null)[]
  /** Row with all members. Copies of it are objects of one shape. */
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
 * Makes rows of a table from values in the order of its columns. Ignores further values.
 *
 * @param values in the form that drizzle gets from the driver: timestamps as text
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

/** Number of members from which an object would become a hash table. */
const MANY = 12

/** Returns the table if the fields are exactly its columns, in their order, else null. */
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
 * Queries the columns of a table in their order, followed by one more value, by a prepared statement
 * (prepared.ts says when that is appropriate).
 *
 * @returns The rows, and the additional value of each.
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

/** Session of drizzle that makes rows of whole tables as above. */
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

/** Makes a session for building and sending statements on a connection or on any connection of a pool. */
export const sessionOn = (client: Pool | PoolClient) => new TableSession(client, dialect, undefined)

/** Makes a database of drizzle with such sessions. */
export const databaseOn = (client: Pool): Db =>
  Object.assign(new NodePgDatabase(dialect, sessionOn(client), undefined), { $client: client })

/** Makes a database that only builds statements. */
export const unconnected = (): Db => databaseOn(Object.create(null))
