/**
 * Walking a whole list, page by page, as of one moment. In a transaction with one snapshot, the ids of a list
 * come from a PostgreSQL cursor. Reading a million rows costs one walk of their order. Pages that each start
 * at an offset would cost its square.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'

type Cursor = { name: string; position: number; total: number }

/** Cursors of a transaction, by the key of their query. */
const walks = new WeakMap<Db, Map<string, Cursor>>()

/**
 * Runs `work` in a read-only transaction in which lists are walked. It never runs twice.
 *
 * @throws any error of `work`
 */
export function inWalk<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T> {
  return db.transaction(
    (tx) => {
      walks.set(tx, new Map())
      return work(tx)
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  )
}

/** Reports whether lists are walked in this transaction. */
export const isWalk = (db: Db): boolean => walks.has(db)

type ListQuery = {
  /** Key, the same for all pages of a list. */
  key: string
  /** Query for the ids in their order, as text. */
  ids: SQL
  total(): Promise<number>
}

/** Reads the next ids of a walked list. Returns null for a page that is not the next one. */
export async function readNextIds(
  tx: Db,
  { key, ids, total }: ListQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ ids: string[]; total: number } | null> {
  const cursors = walks.get(tx)
  if (!cursors) return null
  let cursor = cursors.get(key)
  if (!cursor) {
    if (offset !== 0) return null
    cursor = { name: `walk_${cursors.size}`, position: 0, total: await total() }
    cursors.set(key, cursor)
    await tx.execute(sql`declare ${sql.identifier(cursor.name)} no scroll cursor for ${ids}`)
  }
  if (cursor.position !== offset) return null
  const { rows } = await tx.execute<{ id: string }>(
    sql`fetch forward ${sql.raw(String(limit))} from ${sql.identifier(cursor.name)}`,
  )
  cursor.position += limit
  return { ids: rows.map(({ id }) => id), total: cursor.total }
}
