/**
 * Walking a whole list, page by page, as it is at one moment: inside a transaction that sees one snapshot, the ids of a
 * list come from a cursor of PostgreSQL. A million rows cost what one walk of their order costs; pages that each begin
 * at an offset would cost the square of it.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../database/database.ts'

type Cursor = { name: string; position: number; total: number }

/** Cursors of a transaction, by the text of the question. */
const walks = new WeakMap<Db, Map<string, Cursor>>()

/**
 * Does something in a transaction in which lists are walked. It writes nothing, and is never done twice.
 *
 * @throws what `work` throws
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

/** Whether lists are walked in this transaction. */
export const isWalk = (db: Db): boolean => walks.has(db)

type Question = {
  /** The same for all pages of a list. */
  key: string
  /** Ids in their order, as text. */
  ids: SQL
  total(): Promise<number>
}

/** The next ids of a list that is walked; null for a page that is not the next one. */
export async function walkOn(
  tx: Db,
  { key, ids, total }: Question,
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
