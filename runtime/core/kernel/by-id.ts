/** Rows by ids that come from outside: what is no id names nothing, and must not reach a uuid column. */
import { eq, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { notFound } from '../../contract/errors/problem.ts'
import { isId } from './id.ts'

/** A condition: a column holds an id. No condition where none is given. */
export function idEquals(column: PgColumn, id: string): SQL
export function idEquals(column: PgColumn, id: string | null | undefined): SQL | undefined
export function idEquals(column: PgColumn, id: string | null | undefined): SQL | undefined {
  if (id === null || id === undefined) return undefined
  return isId(id) ? eq(column, id) : sql`false`
}

type Question<T> = PromiseLike<T[]> & { for(strength: 'update'): PromiseLike<T[]> }

/** The row that a question finds for an id, locked where it is to be changed. @throws CoreError not_found */
export async function rowOfId<T>(
  id: string,
  what: string,
  question: Question<T>,
  locked: boolean,
): Promise<T> {
  const [row] = isId(id) ? await (locked ? question.for('update') : question) : []
  if (row === undefined) throw notFound(what)
  return row
}
