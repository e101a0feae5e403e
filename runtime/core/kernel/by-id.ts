/** Rows by their ids. An id from outside that is no uuid finds nothing, and must not reach a uuid column. */
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { LockStrength, PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { notFound } from '../../contract/errors/problem.ts'
import type { Db } from '../../database/database.ts'

/** A condition: a column holds an id. No condition where none is given. */
export function idEquals(column: PgColumn, id: string): SQL
export function idEquals(column: PgColumn, id: string | null | undefined): SQL | undefined
export function idEquals(column: PgColumn, id: string | null | undefined): SQL | undefined {
  if (id === null || id === undefined) return undefined
  return isId(id) ? eq(column, id) : sql`false`
}

type Owned = PgTable & { id: PgColumn; domainId: PgColumn }

type Wanted = {
  /** How it is locked until the transaction ends. */
  lock?: LockStrength | false
  /** What else it has to be. */
  where?: SQL | undefined
}

/** The row of a domain that an id from outside names. @throws CoreError not_found */
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

/** The row of an id that the database gave, locked until the transaction ends; null once it is gone. */
export async function lockedRow<T extends PgTable & { id: PgColumn }>(
  tx: Db,
  table: T,
  id: string,
): Promise<T['$inferSelect'] | null> {
  const [row] = await tx.select().from<PgTable>(table).where(eq(table.id, id)).for('update')
  return row ?? null
}

/** Distinct ids, in lower case. */
export const distinctIds = (ids: readonly string[]): string[] => [
  ...new Set(ids.map((id) => id.toLowerCase())),
]

/** An id as the database knows ids. Anything else names nothing, and must not reach a uuid column. */
export const isId = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
