/** One page of a list, in the form of service.md section 8.2 (with `pages`, which clients need). */

import { count, type SQL } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Db } from '../database/database.ts'

export type Page<T> = { items: T[]; total: number; page: number; size: number; pages: number }

export type PageQuery = { page: number; size: number }

/** Puts a page around what was found; a page past the end is empty, with the true total. */
function pageOf<T>(items: T[], total: number, { page, size }: PageQuery): Page<T> {
  return { items, total, page, size, pages: Math.ceil(total / size) }
}

/** One page of a list that is in memory. */
export function slicePage<T>(all: readonly T[], query: PageQuery): Page<T> {
  const start = (query.page - 1) * query.size
  return pageOf(all.slice(start, start + query.size), all.length, query)
}

/** Reads one page of a table in a fixed order, each row as `toItem` shows it, with the total. */
export async function selectPage<T extends PgTable, I>(
  db: Db,
  table: T,
  { where, order }: { where: SQL | undefined; order: SQL[] },
  query: PageQuery,
  toItem: (row: T['$inferSelect']) => I,
): Promise<Page<I>> {
  const [found] = await db
    .select({ n: count() })
    .from(table as PgTable)
    .where(where)
  const rows = await db
    .select()
    .from(table as PgTable)
    .where(where)
    .orderBy(...order)
    .limit(query.size)
    .offset((query.page - 1) * query.size)
  return pageOf(rows.map(toItem), found?.n ?? 0, query)
}

/** An id as the database knows ids. Anything else names nothing, and must not reach a uuid column. */
export const isId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** A pattern that finds a part of a text, whatever signs are in it. */
export const containing = (text: string): string =>
  `%${text.replace(/[\\%_]/g, (sign) => `\\${sign}`)}%`
