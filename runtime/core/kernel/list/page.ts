/**
 * The one place where pages of lists are read, in the form of service.md section 8.2 (with `pages`, which
 * clients need). Totals are exact. A page is read in two steps, ids first: a query that an index answers
 * alone does not touch skipped rows.
 */
import { createHash } from 'node:crypto'
import {
  and,
  count,
  getTableColumns,
  getTableName,
  type SQL,
  type SQLChunk,
  sql,
} from 'drizzle-orm'
import { type PgColumn, PgDialect, type PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '../../../database/database.ts'
import { askRows } from '../../../database/table-rows.ts'
import { createRemembered, type Remembered } from './remembered.ts'
import { tablesNamed } from './tables-named.ts'
import { foldChanges, inSnapshot, readVersions, type Versions, versionNow } from './versions.ts'
import { isWalk, readNextIds } from './walk.ts'

export type ListPage<T> = { items: T[]; total: number; page: number; size: number; pages: number }

export type PageQuery = { page: number; size: number }

/** A table whose rows are found by id. */
type Listed = PgTable & { id: PgColumn }

export type List = {
  where: SQL | undefined
  order: SQL[]
  /** Query for the number of rows, as `n`, that reads no rows. */
  total?: SQL | undefined
  /**
   * True if an index holds the matches in this order, so that the first ones are found without the others.
   */
  isIndexed?: boolean
  /**
   * Returns an additional condition that all matches meet and that indexes answer faster. It is called only
   * if the matches are not cached.
   */
  narrowed?: (tx: Db) => Promise<SQL | undefined>
}
type Slice = { limit: number; offset: number }

/**
 * Reads one page of a table in a fixed order. A page past the end is empty, with the true total. An empty
 * list has no pages: clients that read on until `page` equals `pages` stop earlier, at a total of 0.
 *
 * @param toItems converts the rows of the page to their wire form, in their order
 */
export async function selectPage<T extends Listed, I>(
  db: Db,
  table: T,
  list: List,
  { page, size }: PageQuery,
  toItems: (rows: T['$inferSelect'][]) => I[] | Promise<I[]>,
): Promise<ListPage<I>> {
  const slice = { limit: size, offset: (page - 1) * size }
  const { rows, total } = await selectSlice(db, table, list, slice)
  return { items: await toItems(rows), total, page, size, pages: Math.ceil(total / size) }
}

/** Returns one page of a list in memory. */
export function slicePage<T>(all: readonly T[], { page, size }: PageQuery): ListPage<T> {
  const items = all.slice((page - 1) * size, page * size)
  return { items, total: all.length, page, size, pages: Math.ceil(all.length / size) }
}

/** Maximum number of cached ids of a filtered list: a hundred pages of a hundred. */
const REMEMBERED_IDS = 10_000
/** Memory for an id, in bytes. */
const ID_BYTES = 64

type Memory = { ids: Remembered<string[]>; counts: Remembered<number> }
const memories = new WeakMap<Db, Memory>()

function memoryOf(db: Db): Memory {
  const known = memories.get(db) ?? {
    ids: createRemembered<string[]>('list_ids', (found) => ID_BYTES * found.length),
    counts: createRemembered<number>('list_counts', () => 8),
  }
  memories.set(db, known)
  return known
}

/** Reads a slice of a table and the total number of rows, both from one snapshot. */
export async function selectSlice<T extends Listed>(
  db: Db,
  table: T,
  list: List,
  slice: Slice,
): Promise<{ rows: T['$inferSelect'][]; total: number }> {
  const question = questionOf(db, table, list)
  if (isWalk(db)) {
    const begun = slice.offset === 0 ? await narrow(db, list) : list
    return walkSlice(db, table, begun, slice, question.text)
  }
  const memory = memoryOf(db)
  const known = await rememberedSlice(db, table, slice, question, memory)
  if (known) return known
  return inSnapshot(db, async (tx) => {
    const versions = await readVersions(tx, question.tables, question.domainId, () => fold(db))
    const near = await narrow(tx, list)
    const total = await totalOf(tx, table, near, question, versions, memory)
    const ids =
      slice.offset >= total
        ? []
        : await idsOf(tx, table, near, slice, question, versions, memory, total)
    return { rows: await rowsOf(tx, table, ids), total }
  })
}

/** Adds the narrowed condition to a list. */
async function narrow(tx: Db, { narrowed, ...list }: List): Promise<List> {
  return narrowed ? { ...list, where: and(list.where, await narrowed(tx)) } : list
}

/**
 * Reads a slice whose ids and total are cached. Its rows are read together with the current version. Returns
 * null if the version differs from the cached one, or if part of the slice is not cached.
 */
async function rememberedSlice<T extends Listed>(
  db: Db,
  table: T,
  { limit, offset }: Slice,
  { key, orderedKey, tables }: ListQuery,
  memory: Memory,
): Promise<{ rows: T['$inferSelect'][]; total: number } | null> {
  const [ids, count] = [memory.ids.last(orderedKey), memory.counts.last(key)]
  if (!ids || !count || ids.version !== count.version) return null
  const [first, total] = [await ids.answer, await count.answer]
  const wanted = first.slice(offset, offset + limit)
  if (wanted.length < Math.min(limit, total - offset)) return null
  const { rows, version } = await rowsNow(db, table, wanted, tables)
  return version === ids.version && rows.length === wanted.length ? { rows, total } : null
}

/** Reads rows in the order of their ids, and the version of the tables at the same moment. */
async function rowsNow<T extends Listed>(
  db: Db,
  table: T,
  ids: string[],
  tables: string[],
): Promise<{ rows: T['$inferSelect'][]; version: unknown }> {
  if (ids.length === 0) {
    const { rows } = await db.execute<{ version: string | null }>(
      sql`select ${versionNow(sql`${sql.param(tables)}::text[]`)} as version`,
    )
    return { rows: [], version: rows[0]?.version }
  }
  const { name, text } = askedById(table)
  const { rows, behind } = await askRows(db, table, { name, text, values: [ids, tables] })
  return { rows: inOrder(ids, rows), version: behind.find((of) => of !== null) }
}

type Statement = { name: string; text: string }
const statements = new WeakMap<Listed, Statement>()

/**
 * Returns the statement that reads rows of a table by id ($1). The row of the first id also holds the version
 * of the tables ($2).
 */
function askedById(table: Listed): Statement {
  const known = statements.get(table)
  if (known) return known
  const columns = Object.values(getTableColumns(table)).map((column) => sql`${column}`)
  // `serial` is not a type of its own.
  const ids = sql.raw(`$1::${table.id.getSQLType().replace('serial', 'int')}[]`)
  const { sql: text } = dialect.sqlToQuery(sql`
    select ${sql.join(columns, sql`, `)},
      case when ${table.id} = (${ids})[1] then ${versionNow(sql.raw('$2::text[]'))} end
    from ${table} where ${table.id} = any(${ids})`)
  const statement = { name: `rows of ${getTableName(table)}`, text }
  statements.set(table, statement)
  return statement
}

/** Reads rows in the order of their ids. */
async function rowsOf<T extends Listed>(
  tx: Db,
  table: T,
  ids: readonly string[],
): Promise<T['$inferSelect'][]> {
  if (ids.length === 0) return []
  const found = await tx
    .select()
    .from<PgTable>(table)
    .where(sql`${table.id} in ${[...ids]}`)
  return inOrder(ids, found)
}

function inOrder<R extends Record<string, unknown>>(ids: readonly string[], rows: R[]): R[] {
  const place = new Map(ids.map((id, index) => [id, index]))
  const at = (row: R): number => place.get(String(row['id'])) ?? 0
  return rows.sort((a, b) => at(a) - at(b))
}

/** Reads a slice of a list that is walked to its end (walk.ts). */
async function walkSlice<T extends Listed>(
  tx: Db,
  table: T,
  list: List,
  slice: Slice,
  text: string,
): Promise<{ rows: T['$inferSelect'][]; total: number }> {
  const total = () => countOf(tx, table, list)
  const next = await readNextIds(
    tx,
    { key: `${text} ${orderText(list.order)}`, ids: idsInOrder(table, list), total },
    slice,
  )
  const ids = next?.ids ?? (await findIds(tx, table, list, slice))
  return { rows: await rowsOf(tx, table, ids), total: next?.total ?? (await total()) }
}

type ListQuery = {
  /** Text without its parameters. */
  text: string
  key: string
  orderedKey: string
  /** Every table that the query reads. */
  tables: string[]
  /** Domain of a list that is filtered by nothing else, otherwise empty. */
  domainId: string
}

const dialect = new PgDialect()

/** Returns a digest of a text: a filter may list thousands of ids. */
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64')

const orderText = (order: SQL[]): string => dialect.sqlToQuery(sql.join(order, sql`, `)).sql

/** Derives the cache keys and tables of a list from its SQL, so that no list can forget to declare them. */
function questionOf(db: Db, table: Listed, { where, order }: List): ListQuery {
  const filtered = db.select({ id: table.id }).from<PgTable>(table).where(where)
  const { sql: text, params } = filtered.toSQL()
  const key = digestOf(JSON.stringify([text, params]))
  const whole = / where "[^"]+"\."domain_id" = \$1$/.test(text)
  return {
    text,
    key,
    orderedKey: `${key} ${orderText(order)}`,
    tables: tablesNamed(text),
    domainId: whole ? String(params[0]) : '',
  }
}

