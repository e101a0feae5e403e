/**
 * Access to rows by id. An id from outside that is no UUID finds nothing, and must not reach a uuid column.
 */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { LockStrength, PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { notFound } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'

/** Returns the condition that a column holds an id, or undefined if no id is given. */
export function idEquals(column: PgColumn, id: string): SQL
export function idEquals(column: PgColumn, id: string | null | undefined): SQL | undefined
export function idEquals(column: PgColumn, id: string | null | undefined): SQL | undefined {
  if (id === null || id === undefined) return undefined
  return isId(id) ? eq(column, id) : sql`false`
}

type Owned = PgTable & { id: PgColumn; domainId: PgColumn }

type Wanted = {
  /** Lock on the row until the transaction ends. */
  lock?: LockStrength | false
  /** Further condition on the row. */
  where?: SQL | undefined
}

/** Reads the row of a domain that an id from outside names. @throws CoreError `not_found` */
export async function rowOfId<T extends Owned>(
  db: Db,
  table: T,
  what: string,
  { domainId }: { domainId: string },
  id: string,
  { lock = false, where }: Wanted = {},
): Promise<T['$inferSelect']> {
  if (!isId(id)) throw notFound(what)
  const question = db
    .select()
    .from<PgTable>(table)
    .where(and(eq(table.id, id), eq(table.domainId, domainId), where))
  const [row] = await (lock ? question.for(lock) : question)
  if (row === undefined) throw notFound(what)
  return row
}

/**
 * Reads a row by an id from the database and locks it until the transaction ends. Returns null if it no
 * longer exists.
 */
export async function lockedRow<T extends PgTable & { id: PgColumn }>(
  tx: Db,
  table: T,
  id: string,
): Promise<T['$inferSelect'] | null> {
  const [row] = await tx.select().from<PgTable>(table).where(eq(table.id, id)).for('update')
  return row ?? null
}

/** Returns the ids of rows. */
export const idsOf = <I>(rows: readonly { id: I }[]): I[] => rows.map(({ id }) => id)

/** Returns the distinct ids, in lower case. */
export const distinctIds = (ids: readonly string[]): string[] => [
  ...new Set(ids.map((id) => id.toLowerCase())),
]

/** Reports whether a text is a UUID. Anything else identifies nothing, and must not reach a uuid column. */
export const isId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