async function countOf(tx: Db, table: Listed, { where, total }: List): Promise<number> {
  if (total) {
    const { rows } = await tx.execute<{ n: number }>(total)
    return Number(rows[0]?.n ?? 0)
  }
  const [found] = await tx.select({ n: count() }).from<PgTable>(table).where(where)
  return found?.n ?? 0
}

/** Returns the query for the ids of a whole list. */
const idsInOrder = (table: Listed, { where, order }: List): SQL =>
  sql`select ${table.id}::text as id from ${table} ${where ? sql`where ${where}` : sql``}
    order by ${sql.join(order, sql`, `)}`

async function totalOf(
  tx: Db,
  table: Listed,
  list: List,
  { key, orderedKey, tables, domainId }: ListQuery,
  { version, rows, size }: Versions,
  memory: Memory,
): Promise<number> {
  const known = domainId === '' ? null : rows(tables[0] ?? '')
  if (known !== null) return known
  if (version === null) return countOf(tx, table, list)
  return memory.counts.at(key, version, async () => {
    if (list.total) return countOf(tx, table, list)
    const mayBeMany = (size(getTableName(table)) ?? 0) > COUNTED_WITH_IDS
    // Many rows are counted by an index alone. Finding their ids first would cost more than the count itself.
    if (mayBeMany && (await isTakenForMany(tx, table, list))) return countOf(tx, table, list)
    const found = await findFew(tx, table, list)
    if (found === null) return countOf(tx, table, list)
    await memory.ids.at(orderedKey, version, async () => found.ids)
    return found.total
  })
}

/** Maximum number of matches for which one pass both counts and finds the first ids. */
const COUNTED_WITH_IDS = 100_000

/** Reports whether the planner expects more than COUNTED_WITH_IDS matches. */
async function isTakenForMany(tx: Db, table: Listed, { where }: List): Promise<boolean> {
  const { rows } = await tx.execute<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(sql`
    explain (format json) select from ${table} where ${where ?? sql`true`}`)
  const expected = rows[0]?.['QUERY PLAN'][0].Plan['Plan Rows'] ?? 0
  return expected > COUNTED_WITH_IDS
}

/**
 * Counts the rows and reads the first ids in one pass. Returns null if there are too many to sort quickly.
 */
async function findFew(
  tx: Db,
  table: Listed,
  { where, order }: List,
): Promise<{ ids: string[]; total: number } | null> {
  const { name, found } = matching(table, { where, order })
  const { rows } = await tx.execute<{ id: string; total: number }>(sql`
    with ${name} as materialized (${found} limit ${COUNTED_WITH_IDS + 1})
    select ${table.id}::text as id, (select count(*) from ${name})::int as total from ${name}
    order by ${sql.join(order, sql`, `)} limit ${REMEMBERED_IDS}`)
  const total = rows[0]?.total ?? 0
  return total > COUNTED_WITH_IDS ? null : { ids: rows.map(({ id }) => id), total }
}

/**
 * Share of matching rows in a table, per mille, above which the list's order is walked to find the first
 * ones.
 */
const WALKED_PER_MILLE = 100

async function idsOf(
  tx: Db,
  table: Listed,
  list: List,
  { limit, offset }: Slice,
  { orderedKey, domainId }: ListQuery,
  versions: Versions,
  memory: Memory,
  total: number,
): Promise<string[]> {
  // The orders of whole lists are indexes. Walking one is cheap, and stays so while others write.
  const isIndexed = domainId !== '' || list.isIndexed
  const walked = isIndexed || offset + limit > REMEMBERED_IDS
  if (walked || versions.version === null) return findIds(tx, table, list, { limit, offset })
  const first = await memory.ids.at(orderedKey, versions.version, () => {
    const few = total * 1000 < WALKED_PER_MILLE * (versions.size(getTableName(table)) ?? 0)
    return findIds(tx, table, list, { limit: REMEMBERED_IDS, offset: 0 }, few)
  })
  return first.slice(offset, offset + limit)
}

/**
 * Reads the ids of a slice in their order. With `few`, it finds all matches before it sorts them: the planner
 * estimates the number of matches, and would sometimes walk a million rows to find a hundred.
 */
async function findIds(
  tx: Db,
  table: Listed,
  { where, order }: List,
  { limit, offset }: Slice,
  few = false,
): Promise<string[]> {
  const { name, found } = matching(table, { where, order })
  const { rows } = await tx.execute<{ id: string }>(sql`
    ${few ? sql`with ${name} as materialized (${found})` : sql``}
    select ${table.id}::text as id from ${name} ${few || !where ? sql`` : sql`where ${where}`}
    order by ${sql.join(order, sql`, `)} limit ${limit} offset ${offset}`)
  return rows.map(({ id }) => id)
}

/**
 * Returns a query for the columns of all matches that the order needs. The outer query must call its result
 * `name`, the name of the table.
 */
function matching(table: Listed, { where, order }: List): { name: SQLChunk; found: SQL } {
  const columns = [...orderText(order).matchAll(/"([^"]+)"\."([^"]+)"/g)].map(([column]) => column)
  const needed = sql.raw([...new Set([`"${getTableName(table)}"."id"`, ...columns])].join(', '))
  return {
    name: sql.identifier(getTableName(table)),
    found: sql`select ${needed} from ${table} where ${where ?? sql`true`}`,
  }
}

/** Folds the changes in the background. No caller waits for it, and the next reader retries a failure. */
function fold(db: Db): void {
  foldChanges(db).catch(() => undefined)
}
